//! A user's secrets, which their agents can use but never see.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::secrets::{HttpUseBody, PutSecretBody, SecretView, SecretsView};
use deskhand_app::{StoreSecret, Vault};
use deskhand_core::vault::{BadSecret, Origin, SecretName};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::AccountHolder,
    extract::{Body, Name},
    paths::SecretPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(put, remove))
}

/// Lists your secrets, without their values.
#[utoipa::path(
    get,
    path = "/secrets",
    operation_id = "list_secrets",
    tag = "people",
    responses((status = 200, description = "your secrets, by name", body = SecretsView)),
)]
pub(crate) async fn list(
    State(vault): State<Vault>,
    AccountHolder(user, _): AccountHolder,
) -> Result<Json<SecretsView>, Problem> {
    let secrets = vault.list(user).await?;
    let secrets = secrets.into_iter().map(SecretView::from).collect();
    Ok(Json(SecretsView { secrets }))
}

/// Stores a secret, and replaces the one with this name.
#[utoipa::path(
    put,
    path = "/secrets/{name}",
    operation_id = "put_secret",
    tag = "people",
    params(SecretPath),
    request_body = PutSecretBody,
    responses(
        (status = 204, description = "the secret is stored"),
        (status = 400, description = "`bad_secret`"),
        (status = 409, description = "`variable_taken`: another secret has this environment variable"),
        (status = 429, description = "`too_many_secrets`"),
        (status = 503, description = "`secrets_locked`: the server's key is missing or wrong"),
    ),
)]
pub(crate) async fn put(
    State(vault): State<Vault>,
    AccountHolder(user, by): AccountHolder,
    Name(name): Name,
    Body(body): Body<PutSecretBody>,
) -> Result<StatusCode, Problem> {
    let name: SecretName = name.parse()?;
    let origins = body.origins.iter().map(|origin| origin.parse());
    let origins = origins.collect::<Result<Vec<Origin>, BadSecret>>()?;
    let http = body.http.as_ref().map(HttpUseBody::parse).transpose()?;
    let secret = StoreSecret {
        name: &name,
        value: &body.value,
        origins: &origins,
        http: http.as_ref(),
    };
    vault.put(by, user, secret).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a secret.
#[utoipa::path(
    delete,
    path = "/secrets/{name}",
    operation_id = "remove_secret",
    tag = "people",
    params(SecretPath),
    responses(
        (status = 204, description = "the secret is removed"),
        (status = 404, description = "`no_secret`"),
    ),
)]
pub(crate) async fn remove(
    State(vault): State<Vault>,
    AccountHolder(user, by): AccountHolder,
    Name(name): Name,
) -> Result<StatusCode, Problem> {
    vault.remove(by, user, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
