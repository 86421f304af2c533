//! The tools. A new one is a file, or one more in the file of its subject, and a line in [`TOOLS`] or in the list of its
//! group.

mod agent_end;
mod agent_get_last_image;
mod agent_log;
mod agent_reply;
mod agent_start;
mod agent_status;
mod browser;
mod computer;
mod computer_open;
mod file;
mod hand;
mod shell;

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::user::Scope;
use rmcp::{
    handler::server::tool::schema_for_type,
    model::{
        CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, JsonObject,
        Tool as ToolView, ToolAnnotations,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{call::Call, clip::clip, refusal::CallError};

/// The longest description of a problem with arguments. It may quote them.
const LONGEST_PROBLEM_BYTES: usize = 500;

/// The group of tools that work with agents.
pub(crate) const AGENT: &str = "agent";

/// The group of tools for mouse, keyboard and screen.
pub(crate) const COMPUTER: &str = "computer";
/// The group of tools for the browser.
pub(crate) const BROWSER: &str = "browser";
/// The group of tools for the shell.
pub(crate) const SHELL: &str = "shell";
/// The group of tools for files.
pub(crate) const FILE: &str = "file";

/// All groups.
pub(crate) const GROUPS: [&str; 5] = [AGENT, COMPUTER, BROWSER, SHELL, FILE];
/// The groups by which clients use a computer themselves.
const BY_HAND: [&str; 4] = [COMPUTER, BROWSER, SHELL, FILE];

/// The lists of all tools, in the order in which clients see them.
static TOOLS: &[&[&dyn AnyTool]] = &[
    AGENTS,
    computer::TOOLS,
    browser::TOOLS,
    shell::TOOLS,
    file::TOOLS,
];

/// The tools for agents, and the one that gives a computer without an agent.
static AGENTS: &[&dyn AnyTool] = &[
    &agent_start::AgentStart,
    &agent_status::AgentStatus,
    &agent_log::AgentLog,
    &agent_get_last_image::AgentGetLastImage,
    &agent_reply::AgentReply,
    &computer_open::ComputerOpen,
    &agent_end::AgentEnd,
];

/// Something that a client can call.
#[async_trait]
pub(crate) trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// The text for the model that chooses among tools.
    const DESCRIPTION: &'static str;
    /// The groups that the tool is in.
    const GROUPS: &'static [&'static str];
    const EFFECT: Effect;
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Serialize + JsonSchema + Send + 'static;

    async fn run(
        &self,
        input: Self::Input,
        call: &Call<'_>,
    ) -> Result<Answer<Self::Output>, CallError>;
}

/// The effect of a tool. It decides about the scope that a token needs, and about the hints to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    Reads,
    /// It starts or continues work.
    Acts,
    /// It ends something for good. Doing it twice is the same as once.
    Ends,
}

/// The result of a tool.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// Facts for programs, and pictures.
    Facts {
        facts: T,
        pictures: Vec<ContentBlock>,
    },
    /// The client is to ask a person, and then to call again.
    Asks(InputRequiredResult),
}

/// A tool of any input.
#[async_trait]
pub(crate) trait AnyTool: Send + Sync {
    fn name(&self) -> &'static str;
    fn groups(&self) -> &'static [&'static str];
    /// Describes the tool to clients.
    fn view(&self) -> ToolView;
    /// Checks the input and the scope, and runs the tool.
    async fn call(&self, input: JsonObject, call: &Call<'_>)
    -> Result<CallToolResponse, CallError>;
}

impl<T> Answer<T> {
    pub(crate) fn new(facts: T) -> Self {
        Self::with_pictures(facts, Vec::new())
    }

    pub(crate) fn with_pictures(facts: T, pictures: Vec<ContentBlock>) -> Self {
        Self::Facts { facts, pictures }
    }
}

impl Effect {
    fn needed(self) -> Scope {
        match self {
            Self::Reads => Scope::Read,
            Self::Acts | Self::Ends => Scope::Write,
        }
    }

    fn annotations(self, title: &str) -> ToolAnnotations {
        let title = Some(title.to_owned());
        let (reads, ends) = (self == Self::Reads, self == Self::Ends);
        let reaches_out = self == Self::Acts;
        ToolAnnotations::from_raw(
            title,
            Some(reads),
            Some(ends),
            Some(reads || ends),
            Some(reaches_out),
        )
    }
}

