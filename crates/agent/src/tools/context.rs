//! The surroundings of a call: the session's computer, its people and its log.

use async_trait::async_trait;
use deskhand_core::{
    action::Action,
    decision::{Ask, GivenFile},
    edit::EditCommand,
    event::EventBody,
    id::TurnId,
    sandbox::Acted,
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
