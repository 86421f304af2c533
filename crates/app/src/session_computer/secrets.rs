//! The secrets that were typed in a session: they go in by name, and no result contains them.

use std::sync::{PoisonError, RwLock};

use deskhand_core::{
    id::SessionId,
    sandbox::{
        Actor, Call, ComputerError, ComputerExt, CoverSecrets, FindField, OperationReply, Sandbox,
        SecretTyped, TypeSecret,
    },
    secret::Secret,
    vault::{FieldPlace, FillSecret, Filling, Origin, SecretName, SecretVariable},
};
use deskhand_store::StoreError;

use crate::{
    redactor::Redactor,
    vault::{FoundSecret, Vault},
};

/// The longest title of a page that people are shown, in characters.
const LONGEST_TITLE: usize = 80;

/// The reason why a secret may not be typed into a field. The texts are for the model.
#[derive(Debug, thiserror::Error)]
enum PlaceError {
    #[error(
        "the field is on a page of {found}, and this secret may only be typed on {}",
        listed(.allowed)
    )]
    Origin { found: String, allowed: Vec<Origin> },
    #[error("the focus moved in the meantime")]
    Moved,
    #[error(
        "this secret is for requests to HTTP APIs and is never typed; programs find its stand-in in the environment \
         variable {0}"
    )]
    ForRequests(SecretVariable),
}

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

    /// Finds the focused field, if this secret may be typed there.
    pub(super) async fn find_field(
        &self,
        sandbox: &dyn Sandbox,
        call: Call,
        name: &SecretName,
    ) -> Result<FieldPlace, ComputerError> {
        let found = self.find(name).await?;
        let place = sandbox.perform(call, FindField).await?;
        check_origin(&place, &found.origins).map_err(|error| self.not_typed(&error))?;
        Ok(FieldPlace {
            title: plain(&place.title),
            ..place
        })
    }

    /// Types a secret into the focused field.
    ///
    /// The computer tells the origin of the field, and only then gets the value.
    pub(super) async fn fill(
        &self,
        sandbox: &dyn Sandbox,
        call: Call,
        fill: FillSecret,
    ) -> Result<SecretTyped, ComputerError> {
        let FillSecret { name, place: shown } = fill;
        let found = self.find(&name).await?;
        let place = sandbox.perform(Call::by(call.actor), FindField).await?;
        let origin =
            check_origin(&place, &found.origins).map_err(|error| self.not_typed(&error))?;
        if shown.is_some_and(|shown| shown.origin != place.origin) {
            return Err(self.not_typed(&PlaceError::Moved));
        }
        // This comes before it is sent: from then on it is redacted, whatever happens.
        let noted = self.vault.note_sent(self.session, found.id).await;
        noted.map_err(|error| self.not_typed(&error))?;
        self.remember(&name, &found.value);
        let filling = Filling {
            value: found.value,
            frame: place.frame,
            origin,
        };
        let reply = sandbox.perform(call, TypeSecret { filling }).await;
        if matches!(reply, Ok(_) | Err(ComputerError::FateUnknown))
            && let Err(error) = self.vault.note_use(self.session, found.id).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::error!(session.id = %self.session, error, "could not store the use of a secret");
        }
        reply
    }

    /// Finds a secret that can be typed.
    async fn find(&self, name: &SecretName) -> Result<FoundSecret, ComputerError> {
        let found = self.vault.find(self.session, name).await;
        let found = found.map_err(|error| self.not_typed(&error))?;
        match found.http {
            None => Ok(found),
            Some(http) => Err(self.not_typed(&PlaceError::ForRequests(http.env))),
        }
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
                | ComputerError::NothingListens(_)
                | ComputerError::NoSoundCard
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

    /// Returns a redactor that knows all secrets so far. `earlier` is the redactor of the stream until now, and `n_known`
    /// is the number of secrets that it knows, which is updated.
    pub(super) fn renew(&self, earlier: Redactor, n_known: &mut usize) -> Redactor {
        let typed = self.typed();
        if typed.len() == *n_known {
            return earlier;
        }
        *n_known = typed.len();
        earlier.with(&typed)
    }

    /// Redacts a value from all future results.
    pub(super) fn remember(&self, name: &SecretName, value: &Secret) {
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

/// Returns the origin of a field, if it is one of the allowed ones.
fn check_origin(place: &FieldPlace, allowed: &[Origin]) -> Result<Origin, PlaceError> {
    let mut origins = allowed.iter();
    let found = origins.find(|origin| origin.as_str() == place.origin);
    found.cloned().ok_or_else(|| PlaceError::Origin {
        found: place.origin.clone(),
        allowed: allowed.to_vec(),
    })
}

fn listed(origins: &[Origin]) -> String {
    let texts: Vec<_> = origins.iter().map(Origin::as_str).collect();
    texts.join(", ")
}

/// Returns the title of a page as people are shown it: short, and without characters that change how a text reads.
fn plain(title: &str) -> String {
    let is_plain = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '“' | '”')
    };
    title.chars().filter(is_plain).take(LONGEST_TITLE).collect()
}
