//! API tokens: creates, lists and revokes them, and records their last use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::{
    audit::Requester,
    id::{TokenId, UserId},
    secret::Secret,
    user::{BadName, Scope, Token, check_name},
};
use deskhand_store::{NewToken, Store, StoreError};
use jiff::Timestamp;

use super::users::{Users, hash, random};
use crate::{InternalError, refusal::refusals, signals::Topic};

/// The maximum number of tokens of a user.
const MOST_TOKENS: u64 = 100;
/// The length of the visible part of a token.
const PREFIX_LENGTH: usize = 8;

/// The settings of a new token.
#[derive(Debug)]
pub struct MakeToken {
    pub name: String,
    pub scope: Scope,
    /// The time of expiry. Without it the token never expires.
    pub expires_at: Option<Timestamp>,
}

/// A new token, shown only once.
#[derive(Debug)]
pub struct MadeToken {
    pub token: Token,
    pub secret: Secret,
}

/// The reason why a token was not created.
#[derive(Debug, thiserror::Error)]
pub enum MakeTokenError {
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error("a token cannot expire in the past: {0} is over")]
    Over(Timestamp),
    #[error("a user can have at most {MOST_TOKENS} tokens; revoke one first")]
    TooMany,
    #[error("could not create the token")]
    Internal(#[source] InternalError),
}

refusals! {
    MakeTokenError passes on Internal;
    Self::BadName(_) => Invalid("bad_name"),
    Self::Over(_) => Invalid("over"),
    Self::TooMany => TooMany("too_many_tokens"),
}

/// The reason why a token was not revoked.
#[derive(Debug, thiserror::Error)]
pub enum RevokeTokenError {
    #[error("you have no token {0}")]
    NoToken(TokenId),
    #[error("could not revoke the token")]
    Internal(#[source] InternalError),
}

refusals! {
    RevokeTokenError passes on Internal;
    Self::NoToken(_) => NotFound("no_token"),
}

/// The times at which tokens and browsers were used, until they are stored. Clones share them.
///
/// A request only writes here; a job writes one batch a minute to the store. A server that is killed
/// forgets the last minute.
#[derive(Debug, Clone)]
pub(crate) struct CredentialUses {
    store: Store,
    noted: Arc<Mutex<NotedUses>>,
}

#[derive(Debug, Default)]
pub(super) struct NotedUses {
    pub(super) tokens: HashMap<TokenId, Timestamp>,
    /// By the hash of the cookie.
    pub(super) browsers: HashMap<String, Timestamp>,
}

impl CredentialUses {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            noted: Arc::default(),
        }
    }

    pub(super) fn note_token(&self, token: Option<TokenId>, at: Timestamp) {
        if let Some(token) = token {
            self.lock().tokens.insert(token, at);
        }
    }

    pub(super) fn note_browser(&self, hash: &str, at: Timestamp) {
        let mut noted = self.lock();
        match noted.browsers.get_mut(hash) {
            Some(last) => *last = at,
            None => {
                noted.browsers.insert(hash.to_owned(), at);
            }
        }
    }

    /// Stores the recorded uses. If that fails, they are lost until the next use of each.
    pub(crate) async fn write(&self) -> Result<(), StoreError> {
        let NotedUses { tokens, browsers } = std::mem::take(&mut *self.lock());
        if !tokens.is_empty() {
            let tokens: Vec<_> = tokens.into_iter().collect();
            self.store.note_token_uses(&tokens).await?;
        }
        if !browsers.is_empty() {
            let browsers: Vec<_> = browsers.into_iter().collect();
            self.store.note_browser_uses(&browsers).await?;
        }
        Ok(())
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, NotedUses> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Users {
    /// Creates a token.
    pub async fn make_token(
        &self,
        by: Requester,
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
        let made = self.keep_new_token(by, user, wanted, MOST_TOKENS).await?;
        made.ok_or(MakeTokenError::TooMany)
    }

    /// Creates the token that the server keeps in its data folder.
    pub(super) async fn make_server_token(&self, admin: UserId) -> Result<Secret, StoreError> {
        let wanted = MakeToken {
            name: "admin-token".to_owned(),
            scope: Scope::Admin,
            expires_at: None,
        };
        let by = Requester::SERVER;
        let made = self.keep_new_token(by, admin, wanted, u64::MAX).await?;
        made.map(|made| made.secret)
            .ok_or_else(|| StoreError::Unreadable("too many tokens".to_owned()))
    }

    /// Creates a token, unless the user has `most` already.
    async fn keep_new_token(
        &self,
        by: Requester,
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
        let stamp = by.at(token.created_at);
        let kept = self.store.insert_token(new, most, stamp).await?;
        Ok(kept.then_some(MadeToken { token, secret }))
    }

    /// Lists the tokens of a user, oldest first, expired ones included.
    pub async fn tokens(&self, user: UserId) -> Result<Vec<Token>, InternalError> {
        let mut tokens = self.store.tokens(user).await?;
        let uses = self.uses.lock();
        for token in &mut tokens {
            token.last_used_at = token.last_used_at.max(uses.tokens.get(&token.id).copied());
        }
        Ok(tokens)
    }

    /// Revokes a token of a user, and closes its open connections.
    pub async fn revoke_token(
        &self,
        by: Requester,
        user: UserId,
        id: TokenId,
    ) -> Result<(), RevokeTokenError> {
        let stamp = by.at(self.clock.now());
        let is_revoked = self.store.delete_token(user, id, stamp).await?;
        self.signals.send(Topic::Access(user));
        if is_revoked {
            Ok(())
        } else {
            Err(RevokeTokenError::NoToken(id))
        }
    }
}
