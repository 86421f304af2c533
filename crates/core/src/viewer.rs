//! The person on whose behalf data is read or written.

use crate::id::UserId;

/// The party that asks. Every read or write of a user's data takes one, down to the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// A person, who sees what is theirs.
    User(UserId),
    /// Deskhand itself: turns, reconcilers, start-up. Each use is a deliberate decision.
    System,
}

impl Viewer {
    /// Returns the user, if it is one.
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::User(id) => Some(id),
            Self::System => None,
        }
    }
}
