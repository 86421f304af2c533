//! Events about the network of a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::network::policy::BlockReason;

/// A program contacted a host for the first time, or was blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = NetworkData)]
pub struct HostContacted {
    /// A name, or an address that was used without a name.
    pub host: String,
    pub port: u16,
    /// The reason if it was blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub blocked: Option<BlockReason>,
}
