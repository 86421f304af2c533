//! Rights: the permissions of people in a session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{SessionId, ShareId, UserId};

/// A right in a session. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Read everything and watch the screen.
    View,
    /// Also send messages.
    Suggest,
    /// Also stop the agent and take control.
    Drive,
    /// Also name, share and end the session. Exactly one person is its owner.
    Owner,
}

/// A person who has a right in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub user: UserId,
    pub name: String,
    pub right: Right,
}

/// A link that gives a right in a session. It does not contain the code of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub id: ShareId,
    pub right: Right,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// True if it ends with its first use.
    pub is_single_use: bool,
}

/// A session that its owner wants to hand over to another user, who has not accepted it yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOffer {
    pub session: SessionId,
    pub session_title: String,
    pub from: UserId,
    pub from_name: String,
    pub to: UserId,
    pub to_name: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The people besides the two who have a right in it, and would keep the right to look.
    pub n_people: u64,
    /// True if the owner has written instructions for its agent, which stay.
    pub has_instructions: bool,
}

impl Right {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Suggest => "suggest",
            Self::Drive => "drive",
            Self::Owner => "owner",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::View, Self::Suggest, Self::Drive, Self::Owner]
            .into_iter()
            .find(|right| right.name() == name)
    }
}
