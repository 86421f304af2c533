//! What people are asked, and their answers.

use deskhand_core::{
    decision::{DecisionKind, Form, Subject},
    id::{DecisionId, SessionId},
};
use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{CallError, Client};

/// Something an agent asks.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Decision {
    pub(crate) id: DecisionId,
    pub(crate) session_id: SessionId,
    pub(crate) session_title: String,
    pub(crate) kind: DecisionKind,
    pub(crate) prompt: String,
    pub(crate) form: Form,
    pub(crate) subject: Option<Subject>,
    pub(crate) expires_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct DecisionPage {
    decisions: Vec<Decision>,
    next: Option<DecisionId>,
}

impl Client {
    /// Everything that waits for an answer of ours, newest first.
    pub(crate) async fn decisions(&self) -> Result<Vec<Decision>, CallError> {
        let mut decisions = Vec::new();
        let mut path = "/api/decisions?limit=200".to_owned();
        loop {
            let page: DecisionPage = self.call(Method::GET, &path, None).await?;
            decisions.extend(page.decisions);
            match page.next {
                Some(next) => path = format!("/api/decisions?limit=200&before={next}"),
                None => return Ok(decisions),
            }
        }
    }

    pub(crate) async fn answer(
        &self,
        session: SessionId,
        decision: DecisionId,
        answer: Value,
    ) -> Result<(), CallError> {
        let path = format!("/api/sessions/{session}/decisions/{decision}/answer");
        let _decision: Value = self.call(Method::POST, &path, Some(answer)).await?;
        Ok(())
    }
}
