//! Writes the end of a turn to the log, together with the session's new state.

use deskhand_agent::{TurnEnd, TurnReport};
use deskhand_core::{
    event::{Complete, EventBody, Failure, Outcome},
    id::{MessageId, SessionId, TurnId},
    session::Signal,
};
use deskhand_store::{FinalAnswer, PhaseMove, Transition};

use super::{Turns, millis};

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) report: &'a TurnReport,
    /// True if the server is shutting down: a turn that this cut short is not over.
    pub(crate) is_parked: bool,
    /// True if it was stopped for a message that could not wait.
    pub(crate) is_interrupted: bool,
}

impl Turns {
    /// Writes the end of a turn to the log. Returns `false` if the store did not accept it.
    pub(crate) async fn close(&self, closing: Closing<'_>) -> bool {
        let transition = closing.transition();
        let closed = self.0.log.commit(closing.session, transition).await;
        if let Err(error) = &closed {
            tracing::error!(session.id = %closing.session, turn.id = %closing.turn, error = error as &dyn std::error::Error, "could \
                                                                                                                              not \
                                                                                                                              store \
                                                                                                                              the \
                                                                                                                              end \
                                                                                                                              of \
                                                                                                                              a \
                                                                                                                              turn");
        }
        closed.is_ok()
    }
}

impl Closing<'_> {
    fn transition(&self) -> Transition {
        let end = &self.report.end;
        if self.is_parked && matches!(end, TurnEnd::Stopped | TurnEnd::LogLost(_)) {
            let reason =
                "The server is shutting down. The agent goes on when the server starts again.";
            return Transition {
                reason: Some(reason.to_owned()),
                turn: Some(self.turn),
                ..Transition::default()
            };
        }
        Transition {
            phase: PhaseMove::Must(Signal::TurnFinished),
            events: vec![self.event()],
            answer: self.answer(),
            ..Transition::default()
        }
    }

    /// Returns the final message, if the model said anything.
    fn answer(&self) -> Option<FinalAnswer> {
        match &self.report.end {
            TurnEnd::Done { answer } if !answer.is_empty() => Some(FinalAnswer {
                id: MessageId::new(),
                turn: self.turn,
                content: answer.clone(),
            }),
            TurnEnd::Done { .. }
            | TurnEnd::Stopped
            | TurnEnd::Enough { .. }
            | TurnEnd::Failed(_)
            | TurnEnd::LogLost(_) => None,
        }
    }

    fn event(&self) -> EventBody {
        match &self.report.end {
            TurnEnd::Done { .. } => self.complete(Outcome::Done),
            TurnEnd::Stopped if self.is_interrupted => self.complete(Outcome::Interrupted),
            TurnEnd::Stopped => self.complete(Outcome::Stopped),
            TurnEnd::Enough { .. } => self.complete(Outcome::Enough),
            TurnEnd::Failed(failure) => EventBody::Error(Failure {
                turn: Some(self.turn),
                ..failure.clone()
            }),
            TurnEnd::LogLost(cause) => {
                tracing::error!(turn.id = %self.turn, error = cause as &dyn std::error::Error, "a turn ended because its log could not be written");
                let message =
                    "The agent was stopped because its actions could not be written to the log.";
                EventBody::Error(Failure {
                    turn: Some(self.turn),
                    code: "storage_failed".to_owned(),
                    message: message.to_owned(),
                })
            }
        }
    }

    fn complete(&self, outcome: Outcome) -> EventBody {
        let bound = match &self.report.end {
            TurnEnd::Enough { bound } => *bound,
            TurnEnd::Done { .. } | TurnEnd::Stopped | TurnEnd::Failed(_) | TurnEnd::LogLost(_) => {
                None
            }
        };
        EventBody::Complete(Complete {
            turn: self.turn,
            outcome,
            n_steps: self.report.n_steps,
            duration_ms: millis(self.report.duration),
            bound,
        })
    }
}
