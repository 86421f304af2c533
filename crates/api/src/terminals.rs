//! Terminals of a session's computer.

use deskhand_core::{
    id::TerminalId,
    terminal::{ReadOnly, Terminal, TerminalEnd, TerminalSize, ViewedTerminal},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A terminal to open.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenTerminal)]
#[serde(deny_unknown_fields)]
pub struct OpenTerminalBody {
    /// Without one, it is named after its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub size: Option<TerminalSize>,
    /// Runs instead of an interactive shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 4096, nullable = false)]
    pub command: Option<String>,
}

/// The new name of a terminal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RenameTerminal)]
#[serde(deny_unknown_fields)]
pub struct RenameTerminalBody {
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
}

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Terminal)]
pub struct TerminalView {
    /// The number in the sandbox. 0 is the agent's shell, which can only be watched. A later sandbox counts anew.
    pub number: u32,
    /// Never used again.
    #[schema(value_type = Uuid)]
    pub id: TerminalId,
    pub name: String,
    pub size: TerminalSize,
    /// True while a person has control and this terminal is from before: its programs are frozen.
    pub paused: bool,
    /// Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ended: Option<TerminalEnd>,
}

/// The terminals of a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Terminals)]
pub struct TerminalsView {
    /// The agent's shell, and then the others in the order in which they were opened. Empty while the sandbox does not
    /// run.
    pub terminals: Vec<TerminalView>,
}

/// A text message to a viewer of a terminal. Output comes in binary messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalMessage {
    /// The state of the terminal: the first message, and again after every change.
    State {
        terminal: TerminalView,
        /// The reason why you cannot type. Absent if you can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        read_only: Option<ReadOnly>,
    },
    /// The kept output follows from an earlier place on.
    Replay {
        /// True if you read too slowly and missed output. False at the beginning.
        missed: bool,
    },
}

/// A text message of a viewer. Input goes in binary messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TerminalRequest {
    /// Gives the terminal this size, for everybody. Ignored if you cannot type.
    Resize {
        #[schema(minimum = 2, maximum = 500)]
        cols: u16,
        #[schema(minimum = 2, maximum = 200)]
        rows: u16,
    },
}

impl From<Terminal> for TerminalView {
    fn from(terminal: Terminal) -> Self {
        Self {
            number: terminal.number.0,
            id: terminal.id,
            name: terminal.name,
            size: terminal.size,
            paused: terminal.is_paused,
            ended: terminal.ended,
        }
    }
}

impl From<ViewedTerminal> for TerminalMessage {
    fn from(viewed: ViewedTerminal) -> Self {
        Self::State {
            terminal: viewed.terminal.into(),
            read_only: viewed.read_only,
        }
    }
}
