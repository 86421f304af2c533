//! Tells clients of the bus which sessions have changed.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deskhand_store::Store;
use tokio::sync::Notify;

use super::{Job, JobError, JobReport};
use crate::feed::bus::{self, Bus};

#[derive(Debug)]
pub(crate) struct TellNews {
    pub(crate) bus: Arc<Bus>,
    pub(crate) store: Store,
}

#[async_trait]
impl Job for TellNews {
    fn name(&self) -> &'static str {
        "news"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(self.bus.nudge())
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        bus::spread(&self.bus, &self.store).await?;
        Ok(JobReport::default())
    }
}
