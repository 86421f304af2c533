//! What a person may do with a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

impl Right {
    /// As it is written in the store and on the wire.
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
