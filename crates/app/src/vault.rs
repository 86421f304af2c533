//! Secrets that people store for their agents. A value is written, encrypted and typed, and never shown.

use std::sync::Arc;

use deskhand_core::{
    audit::Requester,
    clock::Clock,
    id::{SecretId, SessionId, UserId},
    secret::Secret,
    vault::{self, BadSecret, LastUse, Origin, SecretName, StoredSecret},
};
use deskhand_store::{
    KeyError, KeyFile, Keys, NewSecret, PutSecret, SealVersion, SealedIn, SealedValue, Store,
    StoreError,
};

use crate::{InternalError, refusal::refusals};

/// The number of secrets that one user may have.
const MOST_SECRETS: u64 = 100;
/// The version with which values are sealed: their context includes the origins.
const SEAL_VERSION: SealVersion = SealVersion(2);
/// The first version, without the origins.
const FIRST_SEAL_VERSION: SealVersion = SealVersion(1);
/// The most values that are sealed again in one run.
const MOST_RESEALED: u32 = 500;

/// The secrets of all users. Clones share them.
#[derive(Debug, Clone)]
pub struct Vault {
    store: Store,
    key: KeyFile,
    clock: Arc<dyn Clock>,
}

/// A secret with its value and the origins on which it may be typed.
#[derive(Debug)]
pub(crate) struct FoundSecret {
    pub(crate) id: SecretId,
    pub(crate) value: Secret,
    pub(crate) origins: Vec<Origin>,
}

/// The reason why values can currently be neither stored nor typed. Nothing is lost by it.
#[derive(Debug, thiserror::Error)]
pub enum LockedError {
    #[error("the encryption key of secrets is missing; an administrator must restore its file")]
    Missing(#[source] KeyError),
    #[error("the encryption key of secrets cannot be read; an administrator must repair its file")]
    Unreadable(#[source] KeyError),
    #[error(
        "the secret {0} was encrypted with a key that the server no longer has; an administrator must restore \
         the old key file, or you can store the secret again"
    )]
    WrongKey(SecretName),
    #[error(
        "the secret {0} was changed outside of Deskhand and cannot be decrypted; store it again"
    )]
    Damaged(SecretName),
}

