//! The clipboard of a session's computer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The text on the clipboard.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Clipboard)]
#[serde(deny_unknown_fields)]
pub struct ClipboardView {
    /// Absent if there is no text.
    pub text: Option<String>,
}

/// A text to put on the clipboard.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SetClipboard)]
#[serde(deny_unknown_fields)]
pub struct SetClipboardBody {
    pub text: String,
}

impl std::fmt::Debug for SetClipboardBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It may be a password.
        f.debug_struct("SetClipboardBody").finish_non_exhaustive()
    }
}
