//! Models.

use deskhand_api::models::{CheckModelBody, ModelCheckView, ModelsView};

use super::{CallError, Client};

/// The path of checks, which take longer than other requests.
pub(super) const CHECK_PATH: &str = "/api/models/check";

impl Client {
    pub(crate) async fn models(&self) -> Result<ModelsView, CallError> {
        self.get("/api/models").await
    }

    pub(crate) async fn check_model(
        &self,
        check: &CheckModelBody,
    ) -> Result<ModelCheckView, CallError> {
        self.post(CHECK_PATH, check).await
    }
}
