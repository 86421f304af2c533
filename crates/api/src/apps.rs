//! Services of a session's sandbox.

use std::collections::BTreeMap;

use deskhand_core::sandbox::ListeningPort;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token that opens one service of a sandbox, and the addresses of its services.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = SandboxToken)]
pub struct SandboxTokenView {
    /// Opens the address of `service` as the query parameter `token`. A JSON Web Token with `sub`, `sid` and `svc`.
    pub token: String,
    /// The service that the token is for.
    #[schema(examples("port-3000"))]
    pub service: String,
    pub expires_at: Timestamp,
    /// The addresses of the services by name: `vscode`, one `port-N` for each port on which a program listens, and
    /// the one that the token is for. `vnc` and `ttyd` are panels of the session's own page and need no token.
    pub urls: BTreeMap<String, String>,
}

/// The ports on which programs listen in a sandbox.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Ports)]
pub struct PortsView {
    /// In order. Empty if the sandbox does not run.
    pub ports: Vec<ListeningPort>,
    /// The ports that everybody in the session may use, and not only people who may drive.
    pub shared: Vec<u16>,
    /// True if VS Code is installed.
    pub vscode: bool,
}
