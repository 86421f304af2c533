//! Whether the parts that everything needs are well.

use std::{error::Error, future::Future, time::Duration};

use crate::Sessions;

/// How long a part may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which parts are well. Why one is not goes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    pub database: bool,
    pub pictures: bool,
    pub sandboxes: bool,
}

impl Sessions {
    /// Tries each part.
    pub async fn health(&self) -> Health {
        let shared = &self.shared;
        let (database, pictures, sandboxes) = tokio::join!(
            is_well("database", shared.store.check()),
            is_well("pictures", shared.blobs.check()),
            is_well("sandboxes", shared.sandboxes.check()),
        );
        Health {
            database,
            pictures,
            sandboxes,
        }
    }
}

async fn is_well<E: Error + 'static>(
    part: &str,
    check: impl Future<Output = Result<(), E>>,
) -> bool {
    match tokio::time::timeout(PATIENCE, check).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(part, error = &error as &dyn Error, "a part is not well");
            false
        }
        Err(_) => {
            tracing::warn!(part, "a part does not answer");
            false
        }
    }
}
