//! Users: the first of them, and the identity behind a credential.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use deskhand_core::{
    audit::Requester,
    clock::Clock,
    id::UserId,
    secret::Secret,
    user::{Identity, Scope, User, UserRole},
};
use deskhand_store::{NewUser, Store, StoreError};
use sha2::{Digest, Sha256};

use super::{sign_ins::IDLE_LIFE, tokens::CredentialUses};
use crate::{InternalError, signals::Signals};

/// All users. Clones share them.
#[derive(Debug, Clone)]
pub struct Users {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signals: Signals,
    pub(super) uses: CredentialUses,
}

/// The proof of a user's identity. It holds only the hash of the secret.
#[derive(Debug, Clone)]
pub enum Credential {
    Token(String),
    Cookie(String),
}

/// The reason why there is no administrator.
#[derive(Debug, thiserror::Error)]
#[error("could not create the first user")]
pub struct EnsureAdminError(#[from] StoreError);

impl Credential {
    pub fn token(token: &Secret) -> Self {
        Self::Token(hash(token))
    }

    pub fn cookie(cookie: &Secret) -> Self {
        Self::Cookie(hash(cookie))
    }
}

impl Users {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, signals: Signals) -> Self {
        Self {
            uses: CredentialUses::new(store.clone()),
            store,
            clock,
            signals,
        }
    }

    /// Returns the uses of tokens and browsers that are not stored yet.
    pub(crate) fn credential_uses(&self) -> &CredentialUses {
        &self.uses
    }

    /// Makes sure that there is an administrator and that `kept` is the token of one. If it is not, returns a new
    /// token to keep instead.
    pub async fn ensure_admin(
        &self,
        kept: Option<&Secret>,
    ) -> Result<Option<Secret>, EnsureAdminError> {
        let now = self.clock.now();
        let admin = match self.store.admin().await? {
            Some(admin) => admin.id,
            None => {
                let new = NewUser {
                    id: UserId::new(),
                    name: "admin",
                    role: UserRole::Admin,
                    created_at: now,
                };
                let id = new.id;
                let stamp = Requester::SERVER.at(now);
                self.store.insert_user(new, stamp).await?;
                id
            }
        };
        if let Some(kept) = kept
            && let Some(identity) = self.store.identity_of_token(&hash(kept), now).await?
            && identity.role == UserRole::Admin
            && identity.scope == Scope::Admin
        {
            return Ok(None);
        }
        Ok(Some(self.make_server_token(admin).await?))
    }

    /// Returns the first administrator.
    pub async fn admin(&self) -> Result<Option<User>, InternalError> {
        Ok(self.store.admin().await?)
    }

    pub async fn user(&self, id: UserId) -> Result<Option<User>, InternalError> {
        Ok(self.store.user(id).await?)
    }

    /// Returns the user behind a credential.
    pub async fn identify(
        &self,
        credential: &Credential,
    ) -> Result<Option<Identity>, InternalError> {
        let now = self.clock.now();
        let identity = match credential {
            Credential::Token(hash) => self.store.identity_of_token(hash, now).await?,
            Credential::Cookie(hash) => {
                let idle_since = now - IDLE_LIFE;
                self.store.identity_of_login(hash, now, idle_since).await?
            }
        };
        match (identity.as_ref(), credential) {
            (Some(identity), Credential::Token(_)) => self.uses.note_token(identity.token, now),
            (Some(_), Credential::Cookie(hash)) => self.uses.note_browser(hash, now),
            (None, _) => {}
        }
        Ok(identity)
    }
}

/// Returns 256 random bits.
pub(crate) fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Returns the part of a secret that is stored. Plain SHA-256 is enough for 256 random bits, and since rows are
/// found by it, no comparison leaks how close a guess was.
pub(crate) fn hash(secret: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret.expose()))
}
