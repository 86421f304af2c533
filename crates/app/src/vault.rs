//! Secrets that people store for their agents. A value is written, encrypted, typed or sent, and never shown.

mod seal;

use std::sync::Arc;

use deskhand_core::{
    audit::Requester,
    clock::Clock,
    id::{SecretId, SessionId, UserId},
    secret::Secret,
    vault::{self, BadSecret, HttpUse, LastUse, Origin, SecretName, StoredSecret},
};
use deskhand_store::{
    KeyError, KeyFile, Keys, NewSecret, PutSecret, SealedIn, SealedValue, Store, StoreError,
};

use self::seal::{SEAL_VERSION, about, open};
use crate::{InternalError, refusal::refusals};

/// The number of secrets that one user may have.
const MOST_SECRETS: u64 = 100;
/// The most values that are sealed again in one run.
const MOST_RESEALED: u32 = 500;

/// The secrets of all users. Clones share them.
#[derive(Debug, Clone)]
pub struct Vault {
    store: Store,
    key: KeyFile,
    clock: Arc<dyn Clock>,
}

/// A secret to store. It replaces a secret with the same name.
#[derive(Debug)]
pub struct StoreSecret<'a> {
    pub name: &'a SecretName,
    pub value: &'a Secret,
    pub origins: &'a [Origin],
    /// Set if the secret is for requests to HTTP APIs.
    pub http: Option<&'a HttpUse>,
}

/// A secret with its value and the origins at which it may be used.
#[derive(Debug)]
pub(crate) struct FoundSecret {
    pub(crate) id: SecretId,
    pub(crate) value: Secret,
    pub(crate) origins: Vec<Origin>,
    pub(crate) http: Option<HttpUse>,
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
    #[error(
        "your secret {other} already uses the environment variable {variable}; choose another variable, or remove that secret"
    )]
    VariableTaken { other: SecretName, variable: String },
    #[error(transparent)]
    Locked(#[from] LockedError),
    #[error("could not store the secret")]
    Internal(#[source] InternalError),
}

refusals! {
    PutSecretError passes on Bad, Internal;
    Self::TooMany => TooMany("too_many_secrets"),
    Self::VariableTaken { other, .. } => Conflict("variable_taken", { "secret": other }),
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
        secret: StoreSecret<'_>,
    ) -> Result<bool, PutSecretError> {
        let StoreSecret {
            name,
            value,
            origins,
            http,
        } = secret;
        vault::check(value, origins, http)?;
        let keys = self.keys_to_write().await?;
        let key = keys.newest();
        let sealed = key.seal(value, &about(user, name, origins, http));
        let sealed = sealed.ok_or(BadSecret::Value)?;
        let new = NewSecret {
            user,
            name,
            key: key.id(),
            sealed,
            seal_version: SEAL_VERSION,
            origins,
            http,
            now: self.clock.now(),
        };
        let stamp = by.at(new.now);
        match self.store.put_secret(new, MOST_SECRETS, stamp).await? {
            PutSecret::Made => Ok(true),
            PutSecret::Replaced => Ok(false),
            PutSecret::TooMany => Err(PutSecretError::TooMany),
            PutSecret::VariableTaken(other) => Err(PutSecretError::VariableTaken {
                other,
                variable: http.map(|http| http.env.to_string()).unwrap_or_default(),
            }),
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
            http: sealed.value.http,
        })
    }

    /// Returns the secrets for HTTP APIs of the session's owner, without their values.
    pub(crate) async fn http_secrets(
        &self,
        session: SessionId,
    ) -> Result<Vec<StoredSecret>, StoreError> {
        self.store.http_secrets(session).await
    }

    /// Records, before it is sent, that a secret may turn up in a session from now on.
    pub(crate) async fn note_sent(
        &self,
        session: SessionId,
        secret: SecretId,
    ) -> Result<(), StoreError> {
        self.store.note_secret_sent(session, secret).await
    }

    /// Records that a secret was typed or sent.
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

    /// Seals values again that were sealed with an older key or by an earlier version. Forgets
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
                    http,
                    ..
                } = &old.value;
                // A value that cannot be opened stays as it is: its key may be restored.
                let Ok(value) = open(&keys, &old.value) else {
                    continue;
                };
                let about = about(*user, name, origins, http.as_ref());
                if let Some(sealed) = newest.seal(&value, &about) {
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

    /// Returns a key for another purpose, derived from the newest key of secrets. The key file is created if there is
    /// none and no secret needs an older one.
    pub(crate) async fn derived_key(&self, purpose: &[u8]) -> Result<[u8; 32], LockedError> {
        let keys = match self.store.has_secrets().await {
            Ok(false) => self.key.read_or_make().await,
            // If the database is unavailable, a new key must not be created.
            Ok(true) | Err(_) => self.key.read().await,
        };
        Ok(keys.map_err(locked)?.newest().derive(purpose))
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
