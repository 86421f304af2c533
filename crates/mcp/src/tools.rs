//! The tools, one file each. A new one is a file and a line in [`TOOLS`].

mod agent_end;
mod agent_get_last_image;
mod agent_log;
mod agent_reply;
mod agent_start;
mod agent_status;

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::user::Scope;
use rmcp::{
    handler::server::tool::schema_for_type,
    model::{CallToolResult, ContentBlock, JsonObject, Tool as ToolView, ToolAnnotations},
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{call::Call, refusal::CallError};

/// The group of tools that work with agents.
pub(crate) const AGENT: &str = "agent";

/// All tools, in the order in which clients see them.
static TOOLS: &[&dyn AnyTool] = &[
    &agent_start::AgentStart,
    &agent_status::AgentStatus,
    &agent_log::AgentLog,
    &agent_get_last_image::AgentGetLastImage,
    &agent_reply::AgentReply,
    &agent_end::AgentEnd,
];

/// Something that a client can call.
#[async_trait]
pub(crate) trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    /// The text for the model that chooses among tools.
    const DESCRIPTION: &'static str;
    const GROUP: &'static str;
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

/// The result of a tool: facts for programs, and pictures.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    facts: T,
    pictures: Vec<ContentBlock>,
}

/// A tool of any input.
#[async_trait]
pub(crate) trait AnyTool: Send + Sync {
    fn name(&self) -> &'static str;
    fn group(&self) -> &'static str;
    /// Describes the tool to clients.
    fn view(&self) -> ToolView;
    /// Checks the input and the scope, and runs the tool.
    async fn call(&self, input: JsonObject, call: &Call<'_>) -> Result<CallToolResult, CallError>;
}

impl<T> Answer<T> {
    pub(crate) fn new(facts: T) -> Self {
        Self {
            facts,
            pictures: Vec::new(),
        }
    }

    pub(crate) fn with_pictures(mut self, pictures: Vec<ContentBlock>) -> Self {
        self.pictures = pictures;
        self
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

    fn group(&self) -> &'static str {
        T::GROUP
    }

    fn view(&self) -> ToolView {
        let mut view = ToolView::new(T::NAME, T::DESCRIPTION, schema_of::<T::Input>());
        view.title = Some(T::TITLE.to_owned());
        view.output_schema = Some(schema_of::<T::Output>());
        view.annotations = Some(T::EFFECT.annotations(T::TITLE));
        view
    }

    async fn call(&self, input: JsonObject, call: &Call<'_>) -> Result<CallToolResult, CallError> {
        call.require(T::EFFECT.needed())?;
        let input = serde_json::from_value(Value::Object(input));
        let input = input.map_err(|error| {
            CallError::malformed(format!("the arguments of {} do not fit: {error}", T::NAME))
        })?;
        let answer = self.run(input, call).await?;
        let facts = serde_json::to_value(answer.facts);
        let facts = facts.map_err(|error| {
            tracing::error!(tool = T::NAME, %error, "a result cannot be written as JSON");
            CallError::malformed("the result cannot be written as JSON")
        })?;
        let mut result = CallToolResult::structured(facts);
        result.content.extend(answer.pictures);
        Ok(result)
    }
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
    TOOLS.iter().copied()
}

/// Returns the tool with this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn AnyTool> {
    all().find(|tool| tool.name() == name)
}

/// Returns the names of all groups, each once.
pub(crate) fn groups() -> Vec<&'static str> {
    let mut groups: Vec<_> = all().map(AnyTool::group).collect();
    groups.dedup();
    groups
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
            let output = view.output_schema.expect("a schema");
            assert_eq!(output.get("type"), Some(&"object".into()), "{name}");
            let schemas = format!("{:?} {output:?}", view.input_schema);
            assert!(
                !schemas.contains("null") && !schemas.contains("uint"),
                "{name}: {schemas}"
            );
        }
    }
}
