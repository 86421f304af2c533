//! The port to a model: what it is shown, and what it streams back.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{
    action::{Action, ScreenSize},
    blob::BlobFormat,
    decision::DecisionKind,
    edit::EditCommand,
    question::Question,
    shell::ShellRequest,
    vault::FillSecret,
};

/// One model call.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub system: String,
    pub screen: ScreenSize,
    /// The conversation, oldest first. The last item is no answer.
    pub items: Vec<Item>,
}

/// A part of the conversation as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What people said since the agent last spoke. It begins a turn.
    Prompt { text: String },
    /// What people said in the middle of a turn.
    Steering { text: String },
    /// People had mouse and keyboard and gave them back: who, and how the screen looks since.
    HandedBack { text: String, image: Option<Image> },
    /// One answer of the model.
    Answer {
        thinking: String,
        text: String,
        calls: Vec<ToolCall>,
    },
    /// What came of all calls of the answer before, in their order.
    Results(Vec<CallResult>),
}

/// The model wants a tool used.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    /// `computer`, `bash`, `editor`, `ask_user` or `fill_secret`.
    pub tool: String,
    /// The tool's own request as JSON; see [`ToolRequest::parse`].
    pub input: serde_json::Value,
    /// What a person must agree to before it is carried out.
    pub checks: Vec<Check>,
}

/// Something about a call that a person must agree to, whatever the session's policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub kind: DecisionKind,
    /// What people are asked.
    pub prompt: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub image: Option<Image>,
}

/// A picture for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub bytes: Bytes,
    pub format: BlobFormat,
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// A thinking block begins.
    ThinkingStart,
    Thinking(String),
    /// A text block begins.
    TextStart,
    Text(String),
    /// A whole tool call.
    Call(ToolCall),
    /// The last piece. Without calls before it the turn is over.
    End,
}

/// Why a model gave no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It would fail again.
    #[error("{0}")]
    Rejected(String),
    /// It may work later.
    #[error("{0}")]
    Unavailable(String),
}

/// Something that looks at a screen and says what to do.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// Asks the model. Dropping the stream gives the call up.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>>;
}

/// No model has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no model {name:?}: {reason}")]
pub struct UnknownModel {
    pub name: String,
    /// Why, and what there is instead.
    pub reason: String,
}

/// All models of this server.
pub trait Models: Send + Sync + std::fmt::Debug {
    /// The model called `name` (`vendor/name`).
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, UnknownModel>;

    /// What a session uses when nobody says otherwise.
    fn default_model(&self) -> String;
}

/// A tool call that makes sense.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolRequest {
    Computer(Action),
    Bash(ShellRequest),
    Editor(EditCommand),
    AskUser(Question),
    FillSecret(FillSecret),
}

/// A tool call that does not make sense. The text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    #[error(
        "there is no tool {0:?}; the tools are computer, bash, editor, ask_user and fill_secret"
    )]
    NoTool(String),
    #[error("the {tool} tool does not take this input: {problem}")]
    Input { tool: String, problem: String },
}

impl ToolRequest {
    /// Reads a call's input.
    pub fn parse(tool: &str, input: &serde_json::Value) -> Result<Self, BadCall> {
        let bad = |error: serde_json::Error| BadCall::Input {
            tool: tool.to_owned(),
            problem: error.to_string(),
        };
        match tool {
            "computer" => Action::deserialize(input).map(Self::Computer).map_err(bad),
            "bash" => ShellRequest::deserialize(input)
                .map(Self::Bash)
                .map_err(bad),
            "editor" => EditCommand::deserialize(input)
                .map(Self::Editor)
                .map_err(bad),
            "ask_user" => Question::deserialize(input).map(Self::AskUser).map_err(bad),
            "fill_secret" => FillSecret::deserialize(input)
                .map(Self::FillSecret)
                .map_err(bad),
            other => Err(BadCall::NoTool(other.to_owned())),
        }
    }
}
