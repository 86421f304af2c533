//! Users: their creation, their sign-in, and the identity behind a credential.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use deskhand_core::{
    clock::Clock,
    id::UserId,
    secret::Secret,
    user::{Identity, Scope, User, UserRole},
};
use deskhand_store::{NewUser, Store, StoreError};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::tokens::TokenUses;
use crate::{
    InternalError,
    refusal::refusals,
    signals::{Signals, Topic},
};

/// The time for which a sign-in link is valid.
const CODE_LIFE: Duration = Duration::from_mins(10);
/// The same for a link that has to be passed on first.
pub(super) const INVITATION_LIFE: Duration = Duration::from_hours(24);
/// The time for which a browser stays signed in.
const LOGIN_LIFE: Duration = Duration::from_hours(30 * 24);

/// All users. Clones share them.
#[derive(Debug, Clone)]
pub struct Users {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signals: Signals,
    pub(super) uses: TokenUses,
}

/// The proof of a user's identity. It holds only the hash of the secret.
#[derive(Debug, Clone)]
pub enum Credential {
    Token(String),
    Cookie(String),
}

/// The reason why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("this sign-in link was already used or has expired; `deskhand login` prints a new one")]
    BadCode,
    #[error("could not sign in")]
    Internal(#[source] InternalError),
}

refusals! {
    SignInError passes on Internal;
    Self::BadCode => SignedOut("bad_code"),
}

/// The reason why there is no administrator.
#[derive(Debug, thiserror::Error)]
#[error("could not create the first user")]
pub struct EnsureAdminError(#[from] StoreError);

/// A browser that was signed in.
#[derive(Debug)]
pub struct SignIn {
    pub user: UserId,
    /// The value of the browser's cookie.
    pub cookie: Secret,
    pub life: Duration,
}

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
            uses: TokenUses::new(store.clone()),
            store,
            clock,
            signals,
        }
    }

    /// Returns the token uses that are not stored yet.
    pub(crate) fn token_uses(&self) -> &TokenUses {
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
                self.store.insert_user(new).await?;
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

    /// Creates the code of a sign-in link. It is valid once, until the time that is returned with it.
    pub async fn new_sign_in_code(
        &self,
        user: UserId,
    ) -> Result<(Secret, Timestamp), InternalError> {
        Ok(self.sign_in_code(user, CODE_LIFE).await?)
    }

    pub(super) async fn sign_in_code(
        &self,
        user: UserId,
        life: Duration,
    ) -> Result<(Secret, Timestamp), StoreError> {
        let code = Secret::new(random());
        let now = self.clock.now();
        let expires_at = now + life;
        self.store
            .insert_sign_in_code(user, &hash(&code), now, expires_at)
            .await?;
        Ok((code, expires_at))
    }

    /// Turns a code into a signed-in browser.
    pub async fn sign_in(&self, code: &Secret) -> Result<SignIn, SignInError> {
        let now = self.clock.now();
        let user = self.store.take_sign_in_code(&hash(code), now).await?;
        let user = user.ok_or(SignInError::BadCode)?;
        let cookie = Secret::new(random());
        self.store
            .insert_login(user, &hash(&cookie), now, now + LOGIN_LIFE)
            .await?;
        Ok(SignIn {
            user,
            cookie,
            life: LOGIN_LIFE,
        })
    }

    /// Signs a browser out, and closes its open connections.
    pub async fn sign_out(&self, cookie: &Secret) -> Result<(), InternalError> {
        let identity = self.identify(&Credential::cookie(cookie)).await?;
        self.store.delete_login(&hash(cookie)).await?;
        if let Some(identity) = identity {
            self.signals.send(Topic::Access(identity.user));
        }
        Ok(())
    }

    /// Returns the user behind a credential.
    pub async fn identify(
        &self,
        credential: &Credential,
    ) -> Result<Option<Identity>, InternalError> {
        let now = self.clock.now();
        let identity = match credential {
            Credential::Token(hash) => self.store.identity_of_token(hash, now).await?,
            Credential::Cookie(hash) => self.store.identity_of_login(hash, now).await?,
        };
        if let Some(token) = identity.and_then(|identity| identity.token) {
            self.uses.note(token, now);
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
