//! The refusal of everything that needs a screen, on a computer that has none.

use deskhand_core::{id::SessionId, session::Session};

use crate::refusal::refusals;

/// The reason why the screen of a session's computer cannot be used: it has none.
#[derive(Debug, thiserror::Error)]
#[error(
    "the computer of session {0} is a browser without a screen, so it cannot be watched or taken over; use its browser \
     with the tool browser, its terminals and its files"
)]
pub struct NoScreen(pub SessionId);

refusals! {
    NoScreen passes on;
    Self(_) => Conflict("no_screen"),
}

/// Checks that the computer of a session has a screen.
pub(crate) fn check_screen(session: &Session) -> Result<(), NoScreen> {
    if session.computer.has_screen() {
        Ok(())
    } else {
        Err(NoScreen(session.id))
    }
}
