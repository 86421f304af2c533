//! People: how they are made, how they sign in, and who is asking.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use deskhand_core::{clock::Clock, id::UserId, secret::Secret};
use deskhand_store::{NewUser, Store, StoreError, User};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// How long a sign-in link is good.
const CODE_LIFE: Duration = Duration::from_mins(10);
/// How long a browser stays signed in.
const LOGIN_LIFE: Duration = Duration::from_hours(30 * 24);

#[derive(Debug, Clone)]
pub struct Users {
    store: Store,
    clock: Arc<dyn Clock>,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("this sign-in link was used before or is too old; `deskhand login` prints a new one")]
    BadCode,
    #[error("could not sign in")]
    Store(#[from] StoreError),
}

/// Why there is no administrator.
#[derive(Debug, thiserror::Error)]
#[error("could not make the first user")]
pub struct EnsureAdminError(#[from] StoreError);

/// A browser that was signed in.
#[derive(Debug)]
pub struct SignIn {
    pub user: UserId,
    /// What the browser keeps.
    pub cookie: Secret,
    pub life: Duration,
}

impl Users {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Makes sure that there is an administrator and that `kept` is one of their tokens. Answers
    /// a new token, to be kept instead, when it is not.
    pub async fn ensure_admin(
        &self,
        kept: Option<&Secret>,
    ) -> Result<Option<Secret>, EnsureAdminError> {
        let now = self.clock.now();
        let Some(admin) = self.store.admin().await? else {
            let token = new_token();
            let new = NewUser {
                id: UserId::new(),
                name: "admin",
                role: "admin",
                token_hash: &hash(&token),
                created_at: now,
            };
            self.store.insert_user(new).await?;
            return Ok(Some(token));
        };
        if let Some(kept) = kept
            && self
                .store
                .user_of_token(&hash(kept))
                .await?
                .is_some_and(|user| user.id == admin.id)
        {
            return Ok(None);
        }
        let token = new_token();
        self.store
            .insert_token(admin.id, &hash(&token), now)
            .await?;
        Ok(Some(token))
    }

    /// The first administrator.
    pub async fn admin(&self) -> Result<Option<User>, StoreError> {
        self.store.admin().await
    }

    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        self.store.user(id).await
    }

    /// A code for a sign-in link, good once, until the time that comes with it.
    pub async fn new_sign_in_code(&self, user: UserId) -> Result<(Secret, Timestamp), StoreError> {
        let code = Secret::new(random());
        let now = self.clock.now();
        let expires_at = now + CODE_LIFE;
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

    pub async fn sign_out(&self, cookie: &Secret) -> Result<(), StoreError> {
        self.store.delete_login(&hash(cookie)).await
    }

    pub async fn user_of_token(&self, token: &Secret) -> Result<Option<User>, StoreError> {
        self.store.user_of_token(&hash(token)).await
    }

    pub async fn user_of_cookie(&self, cookie: &Secret) -> Result<Option<User>, StoreError> {
        self.store
            .user_of_login(&hash(cookie), self.clock.now())
            .await
    }
}

fn new_token() -> Secret {
    Secret::new(format!("dh_{}", random()))
}

/// 256 bits that nobody can guess.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// What is kept of a secret. Plain SHA-256 is enough for 256 random bits, and since rows are
/// found by it, no comparison leaks how close a guess was.
fn hash(secret: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret.expose()))
}
