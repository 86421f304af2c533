//! The player of the page that a session's browser shows, for those who run streams.
//!
//! Its uses are not logged: a stream is looked at every few seconds.

use std::sync::Arc;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    blob::BlobFormat,
    browser::{Browse, BrowserFinding, BrowserVerb, PageMedia, PlayerWish},
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, Call, ComputerError, ComputerExt, Look},
    viewer::Viewer,
};
use sha2::{Digest, Sha256};

use super::{ActByHandError, Computers, check_screen};
use crate::{session_computer::SessionComputer, sessions::find::find_with};

/// The size of the pictures by which changes of the screen are noticed.
const GLANCE: ScreenSize = ScreenSize {
    width: 160,
    height: 120,
};

/// The player and the screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerSight {
    pub media: PageMedia,
    /// Differs from the one before if the screen has changed.
    pub screen: [u8; 32],
    /// The size of the picture that was looked at.
    pub n_picture_bytes: usize,
}

/// The reason why a player was not used.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The session cannot be used, or no sandbox starts.
    #[error(transparent)]
    Desk(#[from] ActByHandError),
    /// The page does not answer, or its tab has crashed.
    #[error("the page does not answer: {0}")]
    Page(String),
    /// The sandbox was lost.
    #[error("the computer was lost")]
    Lost,
    /// A person has mouse and keyboard.
    #[error("a person has control of the session")]
    Held,
}

impl Computers {
    /// Asks the player of the current page for something, and returns its state after that.
    pub async fn use_player(
        &self,
        user: UserId,
        id: SessionId,
        wish: PlayerWish,
    ) -> Result<PageMedia, PlayerError> {
        let browse = Browse::new(BrowserVerb::Player(wish));
        let browsed = self.browse(user, id, browse).await?;
        let BrowserFinding::Media(media) = browsed.finding else {
            return Err(PlayerError::Page("another verb was answered".to_owned()));
        };
        Ok(media)
    }

    /// Looks at the player and the screen.
    pub async fn watch_player(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<PlayerSight, PlayerError> {
        let media = self.use_player(user, id, PlayerWish::Look).await?;
        let picture = self.glance(user, id).await?;
        Ok(PlayerSight {
            media,
            screen: Sha256::digest(&picture).into(),
            n_picture_bytes: picture.len(),
        })
    }

    async fn glance(&self, user: UserId, id: SessionId) -> Result<Bytes, PlayerError> {
        let computer = self.computer_of_stream(Right::Drive, user, id).await?;
        let look = Look {
            format: BlobFormat::Png,
            shown: Some(GLANCE),
        };
        let looked = computer.perform(Call::by(Actor::Person(user)), look).await;
        Ok(looked.map_err(problem)?.bytes)
    }

    /// Returns the computer, started if it does not run. Its programs may use the network, as after a command in a
    /// terminal.
    pub(super) async fn computer_of_stream(
        &self,
        needed: Right,
        user: UserId,
        id: SessionId,
    ) -> Result<Arc<SessionComputer>, PlayerError> {
        let found = find_with(&self.0.store, needed, Viewer::User(user), id).await;
        let session = found.map_err(ActByHandError::from)?;
        check_screen(&session).map_err(ActByHandError::from)?;
        let guard = self.0.live.wake(&session).await;
        let guard = guard.map_err(ActByHandError::from)?;
        guard.activity.note_directed();
        let computer = guard.desk.computer().await;
        Ok(computer.map_err(ActByHandError::NoSandbox)?)
    }
}

pub(super) fn problem(error: ComputerError) -> PlayerError {
    match error {
        ComputerError::Refused { .. } => PlayerError::Held,
        ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_) => {
            PlayerError::Lost
        }
        ComputerError::Failed(text) => PlayerError::Page(text),
        ComputerError::Cancelled
        | ComputerError::NothingListens(_)
        | ComputerError::NoSoundCard => PlayerError::Page(error.to_string()),
    }
}
