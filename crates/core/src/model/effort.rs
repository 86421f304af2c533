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

impl Effort {
    /// Returns the name, which most vendors share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
