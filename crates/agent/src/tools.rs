//! Tools: what a model can call.
//!
//! A tool is one file in `tools/`. It owns its name, the offer to models, the reading of its input, the risk of a
//! call, the sentence that tells people about it, and the work itself. [`all`] is the only list of them; everything
//! else finds a tool by its name in the session's [`ToolSet`].

mod ask_user;
mod bash;
mod computer;
mod context;
mod editor;
mod fill_secret;
mod output;
mod shell_text;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    action::{Action, ScreenSize},
    model::ToolCall,
    policy::Proposal,
    tool::{ToolSpec, ToolSpecs},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::shell_text::interrupted_shell_text;
pub use self::{
    context::ToolContext,
    output::{ToolFailure, ToolOutput},
};

/// Every tool of Deskhand, in the order in which models are offered them.
pub fn all() -> ToolSet {
    ToolSet::new(vec![
        Arc::new(computer::ComputerTool),
        Arc::new(bash::BashTool),
        Arc::new(editor::EditorTool),
        Arc::new(ask_user::AskUserTool),
        Arc::new(fill_secret::FillSecretTool),
    ])
}

/// Something that a model can call.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// The name in calls, in the log and in approval rules.
    fn name(&self) -> &str;

    /// Returns the offer to a model that is shown pictures of this size.
    fn spec(&self, shown: ScreenSize) -> ToolSpec;

    /// Reads the input of a call. The error is for the model.
    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall>;
}

/// A call whose input the tool has read.
#[async_trait]
pub trait Invocation: Send + Sync + std::fmt::Debug {
    /// Describes the call to people in one line, in the past tense and without a full stop: `Clicked at (783, 283)`.
    /// It is stored with the call and must not contain a secret.
    fn describe(&self) -> String;

    /// Returns the call as approval policies judge it.
    fn proposal(&self) -> Proposal;

    /// Checks the call against the screen. The error is for whoever called.
    fn check(&self, _screen: ScreenSize) -> Result<(), String> {
        Ok(())
    }

    /// Returns the action on the desktop, if the call is one. A batch waits for the screen between some actions, and
    /// its last one is followed by a picture.
    fn action(&self) -> Option<&Action> {
        None
    }

    /// Tells whether the call only makes sense on the screen that the model saw. It is not resumed on another one.
    fn is_for_screen(&self) -> bool {
        false
    }

    /// Tells whether a call that was cut off by a restart can be made again without harm.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// Refuses people who want to make the call by hand, and tells them what to do instead.
    fn by_hand(&self) -> Result<(), &'static str> {
        Err("only the agent uses this tool")
    }

    /// Carries the call out.
    async fn run(self: Box<Self>, context: &mut dyn ToolContext)
    -> Result<ToolOutput, ToolFailure>;
}

/// The tools of one session.
#[derive(Debug, Clone)]
pub struct ToolSet {
    tools: Arc<[Arc<dyn Tool>]>,
}

/// A tool call that makes no sense. The text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    #[error("there is no tool {name:?}; the tools are {there_are}")]
    NoTool { name: String, there_are: String },
    #[error("the {tool} tool does not take this input: {problem}")]
    Input { tool: String, problem: String },
}

impl ToolSet {
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self {
            tools: tools.into(),
        }
    }

    /// Returns the offers to a model that is shown pictures of this size.
    pub fn specs(&self, shown: ScreenSize) -> ToolSpecs {
        self.tools.iter().map(|tool| tool.spec(shown)).collect()
    }

    /// Reads the input for the tool called `name`.
    pub fn read(&self, name: &str, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        match self.tools.iter().find(|tool| tool.name() == name) {
            Some(tool) => tool.read(input),
            None => Err(BadCall::NoTool {
                name: name.to_owned(),
                there_are: self.names(),
            }),
        }
    }

    /// Checks that a call can be read. The error is for whoever wrote it.
    pub fn check(&self, name: &str, input: &Value) -> Result<(), String> {
        self.read(name, input)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// Describes a call to people. Returns `None` for a call that no tool can read.
    pub fn describe(&self, call: &ToolCall) -> Option<String> {
        let invocation = self.read(&call.tool, &call.input).ok();
        invocation
            .filter(|_| call.problem.is_none())
            .map(|invocation| invocation.describe())
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        match &names[..] {
            [] => "none".to_owned(),
            [name] => (*name).to_owned(),
            [names @ .., last] => format!("{} and {last}", names.join(", ")),
        }
    }
}

/// Reads the input of a tool whose input is a type of its own.
fn read_as<T: DeserializeOwned>(tool: &str, input: &Value) -> Result<T, BadCall> {
    T::deserialize(input).map_err(|error| BadCall::Input {
        tool: tool.to_owned(),
        problem: error.to_string(),
    })
}

/// Writes the JSON schema of an object with these properties and no others.
fn object_schema(required: &[&str], properties: &Value) -> Value {
    serde_json::json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
