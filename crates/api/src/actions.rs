//! Actions by hand on a session's computer.

use deskhand_core::{action::Action, blob::BlobName, edit::EditCommand, shell::ShellRequest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One action by hand.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Act)]
#[serde(deny_unknown_fields)]
pub struct ActBody {
    #[schema(value_type = Tool)]
    pub tool: String,
    #[schema(value_type = ToolInput)]
    pub input: serde_json::Value,
    /// True to wait until the screen settles and take a screenshot.
    #[serde(default)]
    pub look: bool,
}

/// A tool: `computer` takes an `Action`, `bash` a `ShellRequest`, `editor` an `EditCommand`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Computer,
    Bash,
    Editor,
}

/// The input of a tool.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ToolInput {
    Computer(Action),
    Bash(ShellRequest),
    Editor(EditCommand),
}

/// The result of an action.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Acted)]
pub struct ActView {
    /// The `call` of its events.
    pub call: String,
    pub text: String,
    pub is_error: bool,
    #[schema(required)]
    pub screenshot: Option<BlobName>,
    pub duration_ms: u64,
}
