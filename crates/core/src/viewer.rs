//! The person on whose behalf data is read or written.

use crate::id::UserId;

/// The one who asks. Every read or write of somebody's data takes one, down to the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// A person, seeing what is theirs.
    User(UserId),
    /// Deskhand itself: turns, reconcilers, start-up. Each use is a decision.
    System,
}

impl Viewer {
    /// The person, if it is one.
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::User(id) => Some(id),
            Self::System => None,
        }
    }
}
