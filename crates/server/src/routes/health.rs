//! The health of the server, part by part.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::health::{HealthStatus, HealthView, JobResult, JobView, PartView, PartsView};
use deskhand_app::{Health, JobStatus};
use tokio::sync::Mutex;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, page};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(health))
}

/// The time for which a finding is reused, so that unauthenticated requests cannot cause load.
const CACHED_FOR: Duration = Duration::from_secs(1);

/// The newest finding and its time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Finding(Arc<Mutex<Option<(Instant, Health)>>>);

impl Finding {
    /// Returns the newest finding, and checks again if it is old. Concurrent requests wait for one check.
    async fn get(&self, shared: &Shared) -> Health {
        let mut finding = self.0.lock().await;
        match *finding {
            Some((at, health)) if at.elapsed() < CACHED_FOR => health,
            _ => {
                let health = shared.app.health().check().await;
                *finding = Some((Instant::now(), health));
                health
            }
        }
    }
}

/// Shows the health of the server, part by part.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    security(()),
    responses(
        (status = 200, description = "the server is `healthy` or `degraded`", body = HealthView),
        (status = 503, description = "the server is `unhealthy`", body = HealthView),
    ),
)]
pub(crate) async fn health(State(shared): State<Shared>) -> (StatusCode, Json<HealthView>) {
    let health = shared.health.get(&shared).await;
    let jobs = shared.app.health().jobs();
    let view = health_view(health, jobs, page::is_built());
    let status = match view.status {
        HealthStatus::Healthy | HealthStatus::Degraded => StatusCode::OK,
        HealthStatus::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(view))
}

fn health_view(health: Health, jobs: Vec<JobStatus>, has_page: bool) -> HealthView {
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
        message: (!is_well).then(|| message.to_owned()),
    };
    let status = match (database, pictures && sandboxes && has_page) {
        (false, _) => HealthStatus::Unhealthy,
        (true, false) => HealthStatus::Degraded,
        (true, true) => HealthStatus::Healthy,
    };
    HealthView {
        status,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        jobs: jobs.into_iter().map(job_view).collect(),
        parts: PartsView {
            database: part(
                database,
                HealthStatus::Unhealthy,
                "the database does not answer; the log says why",
            ),
            pictures: part(
                pictures,
                HealthStatus::Degraded,
                "pictures cannot be stored; the log says why",
            ),
            sandboxes: part(
                sandboxes,
                HealthStatus::Degraded,
                "sandboxes cannot be started; `deskhand doctor` says what is missing",
            ),
            page: part(
                has_page,
                HealthStatus::Degraded,
                "this server was built without the page; run `make build`",
            ),
        },
    }
}

fn job_view(job: JobStatus) -> JobView {
    let run = job.last_run;
    JobView {
        name: job.name.to_owned(),
        last_result: match run.map(|run| run.is_ok) {
            None => JobResult::None,
            Some(true) => JobResult::Ok,
            Some(false) => JobResult::Failed,
        },
        last_run_at: run.map(|run| run.ended_at),
        duration_ms: run.map(|run| u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX)),
    }
}
