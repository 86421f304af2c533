//! The computers of sessions, as people use them: watching the screen and hearing the sound, pictures, and actions by
//! hand.

mod by_hand;
mod clipboard;
mod no_screen;
mod player;
mod sound;
mod stream_steps;
mod video;

use std::sync::Arc;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    blob::{BlobError, BlobFormat, BlobName, Blobs},
    clock::Clock,
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, ByteStream, Call, ComputerExt, Look, StreamTarget, Streams},
    session::Phase,
    tasks::Tasks,
    viewer::Viewer,
};
use deskhand_store::Store;

pub use by_hand::{ActByHand, ActByHandError, ByHand};
pub use clipboard::ClipboardError;
pub use no_screen::NoScreen;
pub(crate) use no_screen::check_screen;
pub use player::{KeptComputer, PlayerError, PlayerSight};
pub use sound::ListenError;
pub use video::WatchVideoError;

use crate::{
    FindError, InternalError, WakeError, feed::log::Log, live::LiveSessions, refusal::refusals,
    sessions::find::find,
};

/// The computers of all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Computers(Arc<ComputerParts>);

/// The parts that a computer is watched and used through.
#[derive(Debug)]
pub(crate) struct ComputerParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) live: LiveSessions,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) screen: ScreenSize,
    pub(crate) browser_scripts: bool,
    pub(crate) tasks: Tasks,
}

/// A picture to show.
#[derive(Debug)]
pub struct Picture {
    pub bytes: Bytes,
    pub format: BlobFormat,
}

/// The reason why the screen cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum OpenScreenError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error("session {0} has no running computer; it starts with the next message")]
    NoSandbox(SessionId),
    #[error(transparent)]
    Wake(#[from] WakeError),
}

refusals! {
    OpenScreenError passes on Find, NoScreen, Wake;
    Self::NoSandbox(_) => Conflict("no_sandbox"),
}

/// The reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ScreenshotError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {0} has no picture yet")]
    None(SessionId),
    #[error("there is no blob {}", .0.as_str())]
    NoBlob(BlobName),
    #[error("could not read the picture")]
    Blob(#[from] BlobError),
    #[error("could not look up the picture")]
    Internal(#[source] InternalError),
}

refusals! {
    ScreenshotError passes on Find, Blob, Internal;
    Self::None(_) => NotFound("no_screenshot"),
    Self::NoBlob(_) => NotFound("no_blob"),
}

impl Computers {
    pub(crate) fn new(parts: ComputerParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns true if scripts may run in pages.
    pub fn allows_scripts(&self) -> bool {
        self.0.browser_scripts
    }

    /// Takes a picture of the screen, or of the current page where there is no screen. If the sandbox is not running or another person has control, returns the newest
    /// picture of the log.
    pub async fn screenshot(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<Picture, ScreenshotError> {
        find(&self.0.store, Viewer::User(user), id).await?;
        if let Some(picture) = self.look(user, id).await {
            return Ok(picture);
        }
        let newest = self.0.store.newest_screenshot(id).await?;
        let newest = newest.ok_or(ScreenshotError::None(id))?;
        let bytes = self.0.blobs.get(&newest.blob).await?;
        Ok(Picture {
            bytes,
            format: newest.blob.format(),
        })
    }

    async fn look(&self, user: UserId, id: SessionId) -> Option<Picture> {
        let computer = self.0.live.running_computer(id)?;
        let look = Look {
            format: BlobFormat::Png,
            shown: None,
        };
        let looked = computer.perform(Call::by(Actor::Person(user)), look);
        let frame = looked.await.ok()?;
        Some(Picture {
            bytes: frame.bytes,
            format: frame.format,
        })
    }

    /// Returns a picture that an event names.
    pub async fn blob(&self, viewer: Viewer, name: BlobName) -> Result<Picture, ScreenshotError> {
        if name.is_file() || !self.0.store.may_see_blob(viewer, &name).await? {
            return Err(ScreenshotError::NoBlob(name));
        }
        match self.0.blobs.get(&name).await {
            Ok(bytes) => Ok(Picture {
                bytes,
                format: name.format(),
            }),
            Err(BlobError::Missing(name)) => Err(ScreenshotError::NoBlob(name)),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the screen as a stream of RFB. A viewer who may send messages wakes a sleeping session.
    pub async fn open_screen(
        &self,
        viewer: Viewer,
        id: SessionId,
        may_wake: bool,
    ) -> Result<ByteStream, OpenScreenError> {
        let session = find(&self.0.store, viewer, id).await?;
        check_screen(&session)?;
        let mut computer = self.0.live.running_computer(id);
        let sleeps = computer.is_none() && session.phase != Phase::Terminated;
        if sleeps && may_wake && session.right >= Right::Suggest {
            let guard = self.0.live.wake(&session).await?;
            computer = guard.desk.computer().await.ok();
        }
        let computer = computer.ok_or(OpenScreenError::NoSandbox(id))?;
        let actor = viewer.user().map_or(Actor::Agent, Actor::Person);
        let opened = computer.open(StreamTarget::Screen, actor).await;
        opened.map_err(|error| {
            tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "could not open the screen");
            OpenScreenError::NoSandbox(id)
        })
    }
}
