//! Operations on terminals, and their replies. [`super::operation`] lists them.

use serde::{Deserialize, Serialize};

use super::OperationReply;
use crate::terminal::{Terminal, TerminalNumber, TerminalSize};

/// Opens a terminal with a new shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTerminal {
    /// If absent, the terminal is named after its number.
    pub name: Option<String>,
    pub size: TerminalSize,
    /// Runs instead of an interactive shell.
    pub command: Option<String>,
}

/// The reply to [`OpenTerminal`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalOpened {
    Opened(Terminal),
    /// The limit of open terminals, which is reached.
    TooMany(usize),
    /// Control has changed hands since the request was admitted.
    ControlChanged,
}

/// Lists all terminals, including those that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTerminals;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalList {
    /// The agent's shell, and then the others in the order in which they were opened.
    pub terminals: Vec<Terminal>,
}

/// Gives a terminal another name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenameTerminal {
    pub number: TerminalNumber,
    pub name: String,
}

/// Ends a terminal with everything that runs in it, and removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillTerminal {
    pub number: TerminalNumber,
}

/// A terminal after a change, or nothing if it does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalFound {
    pub terminal: Option<Terminal>,
}

impl OperationReply for TerminalOpened {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Self::Opened(terminal) = self {
            visit(&mut terminal.name);
        }
    }
}

impl OperationReply for TerminalList {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for terminal in &mut self.terminals {
            visit(&mut terminal.name);
        }
    }
}

impl OperationReply for TerminalFound {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(terminal) = &mut self.terminal {
            visit(&mut terminal.name);
        }
    }
}
