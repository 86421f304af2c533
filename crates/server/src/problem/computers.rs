//! What computers and their pictures refuse.

use axum::http::StatusCode;
use deskhand_app::{ActByHandError, ControlError, OpenScreenError, ScreenshotError, WakeError};
use deskhand_core::blob::BlobError;

use super::Problem;

impl From<WakeError> for Problem {
    fn from(error: WakeError) -> Self {
        match error {
            WakeError::TooMany {
                used,
                limit,
                frees_at,
            } => Self::limit("too_many_awake", error, (used, limit), frees_at),
            WakeError::Store(error) => error.into(),
        }
    }
}

impl From<OpenScreenError> for Problem {
    fn from(error: OpenScreenError) -> Self {
        match error {
            OpenScreenError::Find(error) => error.into(),
            OpenScreenError::NoSandbox(_) => {
                Self::refuse(StatusCode::CONFLICT, "no_sandbox", error)
            }
            OpenScreenError::Wake(error) => error.into(),
        }
    }
}

impl From<ScreenshotError> for Problem {
    fn from(error: ScreenshotError) -> Self {
        match error {
            ScreenshotError::Find(error) => error.into(),
            ScreenshotError::None(_) => Self::refuse(StatusCode::NOT_FOUND, "no_screenshot", error),
            ScreenshotError::NoBlob(_) => Self::refuse(StatusCode::NOT_FOUND, "no_blob", error),
            ScreenshotError::Blob(error) => error.into(),
            ScreenshotError::Store(error) => error.into(),
        }
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Full(_) => {
                Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "storage_full", error)
            }
            BlobError::Missing(_) | BlobError::Io(_) => Self::internal(&error),
        }
    }
}

impl From<ActByHandError> for Problem {
    fn from(error: ActByHandError) -> Self {
        match error {
            ActByHandError::Find(error) => error.into(),
            ActByHandError::BadCall(_)
            | ActByHandError::BadAction(_)
            | ActByHandError::NotByHand(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_action", error)
            }
            ActByHandError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            ActByHandError::AgentIsDriving(_) => {
                Self::refuse(StatusCode::CONFLICT, "agent_is_driving", error)
            }
            ActByHandError::SomebodyElseDrives { ref lease, .. } => {
                Self::somebody_else_drives(lease, &error)
            }
            ActByHandError::NoSandbox(_) => {
                Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "no_sandbox", error)
            }
            ActByHandError::Wake(error) => error.into(),
            ActByHandError::Blob(error) => error.into(),
            ActByHandError::Store(error) => error.into(),
        }
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Find(error) => error.into(),
            ControlError::Seconds(_) => Self::refuse(StatusCode::BAD_REQUEST, "bad_seconds", error),
            ControlError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            ControlError::SomebodyElse { ref lease, .. } => {
                Self::somebody_else_drives(lease, &error)
            }
            ControlError::Store(error) => error.into(),
            ControlError::BrokeOff => Self::internal(&error),
        }
    }
}
