//! A user's API tokens.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::tokens::{CreateTokenBody, MadeTokenView, TokenView, TokensView};
use deskhand_app::{MakeToken, Users};
use deskhand_core::{id::TokenId, user::Scope};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::AccountHolder,
    extract::{Body, Id},
    paths::TokenPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
}

/// Creates a token for you.
#[utoipa::path(
    post,
    path = "/tokens",
    operation_id = "create_token",
    tag = "people",
    request_body = CreateTokenBody,
    responses(
        (status = 201, description = "the token, shown only this once", body = MadeTokenView),
        (status = 400, description = "`bad_name`, `over`"),
        (status = 429, description = "`too_many_tokens`"),
    ),
)]
pub(crate) async fn create(
    State(users): State<Users>,
    AccountHolder(user, by): AccountHolder,
    Body(body): Body<CreateTokenBody>,
) -> Result<(StatusCode, Json<MadeTokenView>), Problem> {
    let wanted = MakeToken {
        name: body.name,
        scope: body.scope.unwrap_or(Scope::Write),
        expires_at: body.expires_at,
    };
    let made = users.make_token(by, user, wanted).await?;
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
    AccountHolder(user, _): AccountHolder,
) -> Result<Json<TokensView>, Problem> {
    let tokens = users.tokens(user).await?;
    let tokens = tokens.into_iter().map(TokenView::from).collect();
    Ok(Json(TokensView { tokens }))
}

/// Revokes a token.
#[utoipa::path(
    delete,
    path = "/tokens/{id}",
    operation_id = "revoke_token",
    tag = "people",
    params(TokenPath),
    responses(
        (status = 204, description = "the token is revoked"),
        (status = 404, description = "`no_token`"),
    ),
)]
pub(crate) async fn revoke(
    State(users): State<Users>,
    AccountHolder(user, by): AccountHolder,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, Problem> {
    users.revoke_token(by, user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
