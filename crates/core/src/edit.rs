//! Commands for the sandbox's file editor.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A command to the editor. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditCommand {
    /// Shows a file with line numbers, or a folder two levels deep.
    View {
        path: String,
        /// The first and last line, counted from 1. A last line of -1 is the end of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Vec<i64>, min_items = 2, max_items = 2)]
        view_range: Option<[i64; 2]>,
    },
    /// Writes a file. An existing file is replaced, and `UndoEdit` restores it.
    Create { path: String, file_text: String },
    /// Replaces text that occurs exactly once.
    StrReplace {
        path: String,
        old_str: String,
        #[serde(default)]
        new_str: String,
    },
    /// Inserts text after line `insert_line`; 0 is before the first line.
    Insert {
        path: String,
        insert_line: u64,
        #[serde(alias = "new_str")]
        insert_text: String,
    },
    /// Undoes the last edit of this file.
    UndoEdit { path: String },
}
