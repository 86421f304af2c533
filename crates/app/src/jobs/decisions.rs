//! Settles decisions that no one answered in time.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::{Job, JobError, JobReport};
use crate::decisions::Decisions;

#[derive(Debug)]
pub(crate) struct SettleExpired {
    pub(crate) decisions: Decisions,
}

#[async_trait]
impl Job for SettleExpired {
    fn name(&self) -> &'static str {
        "decisions"
    }

    /// Returns a short period, since the machine's clock may be changed.
    fn period(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(self.decisions.nudge())
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        Ok(JobReport {
            next_in: self.decisions.settle_expired().await?,
        })
    }
}
