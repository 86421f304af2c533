//! The context of a call: the session's computer, its people and its log.

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    action::Action,
    blob::BlobName,
    browser::{Browse, Browsed},
    decision::{Ask, GivenFile},
    edit::EditCommand,
    event::EventBody,
    file::FilePath,
    id::TurnId,
    sandbox::{Acted, FileTaken},
    shell::{ShellOutput, ShellRequest},
    tool_server::{RemoteAnswer, RemoteCall},
    vault::{FieldPlace, FillSecret, SecretName},
};
use jiff::Timestamp;

use super::ToolFailure;
use crate::ports::Settled;

/// Everything that a tool can use.
///
/// Each operation ends early if the turn is stopped or a person takes control. The failure then says so, and the tool
/// only has to pass it on.
#[async_trait]
pub trait ToolContext: Send {
    /// Returns the turn that made the call. Returns `None` if a person made it by hand.
    fn turn(&self) -> Option<TurnId>;

    fn now(&self) -> Timestamp;

    /// Carries out one action on the desktop. The caller of the tool decides if a picture follows.
    async fn act(&mut self, action: &Action) -> Result<Acted, ToolFailure>;

    /// Carries out a verb in the browser.
    async fn browse(&mut self, browse: Browse) -> Result<Browsed, ToolFailure>;

    /// Uses the shell. Its output is logged while the command runs.
    async fn shell(&mut self, request: ShellRequest) -> Result<ShellOutput, ToolFailure>;

    /// Uses the file editor, and returns the text that it shows.
    async fn edit(&mut self, command: EditCommand) -> Result<String, ToolFailure>;

    /// Puts a file into a folder in the home folder, and returns its path.
    async fn put_file(&mut self, folder: String, file: &GivenFile) -> Result<String, ToolFailure>;

    /// Reads a file of the computer, if it is not too large to be shared.
    async fn take_file(&mut self, path: FilePath) -> Result<FileTaken, ToolFailure>;

    /// Stores a file for people, outside of the sandbox.
    async fn keep_file(&mut self, bytes: Bytes) -> Result<BlobName, ToolFailure>;

    /// Finds the focused field, if this secret may be typed there.
    async fn find_secret_field(&mut self, name: SecretName) -> Result<FieldPlace, ToolFailure>;

    /// Types a secret into the focused field.
    async fn fill_secret(&mut self, secret: FillSecret) -> Result<(), ToolFailure>;

    /// Calls a tool of an MCP server. Its reports are logged while it runs.
    async fn call_remote(
        &mut self,
        server: &str,
        call: RemoteCall,
    ) -> Result<RemoteAnswer, ToolFailure>;

    /// Asks people, and waits until the decision is settled.
    async fn ask(&mut self, ask: Ask) -> Result<Settled, ToolFailure>;

    /// Appends the tool's own events to the session's log.
    async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), ToolFailure>;
}
