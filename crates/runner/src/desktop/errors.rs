//! Errors of the desktop.

use std::{io, path::PathBuf, time::Duration};

use deskhand_core::action::BadAction;

use super::{BrowseError, FillError, PictureError, UnknownKey, Untypable, XError};

/// Reasons why a desktop did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartDesktopError {
    #[error("{program} is not installed: install the package {package}")]
    Missing {
        program: String,
        package: &'static str,
    },
    #[error("could not start {program}")]
    Spawn {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("the X server did not start: {0}")]
    NoServer(String),
    #[error("cannot use the folder {path}")]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the X server started but cannot be used")]
    X(#[from] XError),
}

/// Reasons why an action was not carried out, or a picture not taken.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    #[error(transparent)]
    Bad(#[from] BadAction),
    #[error(transparent)]
    Key(#[from] UnknownKey),
    #[error(transparent)]
    Text(#[from] Untypable),
    #[error("this computer has no screen, mouse or keyboard: use the tool browser")]
    NoScreen,
    #[error(transparent)]
    Page(#[from] BrowseError),
    #[error("the action was cancelled")]
    Cancelled,
    /// See [`Desktop::ended`].
    #[error("the desktop has ended")]
    Ended,
    #[error("the X server did not answer within {} s", .0.as_secs())]
    NoAnswer(Duration),
    #[error("the X server failed")]
    X(#[source] XError),
    #[error(transparent)]
    Fill(#[from] FillError),
    #[error("could not make the picture")]
    Picture(#[from] PictureError),
}

impl From<XError> for ActError {
    fn from(error: XError) -> Self {
        match error {
            XError::Connection(_) => Self::Ended,
            XError::Connect(_) | XError::Refused(_) | XError::Unfit(_) | XError::Memory(_) => {
                Self::X(error)
            }
        }
    }
}
