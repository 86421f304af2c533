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
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::AccountHolder,
    extract::{Body, Id},
    problem::Problem,
    schema::{self, TokenPath},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateToken)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// `write` unless said.
    #[schema(value_type = Option<schema::Scope>)]
    scope: Option<Scope>,
    /// For ever without it.
    expires_at: Option<Timestamp>,
}

/// What is known of a token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Token)]
pub(crate) struct TokenView {
    #[schema(value_type = Uuid)]
    id: TokenId,
    #[schema(max_length = 64)]
    name: String,
    /// How it begins, so that people know which it is. Empty for one made by an early version.
    prefix: String,
    #[schema(value_type = schema::Scope)]
    scope: Scope,
    created_at: Timestamp,
    /// For ever when it is null.
    #[schema(required)]
    expires_at: Option<Timestamp>,
    #[schema(required)]
    last_used_at: Option<Timestamp>,
}

/// A new token.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MadeToken)]
pub(crate) struct MadeTokenView {
    #[serde(flatten)]
    about: TokenView,
    /// The token itself, shown this once.
    #[schema(value_type = String)]
    token: Secret,
}

/// Your tokens.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tokens)]
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

/// Makes a token of yours.
#[utoipa::path(
    post,
    path = "/tokens",
    operation_id = "create_token",
    tag = "people",
    request_body = Create,
    responses(
        (status = 201, description = "the token, shown this once", body = MadeTokenView),
        (status = 400, description = "`bad_name`, `over`"),
        (status = 429, description = "`too_many_tokens`"),
    ),
)]
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

/// Lists your tokens.
#[utoipa::path(
    get,
    path = "/tokens",
    operation_id = "list_tokens",
    tag = "people",
    responses(
        (status = 200, description = "your tokens", body = TokensView),
    ),
)]
pub(crate) async fn list(
    State(users): State<Users>,
    AccountHolder(user): AccountHolder,
) -> Result<Json<TokensView>, Problem> {
    let tokens = users.tokens(user).await?;
    let tokens = tokens.into_iter().map(TokenView::from).collect();
    Ok(Json(TokensView { tokens }))
}

/// Makes a token worthless.
#[utoipa::path(
    delete,
    path = "/tokens/{id}",
    operation_id = "revoke_token",
    tag = "people",
    params(TokenPath),
    responses(
        (status = 204, description = "it is worth nothing any more"),
        (status = 404, description = "`no_token`"),
    ),
)]
pub(crate) async fn revoke(
    State(users): State<Users>,
    AccountHolder(user): AccountHolder,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, Problem> {
    users.revoke_token(user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
