//! A user's secrets, which their agents type and never see.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::Vault;
use deskhand_core::{
    id::SessionId,
    secret::Secret,
    vault::{BadSecret, Origin, SecretName, StoredSecret},
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::AccountHolder,
    extract::{Body, Name},
    problem::Problem,
    schema::SecretPath,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(put, remove))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = PutSecret)]
#[serde(deny_unknown_fields)]
pub(crate) struct Put {
    /// What is typed. It cannot be read again.
    #[schema(value_type = String, write_only, min_length = 4, max_length = 1024, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(deserialize_with = "unrepeated")]
    value: Secret,
    /// Where it may be typed: scheme, host and port of the page, such as `https://example.com`.
    #[schema(min_items = 1, max_items = 20)]
    origins: Vec<String>,
}

/// What is known of a secret. Its value is not.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Secret)]
pub(crate) struct SecretView {
    #[schema(value_type = String, pattern = "^[a-z0-9_-]{1,64}$")]
    name: SecretName,
    /// Where it may be typed.
    #[schema(value_type = Vec<String>)]
    origins: Vec<Origin>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// When an agent last typed it.
    #[schema(required)]
    last_used_at: Option<Timestamp>,
    /// In which session.
    #[schema(required, value_type = Option<uuid::Uuid>)]
    last_used_in: Option<SessionId>,
}

/// Your secrets.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Secrets)]
pub(crate) struct SecretsView {
    secrets: Vec<SecretView>,
}

impl From<StoredSecret> for SecretView {
    fn from(secret: StoredSecret) -> Self {
        Self {
            name: secret.name,
            origins: secret.origins,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
            last_used_at: secret.last_use.map(|last| last.at),
            last_used_in: secret.last_use.map(|last| last.session),
        }
    }
}

/// Reads a text. An error of the usual reader would repeat what stands there instead.
fn unrepeated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let text = value.as_str().map(Secret::new);
    text.ok_or_else(|| de::Error::custom("the value must be a text"))
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
    AccountHolder(user): AccountHolder,
) -> Result<Json<SecretsView>, Problem> {
    let secrets = vault.list(user).await?;
    let secrets = secrets.into_iter().map(SecretView::from).collect();
    Ok(Json(SecretsView { secrets }))
}

/// Stores a secret, in place of the one with this name.
#[utoipa::path(
    put,
    path = "/secrets/{name}",
    operation_id = "put_secret",
    tag = "people",
    params(SecretPath),
    request_body = Put,
    responses(
        (status = 204, description = "it is stored"),
        (status = 400, description = "`bad_secret`"),
        (status = 429, description = "`too_many_secrets`"),
        (status = 503, description = "`secrets_locked`: the server's key is missing or wrong"),
    ),
)]
pub(crate) async fn put(
    State(vault): State<Vault>,
    AccountHolder(user): AccountHolder,
    Name(name): Name,
    Body(body): Body<Put>,
) -> Result<StatusCode, Problem> {
    let name: SecretName = name.parse()?;
    let origins = body.origins.iter().map(|origin| origin.parse());
    let origins = origins.collect::<Result<Vec<Origin>, BadSecret>>()?;
    vault.put(user, &name, &body.value, &origins).await?;
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
        (status = 204, description = "it is gone"),
        (status = 404, description = "`no_secret`"),
    ),
)]
pub(crate) async fn remove(
    State(vault): State<Vault>,
    AccountHolder(user): AccountHolder,
    Name(name): Name,
) -> Result<StatusCode, Problem> {
    vault.remove(user, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
