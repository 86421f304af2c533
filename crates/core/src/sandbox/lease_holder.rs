//! The lease as a computer sees it: the actor behind a request, and the holder who may use the computer now.

use serde::{Deserialize, Serialize};

use crate::id::UserId;

/// The party on whose behalf a computer is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    Agent,
    Person(UserId),
}

/// The holder of the lease on the mouse and keyboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseHolder {
    /// No one holds it, and the computer obeys every actor.
    #[default]
    Nobody,
    /// The computer obeys only this person. It refuses requests of others and ends those that are running.
    Person(UserId),
}

/// The result of setting the lease holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseOutcome {
    /// The computer obeys the holder. The agent's programs are stopped while it is a person.
    Set,
    /// The computer obeys the holder, but programs in it could watch them. The text is the reason, as a clause.
    Watched(String),
}

impl LeaseHolder {
    /// Returns true if the computer obeys this actor.
    pub fn admits(self, actor: Actor) -> bool {
        match self {
            Self::Nobody => true,
            Self::Person(user) => actor == Actor::Person(user),
        }
    }
}
