//! What sessions, their messages, their questions and their guests refuse.

use axum::http::StatusCode;
use deskhand_app::{
    AnswerError, BadInstructions, ChangeMessageError, ChangeSessionError, CreateSessionError,
    FindError, JoinError, SendPromptError, SetApprovalsError, ShareError, StopTurnError,
};
use deskhand_core::model::UnknownModel;
use serde_json::json;

use super::Problem;

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NoSession(_) => Self::refuse(StatusCode::NOT_FOUND, "no_session", error),
            FindError::NotAllowed { has, needed, .. } => {
                Self::refuse(StatusCode::FORBIDDEN, "not_allowed", error)
                    .with(json!({"has": has, "needed": needed}))
            }
            FindError::AfterNewest { after, newest } => {
                Self::refuse(StatusCode::BAD_REQUEST, "after_newest", error)
                    .with(json!({"after": after, "newest": newest}))
            }
            FindError::Store(error) => error.into(),
        }
    }
}

impl From<UnknownModel> for Problem {
    fn from(error: UnknownModel) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "unknown_model", error)
    }
}

impl From<BadInstructions> for Problem {
    fn from(error: BadInstructions) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "bad_instructions", error)
    }
}

impl From<CreateSessionError> for Problem {
    fn from(error: CreateSessionError) -> Self {
        match error {
            CreateSessionError::UnknownModel(error) => error.into(),
            CreateSessionError::BadInstructions(error) => error.into(),
            CreateSessionError::LongTitle => {
                Self::refuse(StatusCode::BAD_REQUEST, "long_title", error)
            }
            CreateSessionError::Wake(error) => error.into(),
            CreateSessionError::TooManyToday {
                used,
                limit,
                frees_at,
            } => Self::limit("too_many_today", error, (used, limit), frees_at),
            CreateSessionError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            CreateSessionError::BadBudget(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_budget", error)
            }
            CreateSessionError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeSessionError> for Problem {
    fn from(error: ChangeSessionError) -> Self {
        match error {
            ChangeSessionError::Nothing => Self::malformed(error),
            ChangeSessionError::UnknownModel(error) => error.into(),
            ChangeSessionError::BadInstructions(error) => error.into(),
            ChangeSessionError::LongTitle => {
                Self::refuse(StatusCode::BAD_REQUEST, "long_title", error)
            }
            ChangeSessionError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            ChangeSessionError::BadBudget(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_budget", error)
            }
            ChangeSessionError::Ended(_) => {
                Self::refuse(StatusCode::CONFLICT, "session_ended", error)
            }
            ChangeSessionError::Find(error) => error.into(),
        }
    }
}

impl From<SendPromptError> for Problem {
    fn from(error: SendPromptError) -> Self {
        match error {
            SendPromptError::Find(error) => error.into(),
            SendPromptError::UnknownModel(error) => error.into(),
            SendPromptError::Empty => Self::refuse(StatusCode::BAD_REQUEST, "empty_message", error),
            SendPromptError::Nul => Self::malformed(error),
            SendPromptError::Long(_) => {
                Self::refuse(StatusCode::PAYLOAD_TOO_LARGE, "long_message", error)
            }
            SendPromptError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            SendPromptError::QueueFull { n_waiting, .. } => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "queue_full", error)
                    .with(json!({"n_waiting": n_waiting}))
            }
            SendPromptError::Wake(error) => error.into(),
            SendPromptError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeMessageError> for Problem {
    fn from(error: ChangeMessageError) -> Self {
        match error {
            ChangeMessageError::Find(error) => error.into(),
            ChangeMessageError::Content(error) => error.into(),
            ChangeMessageError::UnknownModel(error) => error.into(),
            ChangeMessageError::Nothing | ChangeMessageError::BeforeItself => {
                Self::malformed(error)
            }
            ChangeMessageError::Taken(_) => {
                Self::refuse(StatusCode::CONFLICT, "message_taken", error)
            }
            ChangeMessageError::NotWaiting(_) => {
                Self::refuse(StatusCode::NOT_FOUND, "no_message", error)
            }
            ChangeMessageError::Store(error) => error.into(),
        }
    }
}

impl From<StopTurnError> for Problem {
    fn from(error: StopTurnError) -> Self {
        match error {
            StopTurnError::Find(error) => error.into(),
            StopTurnError::NotRunning(_) => {
                Self::refuse(StatusCode::CONFLICT, "not_running", error)
            }
        }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Find(error) => error.into(),
            AnswerError::NoDecision { .. } => {
                Self::refuse(StatusCode::NOT_FOUND, "no_decision", error)
            }
            AnswerError::BadReply(_) => {
                Self::refuse(StatusCode::UNPROCESSABLE_ENTITY, "bad_answer", error)
            }
            AnswerError::NotAdministrator => {
                Self::refuse(StatusCode::FORBIDDEN, "not_administrator", error)
            }
            AnswerError::Settled(ref named) => {
                let details = json!({
                    "state": named.decision.state,
                    "answered_by": named.decision.answered_by,
                    "answered_by_name": named.answered_by_name,
                    "settled_at": named.decision.settled_at,
                });
                Self::refuse(StatusCode::CONFLICT, "settled", &error).with(details)
            }
            AnswerError::Store(error) => error.into(),
        }
    }
}

impl From<SetApprovalsError> for Problem {
    fn from(error: SetApprovalsError) -> Self {
        match error {
            SetApprovalsError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            SetApprovalsError::Store(error) => error.into(),
        }
    }
}

impl From<ShareError> for Problem {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::Find(error) => error.into(),
            ShareError::NotToGive => Self::refuse(StatusCode::BAD_REQUEST, "bad_right", error),
            ShareError::Over(_) => Self::refuse(StatusCode::BAD_REQUEST, "over", error),
            ShareError::TooMany(_) => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_shares", error)
            }
            ShareError::NoShare { .. } => Self::refuse(StatusCode::NOT_FOUND, "no_share", error),
            ShareError::Store(error) => error.into(),
        }
    }
}

impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::NoShare => Self::refuse(StatusCode::NOT_FOUND, "no_share", error),
            JoinError::Full => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_people", error)
            }
            JoinError::Store(error) => error.into(),
        }
    }
}
