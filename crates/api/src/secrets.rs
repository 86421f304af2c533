//! Secrets that agents type or have sent, and never see.

use deskhand_core::{
    id::SessionId,
    secret::Secret,
    vault::{BadSecret, HttpUse, Origin, SecretHeader, SecretName, SecretVariable, StoredSecret},
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

/// A secret to store.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PutSecret)]
#[serde(deny_unknown_fields)]
pub struct PutSecretBody {
    /// The text to type or to send. It cannot be read again.
    #[schema(value_type = String, write_only, min_length = 4, max_length = 1024, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(deserialize_with = "unrepeated")]
    pub value: Secret,
    /// The sites where it can be used: scheme, host and port, such as `https://example.com`.
    #[schema(min_items = 1, max_items = 20)]
    pub origins: Vec<String>,
    /// Present for a secret that programs send to HTTP APIs. It is never typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub http: Option<HttpUseBody>,
}

/// The use of a secret in requests to HTTP APIs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PutHttpUse)]
#[serde(deny_unknown_fields)]
pub struct HttpUseBody {
    /// The headers in which the value takes the place of its stand-in, such as `authorization`.
    #[schema(min_items = 1, max_items = 8)]
    pub headers: Vec<String>,
    /// The environment variable in which programs find the stand-in, such as `GITHUB_TOKEN`.
    #[schema(min_length = 1, max_length = 64)]
    pub env: String,
}

/// A stored secret without its value.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Secret)]
pub struct SecretView {
    #[schema(value_type = String, pattern = "^[a-z0-9_-]{1,64}$")]
    pub name: SecretName,
    /// The sites where it can be used.
    #[schema(value_type = Vec<String>)]
    pub origins: Vec<Origin>,
    /// Present if programs send it to HTTP APIs. It is never typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub http: Option<HttpUseView>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The time at which it was last typed or sent.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    /// The session of the last use.
    #[schema(required, value_type = Option<Uuid>)]
    pub last_used_in: Option<SessionId>,
}

/// The use of a secret in requests to HTTP APIs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HttpUse)]
pub struct HttpUseView {
    /// The headers in which the value takes the place of its stand-in.
    #[schema(value_type = Vec<String>)]
    pub headers: Vec<SecretHeader>,
    /// The environment variable in which programs find the stand-in.
    #[schema(value_type = String)]
    pub env: SecretVariable,
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
            http: secret.http.map(HttpUseView::from),
            created_at: secret.created_at,
            updated_at: secret.updated_at,
            last_used_at: secret.last_use.map(|last| last.at),
            last_used_in: secret.last_use.map(|last| last.session),
        }
    }
}

impl From<HttpUse> for HttpUseView {
    fn from(http: HttpUse) -> Self {
        let HttpUse { headers, env } = http;
        Self { headers, env }
    }
}

impl HttpUseBody {
    /// Parses the names.
    pub fn parse(&self) -> Result<HttpUse, BadSecret> {
        let headers = self.headers.iter().map(|header| header.parse());
        Ok(HttpUse {
            headers: headers.collect::<Result<_, _>>()?,
            env: self.env.parse()?,
        })
    }
}

/// Deserializes a text. The error of the default deserializer would repeat the value.
fn unrepeated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let text = value.as_str().map(Secret::new);
    text.ok_or_else(|| de::Error::custom("the value must be a text"))
}
