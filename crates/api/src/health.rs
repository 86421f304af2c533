//! The health of the server.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The health of the server and of its parts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Health)]
pub struct HealthView {
    pub status: HealthStatus,
    pub version: String,
    pub parts: PartsView,
}

/// The parts of the server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HealthParts)]
pub struct PartsView {
    /// Nothing works without it.
    pub database: PartView,
    /// The store of screenshots.
    pub pictures: PartView,
    /// The provider of sandboxes.
    pub sandboxes: PartView,
    /// The page in this program.
    pub page: PartView,
}

/// The health of one part.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HealthPart)]
pub struct PartView {
    pub status: HealthStatus,
    /// The problem and the place to look, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

/// `degraded`: some things do not work. `unhealthy`: nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    Healthy,
    Degraded,
    Unhealthy,
}

impl std::fmt::Display for HealthStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Unhealthy => "unhealthy",
        })
    }
}
