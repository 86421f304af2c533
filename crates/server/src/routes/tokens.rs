//! A user's API tokens.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{MakeToken, Users};
use deskhand_core::{
    id::TokenId,
    secret::Secret,
    user::{Scope, Token},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    caller::AccountHolder,
    extract::{Body, Id},
    problem::Problem,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    name: String,
    scope: Option<Scope>,
    expires_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TokenView {
    id: TokenId,
    name: String,
    prefix: String,
    scope: Scope,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MadeTokenView {
    #[serde(flatten)]
    about: TokenView,
    token: Secret,
}

#[derive(Debug, Serialize)]
pub(crate) struct TokensView {
    tokens: Vec<TokenView>,
}

impl From<Token> for TokenView {
    fn from(token: Token) -> Self {
        Self {
            id: token.id,
            name: token.name,
            prefix: token.prefix,
            scope: token.scope,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
        }
    }
}

/// `POST /api/tokens`
pub(crate) async fn create(
    State(users): State<Users>,
    AccountHolder(user): AccountHolder,
    Body(body): Body<Create>,
) -> Result<(StatusCode, Json<MadeTokenView>), Problem> {
    let wanted = MakeToken {
        name: body.name,
        scope: body.scope.unwrap_or(Scope::Write),
        expires_at: body.expires_at,
    };
    let made = users.make_token(user, wanted).await?;
    let view = MadeTokenView {
        about: made.token.into(),
        token: made.secret,
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// `GET /api/tokens`
pub(crate) async fn list(
    State(users): State<Users>,
    AccountHolder(user): AccountHolder,
) -> Result<Json<TokensView>, Problem> {
    let tokens = users.tokens(user).await?;
    let tokens = tokens.into_iter().map(TokenView::from).collect();
    Ok(Json(TokensView { tokens }))
}

/// `DELETE /api/tokens/{id}`
pub(crate) async fn revoke(
    State(users): State<Users>,
    AccountHolder(user): AccountHolder,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, Problem> {
    if users.revoke_token(user, id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        let message = format!("you have no token {id}");
        Err(Problem::refuse(StatusCode::NOT_FOUND, "no_token", message))
    }
}
