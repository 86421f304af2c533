//! API tokens: making, listing and revoking them, and when each was last used.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_core::{
    id::{TokenId, UserId},
    secret::Secret,
    tasks::Tasks,
    user::{BadName, Scope, Token, check_name},
};
use deskhand_store::{NewToken, Store, StoreError};
use jiff::Timestamp;

use super::{Users, hash, random};

/// How many tokens a user may have.
const MOST_TOKENS: u64 = 100;
/// How much of a token people see.
const PREFIX_LENGTH: usize = 8;
/// How often the store hears of uses.
const NOTE_EVERY: Duration = Duration::from_mins(1);

/// A token somebody wants.
#[derive(Debug)]
pub struct MakeToken {
    pub name: String,
    pub scope: Scope,
    /// For ever without it.
    pub expires_at: Option<Timestamp>,
}

/// A new token, shown this once.
#[derive(Debug)]
pub struct MadeToken {
    pub token: Token,
    pub secret: Secret,
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum MakeTokenError {
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error("a token cannot end in the past: {0} is over")]
    Over(Timestamp),
    #[error("nobody has more than {MOST_TOKENS} tokens; revoke one that is not used")]
    TooMany,
    #[error("could not make the token")]
    Store(#[from] StoreError),
}

/// When tokens were used, until the store hears of it. Clones share it.
///
/// A request only writes here; what is written to the store is one batch a minute. A server that
/// is killed forgets the last minute.
#[derive(Debug, Clone)]
pub(super) struct Uses(Arc<Mutex<HashMap<TokenId, Timestamp>>>);

impl Uses {
    /// Begins to tell the store.
    pub(super) fn start(store: Store, tasks: &Tasks) -> Self {
        let uses = Self(Arc::default());
        let (noted, shutdown) = (uses.clone(), tasks.shutdown().clone());
        tasks.spawn("token uses", async move {
            while !shutdown.is_cancelled() {
                // At shutdown the wait is over, and what is left is written.
                let _ = tokio::time::timeout(NOTE_EVERY, shutdown.cancelled()).await;
                noted.write(&store).await;
            }
        });
        uses
    }

    pub(super) fn note(&self, token: TokenId, at: Timestamp) {
        self.lock().insert(token, at);
    }

    async fn write(&self, store: &Store) {
        let uses: Vec<_> = self.lock().drain().collect();
        if uses.is_empty() {
            return;
        }
        if let Err(error) = store.note_token_uses(&uses).await {
            // The next use of each is noted again.
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "when tokens were last used was not stored"
            );
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TokenId, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Users {
    /// Makes a token.
    pub async fn make_token(
        &self,
        user: UserId,
        wanted: MakeToken,
    ) -> Result<MadeToken, MakeTokenError> {
        let name = check_name(&wanted.name)?;
        let now = self.clock.now();
        if let Some(end) = wanted.expires_at.filter(|end| *end <= now) {
            return Err(MakeTokenError::Over(end));
        }
        let wanted = MakeToken {
            name: name.to_owned(),
            ..wanted
        };
        let made = self.keep_new_token(user, wanted, MOST_TOKENS).await?;
        made.ok_or(MakeTokenError::TooMany)
    }

    /// The token that the server keeps in its data folder.
    pub(super) async fn make_server_token(&self, admin: UserId) -> Result<Secret, StoreError> {
        let wanted = MakeToken {
            name: "admin-token".to_owned(),
            scope: Scope::Admin,
            expires_at: None,
        };
        let made = self.keep_new_token(admin, wanted, u64::MAX).await?;
        made.map(|made| made.secret)
            .ok_or_else(|| StoreError::Unreadable("too many tokens".to_owned()))
    }

    /// Makes a token unless the user has `most` already.
    async fn keep_new_token(
        &self,
        user: UserId,
        wanted: MakeToken,
        most: u64,
    ) -> Result<Option<MadeToken>, StoreError> {
        let secret = Secret::new(format!("dh_{}", random()));
        let token = Token {
            id: TokenId::new(),
            name: wanted.name,
            prefix: secret.expose().chars().take(PREFIX_LENGTH).collect(),
            scope: wanted.scope,
            created_at: self.clock.now(),
            expires_at: wanted.expires_at,
            last_used_at: None,
        };
        let new = NewToken {
            user,
            hash: &hash(&secret),
            token: &token,
        };
        let kept = self.store.insert_token(new, most).await?;
        Ok(kept.then_some(MadeToken { token, secret }))
    }

    /// A user's tokens, oldest first, those included whose time is over.
    pub async fn tokens(&self, user: UserId) -> Result<Vec<Token>, StoreError> {
        let mut tokens = self.store.tokens(user).await?;
        let uses = self.uses.lock();
        for token in &mut tokens {
            token.last_used_at = token.last_used_at.max(uses.get(&token.id).copied());
        }
        Ok(tokens)
    }

    /// Revokes a user's token, its open connections included; tells whether there was one.
    pub async fn revoke_token(&self, user: UserId, id: TokenId) -> Result<bool, StoreError> {
        let revoked = self.store.delete_token(user, id).await?;
        self.access.tell();
        Ok(revoked)
    }
}
