//! Deleting a run.

use deskhand_core::{
    eval::EvalState,
    id::{EvalId, UserId},
    viewer::Viewer,
};

use super::{Evals, FindEvalError};
use crate::{FindError, InternalError, refusal::refusals};

/// The reason why a run was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteEvalError {
    #[error("the eval {0} is running; stop it, or wait until it is done")]
    Running(EvalId),
    #[error(transparent)]
    Find(#[from] FindEvalError),
    #[error(transparent)]
    Session(#[from] FindError),
    #[error("could not delete the eval")]
    Internal(#[source] InternalError),
}

refusals! {
    DeleteEvalError passes on Find, Session, Internal;
    Self::Running(_) => Conflict("eval_running"),
}

impl Evals {
    /// Deletes a run that has ended with its results, and with the sessions of its trials if `with_sessions` is true.
    pub async fn delete(
        &self,
        owner: UserId,
        id: EvalId,
        with_sessions: bool,
    ) -> Result<(), DeleteEvalError> {
        let store = &self.0.store;
        let row = store.eval(owner, id).await?;
        if row.ok_or(FindEvalError::NoEval(id))?.state == EvalState::Running {
            return Err(DeleteEvalError::Running(id));
        }
        if with_sessions {
            // The run goes last, so that a deletion that was cut short can be repeated.
            self.delete_sessions(owner, id).await?;
        }
        if !store.delete_eval(owner, id).await? {
            return Err(FindEvalError::NoEval(id).into());
        }
        tracing::info!(eval.id = %id, "an eval was deleted");
        Ok(())
    }

    async fn delete_sessions(&self, owner: UserId, id: EvalId) -> Result<(), DeleteEvalError> {
        let trials = self.0.store.trials(id).await?;
        for session in trials.iter().filter_map(|trial| trial.session) {
            let deleted = self.0.sessions.delete(Viewer::User(owner), session);
            match deleted.await {
                // One that was handed over belongs to somebody else.
                Ok(()) | Err(FindError::NoSession(_) | FindError::NotAllowed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
