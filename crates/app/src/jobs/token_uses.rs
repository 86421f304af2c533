//! Stores when tokens and browsers were last used.

use std::time::Duration;

use async_trait::async_trait;

use super::{Job, JobError, JobReport};
use crate::people::tokens::CredentialUses;

#[derive(Debug)]
pub(crate) struct WriteTokenUses {
    pub(crate) uses: CredentialUses,
}

#[async_trait]
impl Job for WriteTokenUses {
    fn name(&self) -> &'static str {
        "token_uses"
    }

    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }

    fn runs_at_shutdown(&self) -> bool {
        true
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        self.uses.write().await?;
        Ok(JobReport::default())
    }
}
