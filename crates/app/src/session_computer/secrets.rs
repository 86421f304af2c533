//! The secrets that were typed in a session: they go in by name, and no result contains them.

use std::sync::{PoisonError, RwLock};

use deskhand_core::{
    id::SessionId,
    sandbox::{
        Actor, Call, ComputerError, ComputerExt, CoverSecrets, OperationReply, Sandbox,
        SecretTyped, TypeSecret,
    },
    secret::Secret,
    vault::{FillSecret, SecretName},
};
use deskhand_store::StoreError;

use crate::{redactor::Redactor, vault::Vault};

/// The secrets of one session.
#[derive(Debug)]
pub(super) struct TypedSecrets {
    session: SessionId,
    vault: Vault,
    /// The values that must not come out.
    typed: RwLock<Vec<(SecretName, Secret)>>,
}

impl TypedSecrets {
    /// Loads the secrets that were typed in earlier sandboxes of the session.
    pub(super) async fn load(session: SessionId, vault: Vault) -> Result<Self, StoreError> {
        let typed = vault.sent(session).await?;
        Ok(Self {
            session,
            vault,
            typed: RwLock::new(typed),
        })
    }

    /// Makes a new sandbox cover them in pictures: the browser may show again what was typed before.
    pub(super) async fn cover_in(&self, sandbox: &dyn Sandbox) -> Result<(), ComputerError> {
        let values: Vec<Secret> = self
            .typed()
            .iter()
            .map(|(_, value)| value.clone())
            .collect();
        if !values.is_empty() {
            let cover = CoverSecrets { values };
            sandbox.perform(Call::by(Actor::Agent), cover).await?;
        }
        Ok(())
    }

    /// Types a secret into the focused field.
    pub(super) async fn fill(
        &self,
        sandbox: &dyn Sandbox,
        call: Call,
        fill: FillSecret,
    ) -> Result<SecretTyped, ComputerError> {
        let FillSecret { name } = fill;
        let found = self.vault.find(self.session, &name).await;
        let (secret, filling) = found.map_err(|error| self.not_typed(&error))?;
        // This comes before it is sent: from then on it is redacted, whatever happens.
        let noted = self.vault.note_sent(self.session, secret).await;
        noted.map_err(|error| self.not_typed(&error))?;
        self.remember(&name, &filling.value);
        let reply = sandbox.perform(call, TypeSecret { filling }).await;
        if matches!(reply, Ok(_) | Err(ComputerError::FateUnknown))
            && let Err(error) = self.vault.note_use(self.session, secret).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::error!(session.id = %self.session, error, "could not store the use of a secret");
        }
        reply
    }

    /// Replaces the values in all texts of an answer.
    pub(super) fn redact<R: OperationReply>(
        &self,
        answer: Result<R, ComputerError>,
    ) -> Result<R, ComputerError> {
        let Some(redactor) = self.redactor() else {
            return answer;
        };
        match answer {
            Ok(mut reply) => {
                reply.for_each_text(&mut |text| *text = redactor.clean(text));
                Ok(reply)
            }
            Err(ComputerError::Failed(problem)) => {
                Err(ComputerError::Failed(redactor.clean(&problem)))
            }
            Err(
                error @ (ComputerError::Refused { .. }
                | ComputerError::Cancelled
                | ComputerError::FateUnknown
                | ComputerError::Gone
                | ComputerError::Ended(_)),
            ) => Err(error),
        }
    }

    /// Returns a redactor for texts, or `None` if no secret was typed.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        let typed = self.typed();
        (!typed.is_empty()).then(|| Redactor::new(&typed))
    }

    fn remember(&self, name: &SecretName, value: &Secret) {
        let mut typed = self.typed.write().unwrap_or_else(PoisonError::into_inner);
        if !typed.iter().any(|(_, known)| known == value) {
            typed.push((name.clone(), value.clone()));
        }
    }

    fn typed(&self) -> std::sync::RwLockReadGuard<'_, Vec<(SecretName, Secret)>> {
        self.typed.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_typed(&self, error: &(dyn std::error::Error + 'static)) -> ComputerError {
        tracing::info!(session.id = %self.session, error, "could not type a secret");
        ComputerError::Failed(format!("Nothing was typed: {error}."))
    }
}
