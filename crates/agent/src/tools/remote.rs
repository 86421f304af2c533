//! `server__tool`: the tools of MCP servers.
//!
//! Nothing that a server says about its own tools is trusted: hints about their risk are ignored, so a person approves
//! every call unless a rule names the tool or its server.

mod offer;
mod report;

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    plain::visible,
    policy::{CallSubject, Proposal, Risk},
    tool::ToolSpec,
    tool_server::RemoteCall,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(test)]
use self::offer::MOST_TOOLS;
pub use self::offer::{MOST_TOOLS_OF_SERVER, RemoteOffer, ServerTools, remote_offers};
use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput,
    words::{LONGEST_QUOTE, shorten},
};

/// The tool of a server behind a name that a model knows. It is stored with the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteLink {
    /// The name that models know.
    pub name: String,
    pub server: String,
    /// The name that the server knows.
    pub tool: String,
}

/// A tool of an MCP server.
#[derive(Debug)]
pub(super) struct ServerTool {
    link: Arc<RemoteLink>,
    spec: ToolSpec,
}

/// A call of such a tool.
#[derive(Debug)]
struct ServerCall {
    link: Arc<RemoteLink>,
    input: Map<String, Value>,
}

impl ServerTool {
    pub(super) fn new(offer: RemoteOffer) -> Self {
        Self {
            link: Arc::new(offer.link),
            spec: offer.spec,
        }
    }
}

impl Tool for ServerTool {
    fn name(&self) -> &str {
        &self.link.name
    }

    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        let input = match input {
            Value::Object(fields) => fields.clone(),
            // Some models leave out the input of a tool that needs none.
            Value::Null => Map::new(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(BadCall::Input {
                    tool: self.link.name.clone(),
                    problem: "it must be an object".to_owned(),
                });
            }
        };
        Ok(Box::new(ServerCall {
            link: Arc::clone(&self.link),
            input,
        }))
    }

    fn remote(&self) -> Option<&RemoteLink> {
        Some(&self.link)
    }
}

impl RemoteLink {
    /// Names the tool and its server for people.
    fn for_people(&self) -> String {
        let tool = shorten(&visible(&self.tool), LONGEST_QUOTE);
        format!("{tool} of the MCP server {}", self.server)
    }
}

#[async_trait]
impl Invocation for ServerCall {
    fn describe(&self) -> String {
        format!("Used {}", self.link.for_people())
    }

    fn proposal(&self) -> Proposal {
        Proposal {
            tool: self.link.name.clone(),
            subject: CallSubject::text(self.link.name.as_str()),
            risk: Risk::Risky(None),
            wish: format!("The agent wants to use {}", self.link.for_people()),
        }
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let call = RemoteCall {
            tool: self.link.tool.clone(),
            input: self.input,
            progress: None,
        };
        let answer = context.call_remote(&self.link.server, call).await?;
        Ok(report::output(&self.link, answer))
    }
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
