//! Secrets that agents type and never see.

use deskhand_core::{
    id::SessionId,
    secret::Secret,
    vault::{Origin, SecretName, StoredSecret},
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

/// A secret to store.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PutSecret)]
#[serde(deny_unknown_fields)]
pub struct PutSecretBody {
    /// The text to type. It cannot be read again.
    #[schema(value_type = String, write_only, min_length = 4, max_length = 1024, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(deserialize_with = "unrepeated")]
    pub value: Secret,
    /// The pages into which agents can type it: scheme, host and port, such as `https://example.com`.
    #[schema(min_items = 1, max_items = 20)]
    pub origins: Vec<String>,
}

/// A stored secret without its value.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Secret)]
pub struct SecretView {
    #[schema(value_type = String, pattern = "^[a-z0-9_-]{1,64}$")]
    pub name: SecretName,
    /// The pages into which agents can type it.
    #[schema(value_type = Vec<String>)]
    pub origins: Vec<Origin>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The time at which an agent last typed it.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    /// The session of the last use.
    #[schema(required, value_type = Option<Uuid>)]
    pub last_used_in: Option<SessionId>,
}

/// Your secrets.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Secrets)]
pub struct SecretsView {
    pub secrets: Vec<SecretView>,
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

/// Deserializes a text. The error of the default deserializer would repeat the value.
fn unrepeated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let text = value.as_str().map(Secret::new);
    text.ok_or_else(|| de::Error::custom("the value must be a text"))
}
