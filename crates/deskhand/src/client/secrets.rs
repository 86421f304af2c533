//! Secrets.

use deskhand_core::{id::SessionId, secret::Secret};
use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{CallError, Client};

#[derive(Debug, Deserialize)]
pub(crate) struct StoredSecret {
    pub(crate) name: String,
    pub(crate) origins: Vec<String>,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) last_used_in: Option<SessionId>,
}

#[derive(Debug, Deserialize)]
struct Secrets {
    secrets: Vec<StoredSecret>,
}

impl Client {
    pub(crate) async fn put_secret(
        &self,
        name: &str,
        value: &Secret,
        origins: &[String],
    ) -> Result<(), CallError> {
        let body = json!({"value": value, "origins": origins});
        self.send(Method::PUT, &path(name), Some(body))
            .await
            .map(drop)
    }

    /// All secrets, by name.
    pub(crate) async fn secrets(&self) -> Result<Vec<StoredSecret>, CallError> {
        let secrets: Secrets = self.call(Method::GET, "/api/secrets", None).await?;
        Ok(secrets.secrets)
    }

    pub(crate) async fn remove_secret(&self, name: &str) -> Result<(), CallError> {
        self.send(Method::DELETE, &path(name), None).await.map(drop)
    }
}

fn path(name: &str) -> String {
    format!("/api/secrets/{name}")
}
