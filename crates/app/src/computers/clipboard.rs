//! The clipboard of a session's computer, for the person who has control.

use deskhand_core::{
    id::{SessionId, UserId},
    lease::Lease,
    right::Right,
    sandbox::{
        Actor, Call, ClipboardRead, ComputerError, ComputerExt, LONGEST_CLIPBOARD_BYTES,
        ReadClipboard, SetClipboard,
    },
    secret::Secret,
    viewer::Viewer,
};

use super::{Computers, NoScreen, check_screen};
use crate::{
    FindError, refusal::refusals, session_computer::SessionComputer, sessions::find::find_with,
};

/// The reason why the clipboard was not read or set.
#[derive(Debug, thiserror::Error)]
pub enum ClipboardError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error(
        "only the person who has control of session {0} can use its clipboard; take control first"
    )]
    NoControl(SessionId),
    #[error("{} has control of session {session} until {}; wait, or ask them to hand back", .lease.name, .lease.until)]
    SomebodyElseDrives { session: SessionId, lease: Lease },
    #[error("control of session {0} changed in the meantime; take control again")]
    Lost(SessionId),
    #[error("session {0} has no running desktop; it starts with the next message")]
    NoSandbox(SessionId),
    #[error(
        "a text on the clipboard has at most {LONGEST_CLIPBOARD_BYTES} bytes; use a file for more"
    )]
    TooLong,
}

refusals! {
    ClipboardError passes on Find, NoScreen;
    Self::NoControl(_) => Conflict("no_control"),
    Self::Lost(_) => Conflict("control_changed"),
    Self::SomebodyElseDrives { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::NoSandbox(_) => Conflict("no_sandbox"),
    Self::TooLong => TooLarge("text_too_long", { "limit": LONGEST_CLIPBOARD_BYTES }),
}

impl Computers {
    /// Returns the text on the clipboard, if there is one.
    pub async fn clipboard(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<Option<String>, ClipboardError> {
        let computer = self.controlled_computer(user, id).await?;
        let read = computer.perform(Call::by(Actor::Person(user)), ReadClipboard);
        match read.await.map_err(|error| not_done(id, &error))? {
            ClipboardRead::Text(text) => Ok(Some(text)),
            ClipboardRead::Empty => Ok(None),
            ClipboardRead::TooLong => Err(ClipboardError::TooLong),
        }
    }

    /// Puts a text on the clipboard.
    pub async fn set_clipboard(
        &self,
        user: UserId,
        id: SessionId,
        text: Secret,
    ) -> Result<(), ClipboardError> {
        let computer = self.controlled_computer(user, id).await?;
        if text.expose().len() > LONGEST_CLIPBOARD_BYTES {
            return Err(ClipboardError::TooLong);
        }
        let set = computer.perform(Call::by(Actor::Person(user)), SetClipboard { text });
        set.await.map(drop).map_err(|error| not_done(id, &error))
    }

    /// Returns the running computer that this person has control of.
    async fn controlled_computer(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<std::sync::Arc<SessionComputer>, ClipboardError> {
        let session = find_with(&self.0.store, Right::Drive, Viewer::User(user), id).await?;
        check_screen(&session)?;
        let held = self.0.live.attendance(id).held().map(|held| held.lease);
        match held {
            Some(lease) if lease.user == user => {}
            Some(lease) => return Err(ClipboardError::SomebodyElseDrives { session: id, lease }),
            None => return Err(ClipboardError::NoControl(id)),
        }
        let running = self.0.live.running_computer(id);
        running.ok_or(ClipboardError::NoSandbox(id))
    }
}

fn not_done(id: SessionId, error: &ComputerError) -> ClipboardError {
    if let ComputerError::Refused { .. } = error {
        return ClipboardError::Lost(id);
    }
    tracing::warn!(session.id = %id, error = error as &dyn std::error::Error, "could not use the clipboard");
    ClipboardError::NoSandbox(id)
}
