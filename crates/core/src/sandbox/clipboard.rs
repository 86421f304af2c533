//! The clipboard of the desktop, for the person in control.

use serde::{Deserialize, Serialize};

use super::OperationReply;
use crate::secret::Secret;

/// The longest text that is read from and put on the clipboard.
pub const LONGEST_CLIPBOARD_BYTES: usize = 256 * 1024;

/// Reads the text on the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadClipboard;

/// The text on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClipboardRead {
    Text(String),
    /// The clipboard is empty, or has no text.
    Empty,
    /// It has more than [`LONGEST_CLIPBOARD_BYTES`].
    TooLong,
}

impl OperationReply for ClipboardRead {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Self::Text(text) = self {
            visit(text);
        }
    }
}

/// Puts a text on the clipboard, until a program copies something or control ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetClipboard {
    /// A person's text, which may be a password: it is not logged.
    pub text: Secret,
}

/// The reply once programs can paste the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClipboardSet;

impl OperationReply for ClipboardSet {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}
}
