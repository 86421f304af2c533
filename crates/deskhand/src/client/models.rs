//! Models.

use deskhand_api::models::ModelsView;

use super::{CallError, Client};

impl Client {
    pub(crate) async fn models(&self) -> Result<ModelsView, CallError> {
        self.get("/api/models").await
    }
}
