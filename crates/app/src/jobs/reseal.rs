//! Seals secrets again that have an older key or an older kind of seal.

use std::time::Duration;

use async_trait::async_trait;

use super::{Job, JobError, JobReport};
use crate::vault::Vault;

#[derive(Debug)]
pub(crate) struct ResealSecrets {
    pub(crate) vault: Vault,
}

#[async_trait]
impl Job for ResealSecrets {
    fn name(&self) -> &'static str {
        "secrets"
    }

    /// Returns the time after which a new key in the key file is used for all secrets.
    fn period(&self) -> Duration {
        Duration::from_secs(60)
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        self.vault.reseal().await?;
        Ok(JobReport::default())
    }
}
