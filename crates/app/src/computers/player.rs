//! The player of the page that a session's browser shows, for those who run streams.
//!
//! Its uses are not logged: a stream is looked at every few seconds.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    blob::BlobFormat,
    browser::{Browse, BrowserFinding, BrowserVerb, PageMedia, PlayerWish},
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, Call, ComputerError, ComputerExt, Look},
    session::{Phase, Session},
    viewer::Viewer,
};
use futures::FutureExt;
use sha2::{Digest, Sha256};

use super::{ActByHandError, Computers, check_screen};
use crate::{live::AwakeGuard, session_computer::SessionComputer, sessions::find::find_with};

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

/// The computer of a session that is kept awake until this is dropped.
#[derive(Debug)]
pub struct KeptComputer {
    computer: Weak<SessionComputer>,
    _awake: AwakeGuard,
}

impl KeptComputer {
    /// Returns true while this computer runs. Another one that was started for the session does not count.
    pub fn runs(&self) -> bool {
        let computer = self.computer.upgrade();
        computer.is_some_and(|computer| computer.ended().now_or_never().is_none())
    }
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
    /// The computer was lost, or does not run.
    #[error("the computer was lost")]
    Lost,
    /// A person has mouse and keyboard.
    #[error("a person has control of the session")]
    Held,
}

impl Computers {
    /// Keeps a session awake, and starts its computer if it does not run. Its programs may use the network, as after a
    /// command in a terminal.
    pub async fn keep_computer(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<KeptComputer, PlayerError> {
        let session = self.session_of_stream(Right::Drive, user, id).await?;
        let guard = self.0.live.wake(&session).await;
        let guard = guard.map_err(ActByHandError::from)?;
        guard.activity.note_directed();
        let computer = guard.desk.computer().await;
        let computer = computer.map_err(ActByHandError::NoSandbox)?;
        Ok(KeptComputer {
            computer: Arc::downgrade(&computer),
            _awake: guard,
        })
    }

    /// Returns true while a person has control of a session.
    pub fn is_held(&self, id: SessionId) -> bool {
        self.0.live.attendance(id).held().is_some()
    }

    /// Waits while a person has control of a session.
    pub async fn until_free(&self, id: SessionId) {
        self.0.live.attendance(id).free().await;
    }

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

    /// Returns the computer if it runs and nobody has control. Its programs may use the network, as after a command in a
    /// terminal.
    pub(super) async fn computer_of_stream(
        &self,
        needed: Right,
        user: UserId,
        id: SessionId,
    ) -> Result<Arc<SessionComputer>, PlayerError> {
        self.session_of_stream(needed, user, id).await?;
        // The sandbox would obey if it is this user who has control.
        if self.is_held(id) {
            return Err(PlayerError::Held);
        }
        let live = self.0.live.get(id).ok_or(PlayerError::Lost)?;
        live.activity.note_directed();
        live.desk.running().ok_or(PlayerError::Lost)
    }

    async fn session_of_stream(
        &self,
        needed: Right,
        user: UserId,
        id: SessionId,
    ) -> Result<Session, PlayerError> {
        let found = find_with(&self.0.store, needed, Viewer::User(user), id).await;
        let session = found.map_err(ActByHandError::from)?;
        check_screen(&session).map_err(ActByHandError::from)?;
        if session.phase == Phase::Terminated {
            return Err(ActByHandError::Ended(id).into());
        }
        Ok(session)
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