/// The reason why a secret was not stored.
#[derive(Debug, thiserror::Error)]
pub enum PutSecretError {
    #[error(transparent)]
    Bad(#[from] BadSecret),
    #[error("you already have {MOST_SECRETS} secrets, which is the limit; remove one first")]
    TooMany,
    #[error(transparent)]
    Locked(#[from] LockedError),
    #[error("could not store the secret")]
    Internal(#[source] InternalError),
}

refusals! {
    PutSecretError passes on Bad, Internal;
    Self::TooMany => TooMany("too_many_secrets"),
    Self::Locked(_) => Unavailable("secrets_locked"),
}

/// The reason why a secret was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveSecretError {
    #[error("you have no secret {0:?}")]
    NoSecret(String),
    #[error("could not remove the secret")]
    Internal(#[source] InternalError),
}

refusals! {
    RemoveSecretError passes on Internal;
    Self::NoSecret(_) => NotFound("no_secret"),
}

/// The reason why there is nothing to type.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindSecretError {
    #[error("there is no secret {name}; {}", available_names(.there_are))]
    None {
        name: SecretName,
        there_are: Vec<SecretName>,
    },
    #[error(transparent)]
    Locked(#[from] LockedError),
    #[error("could not read the secret from the database")]
    Store(#[from] StoreError),
}

fn available_names(names: &[SecretName]) -> String {
    if names.is_empty() {
        return "none is stored; only a person can store one, in the settings".to_owned();
    }
    let names: Vec<_> = names.iter().map(SecretName::as_str).collect();
    format!("the secrets are {}", names.join(", "))
}

impl Vault {
    pub(crate) fn new(store: Store, key: KeyFile, clock: Arc<dyn Clock>) -> Self {
        Self { store, key, clock }
    }

    /// Stores a secret, in place of the one with this name. Returns `true` if it is a new one.
    pub async fn put(
        &self,
        by: Requester,
        user: UserId,
        name: &SecretName,
        value: &Secret,
        origins: &[Origin],
    ) -> Result<bool, PutSecretError> {
        vault::check(value, origins)?;
        let keys = self.keys_to_write().await?;
        let key = keys.newest();
        let sealed = key.seal(value, &about(user, name, origins));
        let sealed = sealed.ok_or(BadSecret::Value)?;
        let new = NewSecret {
            user,
            name,
            key: key.id(),
            sealed,
            seal_version: SEAL_VERSION,
            origins,
            now: self.clock.now(),
        };
        let stamp = by.at(new.now);
        match self.store.put_secret(new, MOST_SECRETS, stamp).await? {
            PutSecret::Made => Ok(true),
            PutSecret::Replaced => Ok(false),
            PutSecret::TooMany => Err(PutSecretError::TooMany),
        }
    }

    /// Lists the secrets of a user, by name.
    pub async fn list(&self, user: UserId) -> Result<Vec<StoredSecret>, InternalError> {
        Ok(self.store.secrets(user).await?)
    }

    /// Removes a secret of a user.
    pub async fn remove(
        &self,
        by: Requester,
        user: UserId,
        name: &str,
    ) -> Result<(), RemoveSecretError> {
        let stamp = by.at(self.clock.now());
        // A text that cannot be a name does not name a secret.
        let is_removed = match name.parse() {
            Ok(name) => self.store.delete_secret(user, &name, stamp).await?,
            Err(_) => false,
        };
        if is_removed {
            Ok(())
        } else {
            Err(RemoveSecretError::NoSecret(name.to_owned()))
        }
    }

    /// Returns a secret of the session's owner with its value.
    pub(crate) async fn find(
        &self,
        session: SessionId,
        name: &SecretName,
    ) -> Result<FoundSecret, FindSecretError> {
        let Some(sealed) = self.store.sealed_secret(session, name).await? else {
            return Err(FindSecretError::None {
                name: name.clone(),
                there_are: self.store.secret_names(session).await?,
            });
        };
        let keys = self.keys_to_read().await?;
        Ok(FoundSecret {
            id: sealed.id,
            value: open(&keys, &sealed.value)?,
            origins: sealed.value.origins,
        })
    }

    /// Records, before it is sent, that a secret may turn up in a session from now on.
    pub(crate) async fn note_sent(
        &self,
        session: SessionId,
        secret: SecretId,
    ) -> Result<(), StoreError> {
        self.store.note_secret_sent(session, secret).await
    }

    /// Records that a secret was typed.
    pub(crate) async fn note_use(
        &self,
        session: SessionId,
        secret: SecretId,
    ) -> Result<(), StoreError> {
        let last = LastUse {
            at: self.clock.now(),
            session,
        };
        self.store.note_secret_use(secret, last).await
    }

    /// Returns every readable value that may turn up in a session.
    pub(crate) async fn sent(
        &self,
        session: SessionId,
    ) -> Result<Vec<(SecretName, Secret)>, StoreError> {
        let sealed = self.store.secrets_sent(session).await?;
        if sealed.is_empty() {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        match self.keys_to_read().await {
            Ok(keys) => {
                for secret in sealed {
                    match open(&keys, &secret) {
                        Ok(value) => values.push((secret.name, value)),
                        Err(error) => warn_unwatched(session, &error),
                    }
                }
            }
            Err(error) => warn_unwatched(session, &error),
        }
        Ok(values)
    }

    /// Seals values again that have an older key than the newest, or were sealed without their origins. Forgets
    /// values that no session needs any more.
    pub(crate) async fn reseal(&self) -> Result<(), StoreError> {
        self.store.forget_former_secrets().await?;
        // Without the keys there is nothing to do: whoever needs a secret says so.
        let Ok(keys) = self.key.read().await else {
            return Ok(());
        };
        for place in [SealedIn::Secrets, SealedIn::FormerSecrets] {
            let newest = keys.newest();
            let outdated = self
                .store
                .outdated_secrets(place, newest.id(), SEAL_VERSION, MOST_RESEALED)
                .await?;
            for old in outdated {
                let SealedValue {
                    user,
                    name,
                    origins,
                    ..
                } = &old.value;
                // A value that cannot be opened stays as it is: its key may be restored.
                let Ok(value) = open(&keys, &old.value) else {
                    continue;
                };
                if let Some(sealed) = newest.seal(&value, &about(*user, name, origins)) {
                    // If it was changed meanwhile, it is sealed with the newest key already.
                    self.store
                        .reseal_secret(place, &old, newest.id(), sealed, SEAL_VERSION)
                        .await?;
                }
            }
        }
        Ok(())
    }

    /// Reads the keys. One is created only while no older one can have been lost.
    async fn keys_to_write(&self) -> Result<Keys, PutSecretError> {
        let keys = if self.store.has_secrets().await? {
            self.key.read().await
        } else {
            self.key.read_or_make().await
        };
        Ok(keys.map_err(locked)?)
    }

    async fn keys_to_read(&self) -> Result<Keys, LockedError> {
        self.key.read().await.map_err(locked)
    }
}

fn locked(error: KeyError) -> LockedError {
    tracing::error!(
        error = &error as &dyn std::error::Error,
        "secrets cannot be used without their key"
    );
    match error {
        KeyError::Missing(_) => LockedError::Missing(error),
        KeyError::Malformed(_) | KeyError::OpenToOthers { .. } | KeyError::Io { .. } => {
            LockedError::Unreadable(error)
        }
    }
}

fn warn_unwatched(session: SessionId, error: &LockedError) {
    tracing::warn!(
        session.id = %session,
        error = error as &dyn std::error::Error,
        "could not read a secret that was typed in this session; it is not hidden in pictures and results"
    );
}

fn open(keys: &Keys, secret: &SealedValue) -> Result<Secret, LockedError> {
    let SealedValue {
        user,
        name,
        origins,
        key,
        sealed,
        seal_version,
    } = secret;
    let key = keys.find(key);
    let key = key.ok_or_else(|| LockedError::WrongKey(name.clone()))?;
    let about = if *seal_version == FIRST_SEAL_VERSION {
        about_without_origins(*user, name)
    } else {
        about(*user, name, origins)
    };
    key.open(sealed, &about)
        .ok_or_else(|| LockedError::Damaged(name.clone()))
}

/// Returns the context that an encrypted value belongs to: moved to another row, or with other origins, the value
/// cannot be decrypted.
fn about(user: UserId, name: &SecretName, origins: &[Origin]) -> Vec<u8> {
    let mut about = about_without_origins(user, name);
    for origin in origins {
        // No name and no origin contains a line end.
        about.push(b'\n');
        about.extend_from_slice(origin.as_str().as_bytes());
    }
    about
}

fn about_without_origins(user: UserId, name: &SecretName) -> Vec<u8> {
    format!("{user}/{name}").into_bytes()
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
