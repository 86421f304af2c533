//! Secrets.

use deskhand_api::secrets::{PutSecretBody, SecretView, SecretsView};
use reqwest::Method;

use super::{CallError, Client};

impl Client {
    pub(crate) async fn put_secret(
        &self,
        name: &str,
        secret: &PutSecretBody,
    ) -> Result<(), CallError> {
        let path = path(name);
        let put = self.send(Method::PUT, &path, Some(secret)).await;
        put.map(drop)
    }

    /// Lists all secrets, by name.
    pub(crate) async fn secrets(&self) -> Result<Vec<SecretView>, CallError> {
        let secrets: SecretsView = self.get("/api/secrets").await?;
        Ok(secrets.secrets)
    }

    pub(crate) async fn remove_secret(&self, name: &str) -> Result<(), CallError> {
        self.delete(&path(name)).await
    }
}

fn path(name: &str) -> String {
    format!("/api/secrets/{name}")
}
