//! Users and tokens.

use deskhand_api::{
    audit::AuditView,
    budgets::UserLimitsView,
    tokens::{CreateTokenBody, MadeTokenView, TokenView, TokensView},
    users::{ChangeUserBody, CreateUserBody, InviteBody, SignInLinkView, UserView, UsersView},
};
use deskhand_core::{
    id::{TokenId, UserId},
    secret::Secret,
};
use reqwest::Method;

use super::{CallError, Client};

impl Client {
    pub(crate) async fn add_user(&self, wanted: &CreateUserBody) -> Result<UserView, CallError> {
        self.post("/api/users", wanted).await
    }

    /// Lists all users, oldest first.
    pub(crate) async fn users(&self) -> Result<Vec<UserView>, CallError> {
        let mut users = Vec::new();
        let mut path = "/api/users".to_owned();
        loop {
            let page: UsersView = self.get(&path).await?;
            users.extend(page.users);
            match page.next {
                Some(next) => path = format!("/api/users?after={next}"),
                None => return Ok(users),
            }
        }
    }

    pub(crate) async fn set_active(&self, user: UserId, active: bool) -> Result<(), CallError> {
        let path = format!("/api/users/{user}");
        let change = ChangeUserBody {
            active: Some(active),
            ..ChangeUserBody::default()
        };
        let _user: UserView = self.call(Method::PATCH, &path, Some(&change)).await?;
        Ok(())
    }

    /// Sets the limits of a user.
    pub(crate) async fn set_limits(
        &self,
        user: UserId,
        limits: &UserLimitsView,
    ) -> Result<(), CallError> {
        let path = format!("/api/users/{user}/limits");
        let _limits: UserLimitsView = self.call(Method::PUT, &path, Some(limits)).await?;
        Ok(())
    }

    /// Creates a sign-in link for another user.
    pub(crate) async fn link_for(
        &self,
        user: UserId,
        wanted: &InviteBody,
    ) -> Result<String, CallError> {
        let path = format!("/api/users/{user}/sign-in-links");
        let link: SignInLinkView = self.post(&path, wanted).await?;
        Ok(link.url)
    }

    /// Returns the newest entries of the audit log.
    pub(crate) async fn audit(
        &self,
        limit: u32,
        user: Option<UserId>,
        action: Option<&str>,
    ) -> Result<AuditView, CallError> {
        let mut path = format!("/api/audit?limit={limit}");
        if let Some(user) = user {
            path += &format!("&user={user}");
        }
        if let Some(action) = action {
            path += &format!("&action={action}");
        }
        self.get(&path).await
    }

    pub(crate) async fn make_token(&self, wanted: &CreateTokenBody) -> Result<Secret, CallError> {
        let made: MadeTokenView = self.post("/api/tokens", wanted).await?;
        Ok(made.token)
    }

    pub(crate) async fn tokens(&self) -> Result<Vec<TokenView>, CallError> {
        let tokens: TokensView = self.get("/api/tokens").await?;
        Ok(tokens.tokens)
    }

    pub(crate) async fn revoke_token(&self, token: TokenId) -> Result<(), CallError> {
        self.delete(&format!("/api/tokens/{token}")).await
    }
}