#[async_trait]
impl<T: Tool> AnyTool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn groups(&self) -> &'static [&'static str] {
        T::GROUPS
    }

    fn view(&self) -> ToolView {
        let mut view = ToolView::new(T::NAME, T::DESCRIPTION, schema_of::<T::Input>());
        view.title = Some(T::TITLE.to_owned());
        view.output_schema = Some(schema_of::<T::Output>());
        view.annotations = Some(T::EFFECT.annotations(T::TITLE));
        view
    }

    async fn call(
        &self,
        input: JsonObject,
        call: &Call<'_>,
    ) -> Result<CallToolResponse, CallError> {
        call.require(T::EFFECT.needed())?;
        let (facts, pictures) = match self.run(read(T::NAME, input)?, call).await? {
            Answer::Facts { facts, pictures } => (facts, pictures),
            Answer::Asks(asked) => return Ok(asked.into()),
        };
        let facts = serde_json::to_value(facts).map_err(|error| {
            tracing::error!(tool = T::NAME, %error, "a result cannot be written as JSON");
            CallError::malformed("the result cannot be written as JSON")
        })?;
        let mut result = CallToolResult::structured(facts);
        result.content.extend(pictures);
        Ok(result.into())
    }
}

/// Reads the arguments of a call.
fn read<I: DeserializeOwned>(tool: &str, input: JsonObject) -> Result<I, CallError> {
    let read = serde_json::from_value(Value::Object(input));
    read.map_err(|error| {
        let problem = clip(&error.to_string(), LONGEST_PROBLEM_BYTES);
        CallError::malformed(format!("the arguments of {tool} do not fit: {problem}"))
    })
}

/// Returns the schema of a type, in which an absent field is not described as null: some vendors accept one type only.
/// Nor does it name the formats of Rust's numbers, which other languages do not know.
fn schema_of<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let mut schema = schema_for_type::<T>().as_ref().clone();
    drop_null_of(&mut schema);
    Arc::new(schema)
}

fn drop_null_of(fields: &mut JsonObject) {
    let is_null = |value: &Value| value == "null" || value.get("type") == Some(&"null".into());
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| !is_null(kind));
        if let [only] = &types[..] {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| !is_null(choice));
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only);
        }
    }
    if fields
        .get("type")
        .is_some_and(|kind| kind == "integer" || kind == "number")
    {
        fields.remove("format");
    }
    fields.values_mut().for_each(drop_null);
}

fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(fields) => drop_null_of(fields),
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns all tools.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn AnyTool> {
    TOOLS.iter().copied().flatten().copied()
}

/// Returns the tools that clients are offered. Those that would be refused anyway are not listed.
pub(crate) fn offered(allows_scripts: bool) -> impl Iterator<Item = &'static dyn AnyTool> {
    all().filter(move |tool| allows_scripts || tool.name() != browser::SCRIPT_TOOL)
}

/// Returns the tool with this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn AnyTool> {
    all().find(|tool| tool.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described() {
        for tool in all() {
            let view = tool.view();
            let name = tool.name();
            assert!(
                view.description.is_some_and(|text| text.len() > 40),
                "{name}"
            );
            assert_eq!(
                view.input_schema.get("type"),
                Some(&"object".into()),
                "{name}"
            );
            if let Some(output) = &view.output_schema {
                assert_eq!(output.get("type"), Some(&"object".into()), "{name}");
            }
            let schemas = format!("{:?} {:?}", view.input_schema, view.output_schema);
            assert!(
                !schemas.contains("null") && !schemas.contains("uint"),
                "{name}: {schemas}"
            );
        }
    }

    #[test]
    fn every_tool_is_in_a_known_group_and_has_a_name_of_its_own() {
        let mut names = std::collections::HashSet::new();
        for tool in all() {
            let (name, groups) = (tool.name(), tool.groups());
            assert!(names.insert(name), "{name} twice");
            assert!(!groups.is_empty(), "{name}");
            assert!(groups.iter().all(|group| GROUPS.contains(group)), "{name}");
        }
    }
}
