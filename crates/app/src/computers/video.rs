//! The screen of a session's computer as video, for everybody who may see the session.

use deskhand_core::{id::SessionId, sandbox::ComputerError, viewer::Viewer};

use super::{Computers, NoScreen, check_screen};
use crate::{FindError, refusal::refusals, session_computer::VideoViewer, sessions::find::find};

/// The reason why there is no video.
#[derive(Debug, thiserror::Error)]
pub enum WatchVideoError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error("session {0} has no running computer; it starts with the next message")]
    NoSandbox(SessionId),
    #[error("the screen of session {0} cannot be filmed; start the computer again")]
    Broken(SessionId),
}

refusals! {
    WatchVideoError passes on Find, NoScreen;
    Self::NoSandbox(_) => Conflict("no_sandbox"),
    Self::Broken(_) => Unavailable("video_failed"),
}

impl Computers {
    /// Lets somebody watch the screen as video. It is filmed and encoded once for all who watch, and only while somebody
    /// does. It wakes no session.
    pub async fn watch_video(
        &self,
        viewer: Viewer,
        id: SessionId,
    ) -> Result<VideoViewer, WatchVideoError> {
        let session = find(&self.0.store, viewer, id).await?;
        check_screen(&session)?;
        let computer = self.0.live.running_computer(id);
        let computer = computer.ok_or(WatchVideoError::NoSandbox(id))?;
        let viewer = computer.watch_video(&self.0.tasks).await;
        viewer.map_err(|error| match error {
            ComputerError::Gone | ComputerError::Ended(_) | ComputerError::FateUnknown => {
                WatchVideoError::NoSandbox(id)
            }
            ComputerError::Failed(_)
            | ComputerError::Refused { .. }
            | ComputerError::NothingListens(_)
            | ComputerError::NoSoundCard
            | ComputerError::Cancelled => {
                tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "could not film the screen");
                WatchVideoError::Broken(id)
            }
        })
    }
}
