//! Watch links: whoever has one can watch the screen of a session and hear its sound, without signing in.

use jiff::Timestamp;

use crate::id::{SessionId, WatchLinkId};

/// A link by which a session is watched. It does not contain the token of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchLink {
    pub id: WatchLinkId,
    pub session: SessionId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}
