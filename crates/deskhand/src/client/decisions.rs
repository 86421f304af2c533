//! Decisions that wait for people, and their answers.

use deskhand_api::decisions::{AnswerBody, DecisionView, DecisionsView};
use deskhand_core::id::{DecisionId, SessionId};

use super::{CallError, Client};

impl Client {
    /// Lists all decisions that wait for an answer from this user, newest first.
    pub(crate) async fn decisions(&self) -> Result<Vec<DecisionView>, CallError> {
        let mut decisions = Vec::new();
        let mut path = "/api/decisions?limit=200".to_owned();
        loop {
            let page: DecisionsView = self.get(&path).await?;
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
        answer: &AnswerBody,
    ) -> Result<(), CallError> {
        let path = format!("/api/sessions/{session}/decisions/{decision}/answer");
        let _decision: DecisionView = self.post(&path, answer).await?;
        Ok(())
    }
}
