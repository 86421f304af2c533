//! The surroundings of a call: the session's computer, its people and its log.

use async_trait::async_trait;
use deskhand_core::{
    action::{Action, Point},
    decision::{Ask, GivenFile},
    edit::EditCommand,
    event::EventBody,
    id::TurnId,
    sandbox::{ComputerReply, Frame},
    shell::{ShellOutput, ShellRequest},
    vault::SecretName,
};
use jiff::Timestamp;

use super::ToolFailure;
use crate::ports::Settled;

/// Everything a tool can use.
///
/// Each operation ends early when the turn is stopped or a person takes over. The failure then says so, and a tool
/// only has to hand it on.
#[async_trait]
pub trait ToolContext: Send {
    /// The turn that made the call. `None` when a person made it by hand.
    fn turn(&self) -> Option<TurnId>;

    fn now(&self) -> Timestamp;

    /// Does one thing to the desktop. The caller of the tool decides whether a picture follows.
    async fn act(&mut self, action: &Action) -> Result<Acted, ToolFailure>;

    /// Uses the shell. Its output is logged while the command runs.
    async fn shell(&mut self, request: ShellRequest) -> Result<ShellOutput, ToolFailure>;

    /// Uses the file editor, and returns the text that it shows.
    async fn edit(&mut self, command: EditCommand) -> Result<String, ToolFailure>;

    /// Puts a file into a folder in the home folder, and returns its path.
    async fn put_file(&mut self, folder: String, file: &GivenFile) -> Result<String, ToolFailure>;

    /// Types a secret into the field that has the focus.
    async fn fill_secret(&mut self, name: SecretName) -> Result<(), ToolFailure>;

    /// Asks people and waits until they have answered.
    async fn ask(&mut self, ask: Ask) -> Result<Settled, ToolFailure>;

    /// Appends events of the tool's own to the session's log.
    async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), ToolFailure>;
}

/// An action that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Acted {
    /// The pointer's place afterwards, where the computer tells it.
    pub pointer: Option<Point>,
    pub picture: Option<Frame>,
    /// The computer's own words, for an action whose sentence lacks a fact.
    pub words: String,
}

impl Acted {
    /// Takes the facts from a reply to an action. This is the only place that reads such a reply.
    pub fn of_reply(reply: ComputerReply) -> Self {
        let (words, picture) = match reply {
            ComputerReply::Acted { text, frame } => (text, frame),
            ComputerReply::Edited { text } => (text, None),
            ComputerReply::Shell(output) => (output.output, None),
        };
        Self {
            pointer: picture.as_ref().map(|frame| frame.pointer),
            picture,
            words,
        }
    }
}
