//! Users and tokens.

use deskhand_core::{
    id::{TokenId, UserId},
    secret::Secret,
    user::{Scope, UserRole},
};
use jiff::Timestamp;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CallError, Client, SignInLink};

#[derive(Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) id: UserId,
    pub(crate) name: String,
    pub(crate) role: UserRole,
    pub(crate) active: bool,
}

#[derive(Debug, Deserialize)]
struct UserPage {
    users: Vec<User>,
    next: Option<UserId>,
}

/// What holds for somebody instead of the settings.
#[derive(Debug, Serialize)]
pub(crate) struct UserLimits {
    pub(crate) awake_sessions: Option<u32>,
    pub(crate) sessions_per_day: Option<u32>,
    pub(crate) idle_seconds: Option<u32>,
    pub(crate) life_seconds: Option<u32>,
    pub(crate) day_usd: Option<f64>,
    pub(crate) day_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Token {
    pub(crate) id: TokenId,
    pub(crate) name: String,
    pub(crate) prefix: String,
    pub(crate) scope: Scope,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) last_used_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    tokens: Vec<Token>,
}

#[derive(Debug, Deserialize)]
struct MadeToken {
    token: Secret,
}

impl Client {
    pub(crate) async fn add_user(&self, name: &str, role: UserRole) -> Result<User, CallError> {
        let body = json!({"name": name, "role": role});
        self.call(Method::POST, "/api/users", Some(body)).await
    }

    /// All users, oldest first.
    pub(crate) async fn users(&self) -> Result<Vec<User>, CallError> {
        let mut users = Vec::new();
        let mut path = "/api/users".to_owned();
        loop {
            let page: UserPage = self.call(Method::GET, &path, None).await?;
            users.extend(page.users);
            match page.next {
                Some(next) => path = format!("/api/users?after={next}"),
                None => return Ok(users),
            }
        }
    }

    pub(crate) async fn set_active(&self, user: UserId, active: bool) -> Result<(), CallError> {
        let path = format!("/api/users/{user}");
        let body = json!({"active": active});
        let _user: Value = self.call(Method::PATCH, &path, Some(body)).await?;
        Ok(())
    }

    /// Decides how much somebody may use.
    pub(crate) async fn set_limits(
        &self,
        user: UserId,
        limits: &UserLimits,
    ) -> Result<(), CallError> {
        let path = format!("/api/users/{user}/limits");
        let body = json!(limits);
        let _limits: Value = self.call(Method::PUT, &path, Some(body)).await?;
        Ok(())
    }

    /// A sign-in link for somebody else.
    pub(crate) async fn link_for(&self, user: UserId) -> Result<String, CallError> {
        let path = format!("/api/users/{user}/sign-in-links");
        let link: SignInLink = self.call(Method::POST, &path, None).await?;
        Ok(link.url)
    }

    pub(crate) async fn make_token(
        &self,
        name: &str,
        scope: Scope,
        expires_at: Option<Timestamp>,
    ) -> Result<Secret, CallError> {
        let body = json!({"name": name, "scope": scope, "expires_at": expires_at});
        let made: MadeToken = self.call(Method::POST, "/api/tokens", Some(body)).await?;
        Ok(made.token)
    }

    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, CallError> {
        let tokens: Tokens = self.call(Method::GET, "/api/tokens", None).await?;
        Ok(tokens.tokens)
    }

    pub(crate) async fn revoke_token(&self, token: TokenId) -> Result<(), CallError> {
        let path = format!("/api/tokens/{token}");
        self.send(Method::DELETE, &path, None).await.map(drop)
    }
}
