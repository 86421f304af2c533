//! What can be done to a session's computer.

use serde::Serialize;
use utoipa::ToSchema;

/// A tool: `computer` takes an `Action`, `bash` a `ShellRequest`, `editor` an `EditCommand`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tool {
    Computer,
    Bash,
    Editor,
}

/// What a tool is told.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ToolInput {
    Computer(Action),
    Bash(ShellRequest),
    Editor(EditCommand),
}

/// One thing done to the desktop. Points are pixels from the top left and must be on the screen.
#[derive(Serialize, ToSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Action {
    /// Only looks.
    Screenshot,
    /// Looks closely at a part of the screen.
    Zoom { region: Region },
    /// Moves the pointer.
    Move { at: Point },
    /// Clicks, at the pointer when `at` is absent.
    Click {
        #[schema(required = false)]
        button: Button,
        #[schema(required = false, minimum = 1, maximum = 3, default = 1)]
        count: u8,
        #[schema(required = false)]
        at: Point,
        /// Key names held during the click.
        #[schema(required = false)]
        modifiers: Vec<String>,
    },
    MouseDown {
        #[schema(required = false)]
        button: Button,
    },
    MouseUp {
        #[schema(required = false)]
        button: Button,
    },
    /// Presses the left button at the first point, moves through all, releases at the last.
    Drag {
        /// With one point the drag starts at the pointer.
        #[schema(min_items = 1)]
        path: Vec<Point>,
        #[schema(required = false)]
        modifiers: Vec<String>,
    },
    /// Turns the wheel. Positive `dy` is down, positive `dx` is right.
    Scroll {
        #[schema(required = false)]
        at: Point,
        /// Wheel clicks.
        #[schema(required = false, minimum = -100, maximum = 100, default = 0)]
        dx: i32,
        /// Wheel clicks.
        #[schema(required = false, minimum = -100, maximum = 100, default = 0)]
        dy: i32,
        #[schema(required = false)]
        modifiers: Vec<String>,
    },
    /// Types text into whatever has the focus. A line feed is Return, a tab is Tab.
    Type { text: String },
    /// Presses a chord such as `ctrl+s`, or several separated by spaces.
    Key {
        keys: String,
        #[schema(required = false, minimum = 1, maximum = 100, default = 1)]
        repeat: u8,
    },
    /// Holds a chord down for a while.
    HoldKey {
        keys: String,
        #[schema(maximum = 300000)]
        ms: u64,
    },
    /// Does nothing for a while.
    Wait {
        #[schema(maximum = 300000)]
        ms: u64,
    },
    /// Tells where the pointer is.
    CursorPosition,
}

/// A place on the screen.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    x: i32,
    y: i32,
}

/// A part of the screen: `x0 <= x < x1`, `y0 <= y < y1`.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    x0: i32,
    y0: i32,
    x1: i32,
    y1: i32,
}

/// The left one when nothing is said.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
}

/// One thing asked of the shell.
#[derive(Serialize, ToSchema)]
#[serde(tag = "shell", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ShellRequest {
    /// Runs a command; directory, variables, functions and background jobs stay for the next one.
    Run {
        command: String,
        #[schema(required = false, maximum = 1800000, default = 120000)]
        timeout_ms: u64,
    },
    /// Ends the shell and everything started from it, and begins a new one.
    Restart,
}

/// One thing asked of the file editor. Paths are absolute.
#[derive(Serialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EditCommand {
    /// Shows a file with line numbers, or a folder two levels deep.
    View {
        path: String,
        /// First and last line, counted from 1; a last line of -1 is the end of the file.
        #[schema(required = false, min_items = 2, max_items = 2)]
        view_range: Vec<i64>,
    },
    /// Writes a new file. An existing one is replaced and can be had back with `undo_edit`.
    Create { path: String, file_text: String },
    /// Replaces text that occurs exactly once.
    StrReplace {
        path: String,
        old_str: String,
        #[schema(required = false)]
        new_str: String,
    },
    /// Puts text after line `insert_line`; 0 is before the first.
    Insert {
        path: String,
        insert_line: u64,
        insert_text: String,
    },
    /// Takes back the last edit of this file.
    UndoEdit { path: String },
}
