//! Finding a session on behalf of a viewer. Every operation on a session begins here.

use deskhand_core::{id::SessionId, right::Right, session::Session, viewer::Viewer};
use deskhand_store::Store;

use crate::{InternalError, refusal::refusals};

/// The reason why a session, or a part of it, was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// They may see it, but not do this.
    #[error("in session {session} you have the right {:?}, but this needs the right {:?}; ask its owner for it", .has.name(), .needed.name())]
    NotAllowed {
        session: SessionId,
        has: Right,
        needed: Right,
    },
    #[error("event {after} does not exist yet: the newest is {newest}")]
    AfterNewest { after: u64, newest: u64 },
    #[error("could not read the session")]
    Internal(#[source] InternalError),
}

refusals! {
    FindError passes on Internal;
    Self::NoSession(_) => NotFound("no_session"),
    Self::NotAllowed { has, needed, .. } => Forbidden("not_allowed", { "has": has, "needed": needed }),
    Self::AfterNewest { after, newest } => Invalid("after_newest", { "after": after, "newest": newest }),
}

/// Finds a session that this viewer may see.
pub(crate) async fn find(
    store: &Store,
    viewer: Viewer,
    id: SessionId,
) -> Result<Session, FindError> {
    let found = store.session(viewer, id).await?;
    found.ok_or(FindError::NoSession(id))
}

/// Finds a session in which this viewer has at least this right.
pub(crate) async fn find_with(
    store: &Store,
    needed: Right,
    viewer: Viewer,
    id: SessionId,
) -> Result<Session, FindError> {
    let session = find(store, viewer, id).await?;
    if session.right >= needed {
        return Ok(session);
    }
    Err(FindError::NotAllowed {
        session: id,
        has: session.right,
        needed,
    })
}
