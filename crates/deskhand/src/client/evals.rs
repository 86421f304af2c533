//! Evals.

use deskhand_api::evals::{EvalResultsView, EvalView, EvalsView, StartEvalBody};
use deskhand_core::id::EvalId;
use reqwest::Method;

use super::{CallError, Client, NO_BODY};

impl Client {
    pub(crate) async fn start_eval(
        &self,
        wanted: &StartEvalBody,
    ) -> Result<EvalResultsView, CallError> {
        self.post("/api/evals", wanted).await
    }

    /// Lists the newest evals.
    pub(crate) async fn evals(&self) -> Result<Vec<EvalView>, CallError> {
        let page: EvalsView = self.get("/api/evals").await?;
        Ok(page.evals)
    }

    pub(crate) async fn show_eval(&self, id: EvalId) -> Result<EvalResultsView, CallError> {
        self.get(&format!("/api/evals/{id}")).await
    }

    pub(crate) async fn stop_eval(&self, id: EvalId) -> Result<EvalResultsView, CallError> {
        let path = format!("/api/evals/{id}/stop");
        self.call(Method::POST, &path, NO_BODY).await
    }
}
