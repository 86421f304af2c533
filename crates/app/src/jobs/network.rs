//! Records the traffic of sessions, and closes the connections of idle ones.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::{Job, JobError, JobReport};
use crate::network::NetworkAccess;

#[derive(Debug)]
pub(crate) struct KeepNetwork {
    pub(crate) network: NetworkAccess,
}

#[async_trait]
impl Job for KeepNetwork {
    fn name(&self) -> &'static str {
        "network"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    fn least_pause(&self) -> Duration {
        Duration::from_millis(200)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(self.network.nudge())
    }

    fn runs_at_shutdown(&self) -> bool {
        true
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        let next_in = self.network.keep().await?;
        Ok(JobReport { next_in })
    }
}
