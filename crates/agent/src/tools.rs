//! Tools: the functions that a model can call.
//!
//! A tool is one file in `tools/`. It owns its name, its offer to models, the parsing of its input, the risk of a
//! call, the sentence that describes a call to people, and the work itself. [`all`] is the only list of tools;
//! everything else finds a tool by its name in the session's [`ToolSet`].

mod ask_user;
mod bash;
mod browser;
mod computer;
mod consequence;
mod context;
mod editor;
mod fill_secret;
mod output;
mod remote;
mod share_file;
mod shell_text;
mod update_plan;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    action::{Action, ScreenSize},
    browser::{ElementAt, PointedElement},
    computer::{DrivingTool, DrivingTools},
    model::ToolCall,
    policy::Proposal,
    tool::{ToolSpec, ToolSpecs},
    tool_server::is_remote_name,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::shell_text::interrupted_shell_text;
pub use self::{
    context::ToolContext,
    output::{ToolFailure, ToolOutput},
    remote::{MOST_TOOLS_OF_SERVER, RemoteLink, RemoteOffer, ServerTools, remote_offers},
};

/// Returns every tool of Deskhand, in the order in which models are offered them.
pub fn all() -> ToolSet {
    ToolSet::new(vec![
        Arc::new(computer::ComputerTool),
        Arc::new(bash::BashTool),
        Arc::new(editor::EditorTool),
        Arc::new(ask_user::AskUserTool),
        Arc::new(fill_secret::FillSecretTool),
        Arc::new(update_plan::UpdatePlanTool),
        Arc::new(share_file::ShareFileTool),
        Arc::new(browser::BrowserTool {
            offers_scripts: true,
        }),
    ])
}

/// Returns the tools of a session that drives its computer with these, in the order of [`all`].
pub fn offered(driving: &DrivingTools) -> ToolSet {
    let is_left_out = |tool: &Arc<dyn Tool>| {
        let driving_tools = [DrivingTool::Computer, DrivingTool::Browser];
        let known = driving_tools
            .into_iter()
            .find(|one| one.name() == tool.name());
        known.is_some_and(|one| !driving.contain(one))
    };
    let all = all().tools;
    let offered = all.iter().filter(|tool| !is_left_out(tool));
    ToolSet::new(offered.cloned().collect())
}

/// A function that a model can call.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// Returns the name in calls, in the log and in approval rules.
    fn name(&self) -> &str;

    /// Returns the offer to a model. In its description, `{{screen}}` is the size of the pictures that the model is
    /// shown.
    fn spec(&self) -> ToolSpec;

    /// Parses the input of a call. The error is for the model.
    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall>;

    /// Returns the tool of an MCP server that this one stands for.
    fn remote(&self) -> Option<&RemoteLink> {
        None
    }
}

/// A call with parsed input.
#[async_trait]
pub trait Invocation: Send + Sync + std::fmt::Debug {
    /// Describes the call to people in one line, in the past tense and without a full stop: `Clicked at (783, 283)`.
    /// It is stored with the call and must not contain a secret.
    fn describe(&self) -> String;

    /// Finds out what people have to know before they approve the call. It changes nothing.
    async fn prepare(&mut self, _context: &mut dyn ToolContext) -> Result<(), ToolFailure> {
        Ok(())
    }

    /// Returns the place of the element that tells the consequences of the call, if there may be one.
    fn element(&self) -> Option<ElementAt> {
        None
    }

    /// Notes the element at that place.
    fn note_element(&mut self, _element: PointedElement) {}

    /// Returns the call as approval policies judge it.
    fn proposal(&self) -> Proposal;

    /// Returns true if the call uses something that belongs to the session's owner. It is carried out only for a message
    /// of the owner, or with the owner's approval.
    fn uses_owners_secret(&self) -> bool {
        false
    }

    /// Checks the call against the screen. The error is for the caller.
    fn check(&self, _screen: ScreenSize) -> Result<(), String> {
        Ok(())
    }

    /// Returns the action on the desktop, if the call is one. A batch waits for the screen to settle between some
    /// actions, and takes a picture after the last one.
    fn action(&self) -> Option<&Action> {
        None
    }

    /// Returns true if the call is one of the browser. Of several in a batch, only the last one has the picture that it
    /// asks for.
    fn is_browse(&self) -> bool {
        false
    }

    /// Returns true if the call only makes sense on the screen that the model saw. It is not resumed on another
    /// screen.
    fn is_for_screen(&self) -> bool {
        false
    }

    /// Returns true if a call that a restart cut off can be repeated without harm.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// Checks that a person may make the call by hand. The error tells them what to do instead.
    fn by_hand(&self) -> Result<(), &'static str> {
        Err("only the agent uses this tool")
    }

    /// Carries out the call.
    async fn run(self: Box<Self>, context: &mut dyn ToolContext)
    -> Result<ToolOutput, ToolFailure>;
}

/// The tools of one session.
#[derive(Debug, Clone)]
pub struct ToolSet {
    tools: Arc<[Arc<dyn Tool>]>,
}

/// The error for an invalid tool call. The text is for the model.
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

    /// Returns the same tools, in which the browser offers scripts or does not.
    #[must_use]
    pub fn with_browser_scripts(&self, offers_scripts: bool) -> Self {
        let choose = |tool: &Arc<dyn Tool>| -> Arc<dyn Tool> {
            if tool.name() == browser::NAME {
                Arc::new(browser::BrowserTool { offers_scripts })
            } else {
                Arc::clone(tool)
            }
        };
        Self::new(self.tools.iter().map(choose).collect())
    }

    /// Adds tools of MCP servers after those of Deskhand.
    #[must_use]
    pub fn with_remote(self, offers: Vec<RemoteOffer>) -> Self {
        let remote = offers.into_iter().map(|offer| {
            let tool: Arc<dyn Tool> = Arc::new(remote::ServerTool::new(offer));
            tool
        });
        Self {
            tools: self.tools.iter().cloned().chain(remote).collect(),
        }
    }

    /// Returns the tools of MCP servers among these.
    pub(crate) fn remote_links(&self) -> Vec<RemoteLink> {
        let links = self.tools.iter().filter_map(|tool| tool.remote());
        links.cloned().collect()
    }

    /// Returns the offers to a model that is shown pictures of this size.
    pub fn specs(&self, shown: ScreenSize) -> ToolSpecs {
        filled(&self.offers(), shown)
    }

    /// Returns the offers as the tools make them, for any size of pictures.
    pub(crate) fn offers(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Parses the input for the tool called `name`.
    pub fn read(&self, name: &str, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        match self.tools.iter().find(|tool| tool.name() == name) {
            Some(tool) => tool.read(input),
            None => Err(BadCall::NoTool {
                name: name.to_owned(),
                there_are: self.names(),
            }),
        }
    }

    /// Checks that a call is valid. The error is for its author. Only a session knows the tools of its MCP servers, so
    /// calls of those pass.
    pub fn check(&self, name: &str, input: &Value) -> Result<(), String> {
        if is_remote_name(name) {
            return Ok(());
        }
        self.read(name, input)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// Describes a call to people. Returns `None` for a call that no tool can parse.
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

/// Returns offers with the size of the pictures filled in.
pub(crate) fn filled(offers: &[ToolSpec], shown: ScreenSize) -> ToolSpecs {
    let size = shown.to_string();
    let fill = |offer: &ToolSpec| ToolSpec {
        description: offer.description.replace("{{screen}}", &size),
        ..offer.clone()
    };
    offers.iter().map(fill).collect()
}

/// Parses the input of a tool as a `T`.
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
