//! The sound of a session's computer, for everybody who may see the session.

use deskhand_core::{id::SessionId, sandbox::ComputerError, viewer::Viewer};

use super::{Computers, NoScreen, check_screen};
use crate::{FindError, refusal::refusals, session_computer::SoundListener, sessions::find::find};

/// The reason why the sound cannot be heard.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error("session {0} has no running computer; it starts with the next message")]
    NoSandbox(SessionId),
    #[error(
        "the computer of session {0} has no sound card, since PulseAudio is not installed: run `apt-get install \
         pulseaudio` on its machine, and start the computer again"
    )]
    NoSoundCard(SessionId),
    #[error("the sound card of session {0} does not work; start the computer again")]
    Broken(SessionId),
}

refusals! {
    ListenError passes on Find, NoScreen;
    Self::NoSandbox(_) => Conflict("no_sandbox"),
    Self::NoSoundCard(_) => Conflict("no_sound_card"),
    Self::Broken(_) => Unavailable("sound_failed"),
}

impl Computers {
    /// Lets somebody hear the computer. Sound is captured and encoded once for all who listen, and only while somebody
    /// does. It wakes no session.
    pub async fn listen(
        &self,
        viewer: Viewer,
        id: SessionId,
    ) -> Result<SoundListener, ListenError> {
        let session = find(&self.0.store, viewer, id).await?;
        check_screen(&session)?;
        let computer = self.0.live.running_computer(id);
        let computer = computer.ok_or(ListenError::NoSandbox(id))?;
        let listener = computer.listen(&self.0.tasks).await;
        listener.map_err(|error| match error {
            ComputerError::NoSoundCard => ListenError::NoSoundCard(id),
            ComputerError::Gone | ComputerError::Ended(_) | ComputerError::FateUnknown => {
                ListenError::NoSandbox(id)
            }
            ComputerError::Failed(_)
            | ComputerError::Refused { .. }
            | ComputerError::NothingListens(_)
            | ComputerError::Cancelled => {
                tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "could not capture the sound");
                ListenError::Broken(id)
            }
        })
    }
}
