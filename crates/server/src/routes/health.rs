//! Whether the server is well, part by part.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{Health, JobStatus};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, page};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(health))
}

/// How long a finding holds, so that strangers who ask often make no work.
const HOLDS: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthView {
    status: HealthStatus,
    version: &'static str,
    parts: PartsView,
    /// The background work of the server, with its last result. A job that failed is tried again, and
    /// does not change `status`.
    jobs: Vec<JobView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HealthJob)]
struct JobView {
    name: &'static str,
    last_result: JobResult,
    /// The end of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_run_at: Option<Timestamp>,
    /// The duration of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    duration_ms: Option<u64>,
}

/// `none` before the first run has ended. Why a run failed is in the server's log.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = HealthJobResult)]
#[serde(rename_all = "lowercase")]
enum JobResult {
    None,
    Ok,
    Failed,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HealthParts)]
struct PartsView {
    /// Without it nothing can be done.
    database: PartView,
    /// Where pictures of the screen are kept.
    pictures: PartView,
    /// Whether sandboxes can be started.
    sandboxes: PartView,
    /// Whether the page is in this program.
    page: PartView,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HealthPart)]
struct PartView {
    status: HealthStatus,
    /// What is wrong and where to look, when something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    message: Option<&'static str>,
}

/// `degraded`: some things cannot be done. `unhealthy`: nothing can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HealthStatus {
    Healthy,
    Degraded,
    Unhealthy,
}

/// The newest finding and when it was made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Finding(Arc<Mutex<Option<(Instant, Health)>>>);

impl Finding {
    /// The newest finding, made now when it is old. Whoever asks meanwhile waits for it.
    async fn get(&self, shared: &Shared) -> Health {
        let mut finding = self.0.lock().await;
        match *finding {
            Some((at, health)) if at.elapsed() < HOLDS => health,
            _ => {
                let health = shared.app.health().check().await;
                *finding = Some((Instant::now(), health));
                health
            }
        }
    }
}

/// Tells whether the server is well, part by part.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    security(()),
    responses(
        (status = 200, description = "it is `healthy` or `degraded`", body = HealthView),
        (status = 503, description = "it is `unhealthy`", body = HealthView),
    ),
)]
pub(crate) async fn health(State(shared): State<Shared>) -> (StatusCode, Json<HealthView>) {
    let health = shared.health.get(&shared).await;
    let jobs = shared.app.health().jobs();
    let view = HealthView::new(health, jobs, page::is_built());
    let status = match view.status {
        HealthStatus::Healthy | HealthStatus::Degraded => StatusCode::OK,
        HealthStatus::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(view))
}

impl HealthView {
    fn new(health: Health, jobs: Vec<JobStatus>, has_page: bool) -> Self {
        let Health {
            database,
            pictures,
            sandboxes,
        } = health;
        let part = |is_well: bool, otherwise: HealthStatus, message: &'static str| PartView {
            status: if is_well {
                HealthStatus::Healthy
            } else {
                otherwise
            },
            message: (!is_well).then_some(message),
        };
        let status = match (database, pictures && sandboxes && has_page) {
            (false, _) => HealthStatus::Unhealthy,
            (true, false) => HealthStatus::Degraded,
            (true, true) => HealthStatus::Healthy,
        };
        Self {
            status,
            version: env!("CARGO_PKG_VERSION"),
            jobs: jobs.into_iter().map(JobView::from).collect(),
            parts: PartsView {
                database: part(
                    database,
                    HealthStatus::Unhealthy,
                    "the database does not answer; the log says why",
                ),
                pictures: part(
                    pictures,
                    HealthStatus::Degraded,
                    "pictures cannot be kept; the log says why",
                ),
                sandboxes: part(
                    sandboxes,
                    HealthStatus::Degraded,
                    "sandboxes cannot be started; `deskhand doctor` says what is missing",
                ),
                page: part(
                    has_page,
                    HealthStatus::Degraded,
                    "the page was not there when this server was built; run `make build`",
                ),
            },
        }
    }
}

impl From<JobStatus> for JobView {
    fn from(job: JobStatus) -> Self {
        let run = job.last_run;
        Self {
            name: job.name,
            last_result: match run.map(|run| run.is_ok) {
                None => JobResult::None,
                Some(true) => JobResult::Ok,
                Some(false) => JobResult::Failed,
            },
            last_run_at: run.map(|run| run.ended_at),
            duration_ms: run.map(|run| u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}
