//! The context of a call that a person makes: the computer, and nothing else.

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_agent::{
    Settled,
    tools::{ToolContext, ToolFailure},
};
use deskhand_core::{
    action::Action,
    blob::BlobName,
    browser::{Browse, Browsed},
    decision::{Ask, GivenFile},
    edit::EditCommand,
    event::EventBody,
    file::FilePath,
    id::{RequestId, TurnId, UserId},
    sandbox::{Act, Acted, Actor, Call, Computer, ComputerExt, FileTaken, ForSession, Operation},
    shell::{ShellOutput, ShellRequest},
    tool_server::{RemoteAnswer, RemoteCall},
    vault::{FieldPlace, FillSecret, SecretName},
};
use jiff::Timestamp;

const AGENT_ONLY: &str = "only the agent can do this";

/// The computer, on behalf of one person.
pub(super) struct HandContext<'a> {
    pub(super) computer: &'a dyn Computer,
    /// The id of the only request.
    pub(super) request: RequestId,
    pub(super) user: UserId,
    /// True to wait until the screen settles and take a picture of it.
    pub(super) look: bool,
    pub(super) now: Timestamp,
}

impl HandContext<'_> {
    async fn perform<O: Operation<ForSession>>(
        &self,
        operation: O,
    ) -> Result<O::Reply, ToolFailure> {
        let call = Call {
            id: self.request,
            ..Call::by(Actor::Person(self.user))
        };
        let reply = self.computer.perform(call, operation);
        reply.await.map_err(|error| ToolFailure(error.to_string()))
    }
}

#[async_trait]
impl ToolContext for HandContext<'_> {
    fn turn(&self) -> Option<TurnId> {
        None
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    async fn act(&mut self, action: &Action) -> Result<Acted, ToolFailure> {
        let act = Act {
            action: action.clone(),
            look: self.look,
            shown: None,
        };
        self.perform(act).await
    }

    async fn browse(&mut self, browse: Browse) -> Result<Browsed, ToolFailure> {
        self.perform(browse).await
    }

    async fn shell(&mut self, request: ShellRequest) -> Result<ShellOutput, ToolFailure> {
        self.perform(request).await
    }

    async fn edit(&mut self, command: EditCommand) -> Result<String, ToolFailure> {
        Ok(self.perform(command).await?.text)
    }

    async fn put_file(&mut self, _: String, _: &GivenFile) -> Result<String, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn take_file(&mut self, _: FilePath) -> Result<FileTaken, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn keep_file(&mut self, _: Bytes) -> Result<BlobName, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn find_secret_field(&mut self, _: SecretName) -> Result<FieldPlace, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn fill_secret(&mut self, _: FillSecret) -> Result<(), ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn call_remote(&mut self, _: &str, _: RemoteCall) -> Result<RemoteAnswer, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn ask(&mut self, _: Ask) -> Result<Settled, ToolFailure> {
        Err(AGENT_ONLY.into())
    }

    async fn append(&mut self, _: Vec<EventBody>) -> Result<(), ToolFailure> {
        Err(AGENT_ONLY.into())
    }
}
