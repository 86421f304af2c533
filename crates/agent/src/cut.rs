//! The reasons why a turn ends before the model ends it, and the signals that cause them.

use deskhand_core::{blob::BlobError, budget::Bound};
use tokio_util::sync::CancellationToken;

use crate::ports::TurnLogError;

/// The reason why a turn ends before the model ends it.
#[derive(Debug)]
pub(crate) enum Cut {
    Stopped,
    /// The server shuts down while the turn waits for a person. The next start resumes the turn.
    Parked,
    /// The turn reached a bound, and a person chose to stop.
    Enough(Option<Bound>),
    Failed {
        code: &'static str,
        message: String,
    },
    LogLost(TurnLogError),
}

impl From<TurnLogError> for Cut {
    fn from(error: TurnLogError) -> Self {
        Self::LogLost(error)
    }
}

impl From<BlobError> for Cut {
    fn from(error: BlobError) -> Self {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "a turn ended because a picture could not be stored or read"
        );
        let (code, message) = match error {
            BlobError::Full(_) => (
                "storage_full",
                "No space is left for pictures, so the turn was ended. Free some space on the disk of the data \
                 folder, then send a new message to go on.",
            ),
            BlobError::Missing(_) | BlobError::Io(_) => (
                "storage_failed",
                "A picture could not be written to or read from the data folder, so the turn was \
                 ended. Check the data folder and the server's log, then send a new message to go \
                 on.",
            ),
        };
        Self::Failed {
            code,
            message: message.to_owned(),
        }
    }
}

/// The signals that end a turn from outside.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    pub(crate) stop: CancellationToken,
    /// Fires before `stop` when the server shuts down.
    pub(crate) parking: CancellationToken,
}

impl Signals {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits until the turn is stopped.
    pub(crate) fn stopped(&self) -> impl Future<Output = Cut> + use<> {
        let stop = self.stop.clone();
        async move {
            stop.cancelled().await;
            Cut::Stopped
        }
    }

    /// Waits until the server shuts down.
    pub(crate) fn parked(&self) -> impl Future<Output = Cut> + use<> {
        let parking = self.parking.clone();
        async move {
            parking.cancelled().await;
            Cut::Parked
        }
    }
}
