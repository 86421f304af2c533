//! Removes the files of ended sessions, if that failed before.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deskhand_core::sandbox::Lifecycle;
use deskhand_store::Store;

use super::{Job, JobError, JobReport};

#[derive(Debug)]
pub(crate) struct RemoveLeftovers {
    pub(crate) sandboxes: Arc<dyn Lifecycle>,
    pub(crate) store: Store,
}

#[async_trait]
impl Job for RemoveLeftovers {
    fn name(&self) -> &'static str {
        "leftovers"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(24)
    }

    /// Returns a long pause, so that a failing disk is not used every second.
    fn least_pause(&self) -> Duration {
        Duration::from_mins(10)
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        let with_files = self.sandboxes.sessions_with_files().await?;
        let ended = self.store.ended_among(with_files).await?;
        let mut failed = None;
        for session in ended {
            if let Err(error) = self.sandboxes.remove_files(session).await {
                tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not \
                                                                                                 remove the \
                                                                                                 files of an \
                                                                                                 ended session");
                failed = Some(error);
            }
        }
        match failed {
            None => Ok(JobReport::default()),
            Some(error) => Err(error.into()),
        }
    }
}
