//! The body of every error response.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The shape of all error responses.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemView {
    pub error: ErrorView,
}

/// A refusal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ProblemError)]
pub struct ErrorView {
    /// Stable, for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// Numbers behind the message, if they help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub details: Option<serde_json::Value>,
}
