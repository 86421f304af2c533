//! Terminals: interactive shells in a sandbox, shared by the people of a session.

mod frames;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::frames::{
    BadTerminalFrame, Framed, ReplayStart, TerminalFrames, TerminalInput, TerminalUpdate,
};
use crate::{id::TerminalId, plain::is_deceptive};

/// The longest name of a terminal, in characters.
pub const LONGEST_TERMINAL_NAME: usize = 64;
/// The longest command that a terminal is opened with, in bytes.
pub const LONGEST_TERMINAL_COMMAND: usize = 4096;

/// The number of a terminal in its sandbox. The agent's shell is 0, and terminals of people count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TerminalNumber(pub u32);

/// The number of rows and columns of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    #[schema(minimum = 2, maximum = 500)]
    pub cols: u16,
    #[schema(minimum = 2, maximum = 200)]
    pub rows: u16,
}

/// A terminal as its sandbox describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Unlike the number, it is never used again.
    pub id: TerminalId,
    pub number: TerminalNumber,
    pub name: String,
    pub size: TerminalSize,
    /// True while a person has control and this terminal was opened before: its programs are frozen.
    pub is_paused: bool,
    /// Absent while its shell runs.
    pub ended: Option<TerminalEnd>,
}

/// The way in which a terminal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TerminalEnd {
    /// Its shell ended by itself, with this exit code.
    Exited { code: i32 },
    /// A person ended it.
    Killed,
}

/// The reason why a viewer cannot type into a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = TerminalReadOnly)]
#[serde(rename_all = "snake_case")]
pub enum ReadOnly {
    /// Its shell has ended.
    Ended,
    /// It shows the agent's shell, which takes no input.
    AgentShell,
    /// The viewer lacks the right to drive, or asked only to watch.
    Watching,
    /// Another person has control.
    Control,
    /// The viewer has control, and the terminal is from before: its programs are frozen until control is handed back.
    Paused,
}

/// A terminal as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewedTerminal {
    #[serde(flatten)]
    pub terminal: Terminal,
    /// Absent if the viewer can type.
    pub read_only: Option<ReadOnly>,
}

/// The reason why a terminal's name or size is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTerminal {
    #[error(
        "a terminal's name has 1 to {LONGEST_TERMINAL_NAME} characters, without control characters"
    )]
    Name,
    #[error(
        "a terminal has {} to {} columns and {} to {} rows, not {} and {}",
        TerminalSize::LEAST.cols, TerminalSize::MOST.cols, TerminalSize::LEAST.rows, TerminalSize::MOST.rows, .0.cols, .0.rows
    )]
    Size(TerminalSize),
    #[error("a terminal's command has 1 to {LONGEST_TERMINAL_COMMAND} bytes and no NUL")]
    Command,
}

impl TerminalNumber {
    /// The agent's shell.
    pub const AGENT: Self = Self(0);
}

impl std::fmt::Display for TerminalNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for TerminalNumber {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl TerminalSize {
    pub const LEAST: Self = Self { cols: 2, rows: 2 };
    pub const MOST: Self = Self {
        cols: 500,
        rows: 200,
    };

    pub fn check(self) -> Result<Self, BadTerminal> {
        let fits = (Self::LEAST.cols..=Self::MOST.cols).contains(&self.cols)
            && (Self::LEAST.rows..=Self::MOST.rows).contains(&self.rows);
        fits.then_some(self).ok_or(BadTerminal::Size(self))
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

/// Returns a name without spaces around it, if it can be a terminal's.
pub fn checked_name(name: &str) -> Result<String, BadTerminal> {
    let name = name.trim();
    let is_plain = !name.contains(|c: char| is_deceptive(c) || matches!(c, '\n' | '\t'));
    let n_characters = name.chars().count();
    if is_plain && (1..=LONGEST_TERMINAL_NAME).contains(&n_characters) {
        return Ok(name.to_owned());
    }
    Err(BadTerminal::Name)
}

/// Returns a command, if a terminal can be opened with it.
pub fn checked_command(command: String) -> Result<String, BadTerminal> {
    let fits = (1..=LONGEST_TERMINAL_COMMAND).contains(&command.len());
    if fits && !command.contains('\0') {
        return Ok(command);
    }
    Err(BadTerminal::Command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_names_are_bounded() {
        let size = |cols, rows| TerminalSize { cols, rows }.check();
        assert!(size(2, 2).is_ok() && size(500, 200).is_ok());
        for (cols, rows) in [(0, 24), (80, 0), (501, 24), (80, 201), (1, 1)] {
            assert!(size(cols, rows).is_err(), "{cols} × {rows}");
        }
        assert_eq!(checked_name(" build ü ").unwrap(), "build ü");
        for name in ["", "  ", "a\nb", "a\u{1b}[2J", "\u{202e}x", &"x".repeat(65)] {
            assert_eq!(checked_name(name), Err(BadTerminal::Name), "{name:?}");
        }
        assert!(checked_command("ls\n".to_owned()).is_ok());
        for command in [String::new(), "a\0b".to_owned(), "x".repeat(4097)] {
            assert_eq!(checked_command(command), Err(BadTerminal::Command));
        }
    }
}
