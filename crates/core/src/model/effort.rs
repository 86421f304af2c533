//! The effort of a model.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The effort that a model puts into thinking. More of it is slower and costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Low,
    Medium,
    High,
}

/// The error for a name that no effort has.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not an effort; choose low, medium or high")]
pub struct UnknownEffort(pub String);

impl Effort {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Returns the name, which most vendors share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl std::str::FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|effort| effort.as_str() == text)
            .ok_or_else(|| UnknownEffort(text.to_owned()))
    }
}
