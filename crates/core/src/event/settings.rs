//! Events about the settings of a session.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::{
    budget::Budget, id::UserId, model::Effort, network::policy::NetworkPolicy, policy::Policy,
    tool_server::spec::McpServerSpec,
};

/// A person changed settings of the session. Absent settings stayed the same. A new model has an event of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangedData)]
pub struct SessionChanged {
    #[schema(value_type = Uuid)]
    pub by: UserId,
    /// Their name at that time.
    pub by_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub title: Option<String>,
    /// The instructions from the next turn on. Empty if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub instructions: Option<String>,
    /// The effort of its models from the next turn on. Null if the server's settings decide.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Effort>)]
    pub effort: Option<Option<Effort>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Policy)]
    pub approvals: Option<Policy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Budget)]
    pub budget: Option<Budget>,
    /// The hosts that its programs may contact from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = NetworkPolicy)]
    pub network: Option<NetworkPolicy>,
    /// The MCP servers whose tools its agent may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<McpServerSpec>)]
    pub mcp_servers: Option<Vec<McpServerSpec>>,
}

impl SessionChanged {
    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.title.is_none()
            && self.instructions.is_none()
            && self.effort.is_none()
            && self.approvals.is_none()
            && self.budget.is_none()
            && self.network.is_none()
            && self.mcp_servers.is_none()
    }
}

/// Deserializes a field that is present, so that null differs from an absent field.
fn present<'de, D>(deserializer: D) -> Result<Option<Option<Effort>>, D::Error>
where
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
