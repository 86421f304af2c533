//! The health of the parts that everything needs, of the jobs, and the server's metrics.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use deskhand_core::{blob::Blobs, sandbox::Lifecycle};
use deskhand_store::Store;

use crate::jobs::{JobStatus, Jobs};

/// The timeout of one check.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Checks on the server itself. Clones share them.
#[derive(Debug, Clone)]
pub struct HealthChecks {
    pub(crate) store: Store,
    blobs: Arc<dyn Blobs>,
    pub(crate) sandboxes: Arc<dyn Lifecycle>,
    jobs: Jobs,
}

/// The health of each part. The log has the reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    pub database: bool,
    pub pictures: bool,
    pub sandboxes: bool,
}

impl HealthChecks {
    pub(crate) fn new(
        store: Store,
        blobs: Arc<dyn Blobs>,
        sandboxes: Arc<dyn Lifecycle>,
        jobs: Jobs,
    ) -> Self {
        Self {
            store,
            blobs,
            sandboxes,
            jobs,
        }
    }

    /// Checks each part.
    pub async fn check(&self) -> Health {
        let (database, pictures, sandboxes) = tokio::join!(
            is_well("database", self.store.check()),
            is_well("pictures", self.blobs.check()),
            is_well("sandboxes", self.sandboxes.check()),
        );
        Health {
            database,
            pictures,
            sandboxes,
        }
    }

    /// Returns the last result of every job.
    pub fn jobs(&self) -> Vec<JobStatus> {
        self.jobs.statuses()
    }
}

async fn is_well<E: Error + 'static>(
    part: &str,
    check: impl Future<Output = Result<(), E>>,
) -> bool {
    match tokio::time::timeout(TIMEOUT, check).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(part, error = &error as &dyn Error, "a health check failed");
            false
        }
        Err(_) => {
            tracing::warn!(part, "a health check timed out");
            false
        }
    }
}
