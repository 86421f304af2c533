//! Creates the stand-ins of a starting sandbox.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    id::SessionId,
    network::{policy::NetworkMode, stand_in::StandIns},
    sandbox::StartSandboxError,
    vault::StoredSecret,
};
use deskhand_store::StoreError;
use rand::Rng;

use super::{ComputerStarter, SandboxSecrets, secrets::TypedSecrets};

impl ComputerStarter {
    /// Returns the mode that counts for a session whose policy has this one.
    pub(crate) fn network_mode(&self, mode: NetworkMode) -> NetworkMode {
        mode.min(self.ceiling)
    }

    /// Returns the secrets for HTTP APIs that programs of a session can use: those of its owner, or none if its network
    /// is closed.
    pub(crate) async fn usable_secrets(
        &self,
        session: SessionId,
    ) -> Result<Vec<StoredSecret>, StoreError> {
        let rules = self.store.network_rules(session).await?;
        let mode = rules.map_or(NetworkMode::Closed, |(policy, _)| policy.mode);
        if self.network_mode(mode) == NetworkMode::Closed {
            return Ok(Vec::new());
        }
        self.vault.http_secrets(session).await
    }

    /// Creates stand-ins and certificates for a sandbox with this maximum lifetime.
    pub(super) async fn http_secrets(
        &self,
        session: SessionId,
        typed: &Arc<TypedSecrets>,
        life: Duration,
    ) -> Result<Option<Arc<SandboxSecrets>>, StartSandboxError> {
        let usable = self.usable_secrets(session).await.map_err(|error| {
            StartSandboxError::Failed(format!("could not read the owner's secrets: {error}"))
        })?;
        let usable = usable
            .into_iter()
            .filter_map(|secret| Some((secret.name, secret.origins, secret.http?)));
        let mut stand_ins = StandIns::new(rand::rng().random(), usable);
        if stand_ins.all().is_empty() {
            return Ok(None);
        }
        let hosts: Vec<_> = stand_ins.encrypted_hosts().into_iter().collect();
        if !hosts.is_empty() {
            let now = self.clock.now();
            let issued = self.certificates.issue(&hosts, now, now + life);
            let issued = issued.map_err(|error| StartSandboxError::Failed(error.to_string()))?;
            stand_ins.certificates = Some(issued);
        }
        let secrets = SandboxSecrets::new(stand_ins, Arc::clone(typed));
        Ok(Some(Arc::new(secrets)))
    }
}
