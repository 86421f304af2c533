//! The health of the server.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The health of the server and of its parts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Health)]
pub struct HealthView {
    pub status: HealthStatus,
    pub version: String,
    pub parts: PartsView,
    /// The background work of the server, with its last result. A job that failed is tried again, and does not change
    /// `status`.
    pub jobs: Vec<JobView>,
}

/// A piece of background work.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HealthJob)]
pub struct JobView {
    pub name: String,
    pub last_result: JobResult,
    /// The end of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub last_run_at: Option<Timestamp>,
    /// The duration of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub duration_ms: Option<u64>,
}

/// The result of a job. It is `none` until the first run has ended. The server's log has the reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HealthJobResult)]
#[serde(rename_all = "lowercase")]
pub enum JobResult {
    None,
    Ok,
    Failed,
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
    /// The web page in this program.
    pub page: PartView,
}

/// The health of one part.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HealthPart)]
pub struct PartView {
    pub status: HealthStatus,
    /// The problem and the place to look, if there is a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

/// `degraded`: some things do not work. `unhealthy`: nothing works.
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
