//! Counts requests and connections, and renders all metrics for Prometheus.

use std::{
    convert::Infallible,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode},
    middleware::Next,
    response::Response,
};
use deskhand_app::metrics::{ACTION_SECONDS, MetricsSnapshot, TURN_SECONDS};
use deskhand_core::session::Phase;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

const REQUESTS: &str = "deskhand_http_requests_total";
const REQUEST_SECONDS: &str = "deskhand_http_request_duration_seconds";
const CONNECTIONS: &str = "deskhand_stream_clients";
const SESSIONS: &str = "deskhand_sessions";
const WAITING: &str = "deskhand_waiting_prompts";
const SANDBOXES: &str = "deskhand_sandboxes";
const SANDBOX_MEMORY: &str = "deskhand_sandbox_memory_bytes";
const SANDBOX_CPU: &str = "deskhand_sandbox_cpu_milliseconds_total";

/// The histogram bounds of quick operations, in seconds.
const QUICK_BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];
/// The histogram bounds of an agent's turns and actions, in seconds.
const SLOW_BUCKETS: [f64; 9] = [0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

/// The interval between aggregations of recorded values. They stay in memory until then.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The recorder of this process, once it is installed.
static INSTALLED: Mutex<Option<Metrics>> = Mutex::new(None);

/// The recorded metrics.
#[derive(Clone)]
pub(crate) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the metrics recorder. A process has one, which all its servers share.
    pub(crate) fn install() -> io::Result<Self> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(metrics) = &*installed {
            return Ok(metrics.clone());
        }
        let slow = |name: &str| Matcher::Full(name.to_owned());
        let handle = PrometheusBuilder::new()
            .set_buckets(&QUICK_BUCKETS)
            .and_then(|builder| builder.set_buckets_for_metric(slow(TURN_SECONDS), &SLOW_BUCKETS))
            .and_then(|builder| builder.set_buckets_for_metric(slow(ACTION_SECONDS), &SLOW_BUCKETS))
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(io::Error::other)?;
        describe();
        Ok(installed.insert(Self(handle)).clone())
    }

    /// Aggregates recorded values from time to time, so that memory stays small even if nothing reads the metrics.
    pub(crate) async fn keep_small(&self) -> Infallible {
        let mut tick = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            tick.tick().await;
            self.0.run_upkeep();
        }
    }

    /// Renders all metrics in the Prometheus text format.
    pub(crate) fn render(&self, snapshot: &MetricsSnapshot) -> String {
        for phase in Phase::ALL {
            let n = snapshot
                .sessions
                .iter()
                .find(|(counted, _)| *counted == phase);
            gauge!(SESSIONS, "state" => phase.name()).set(n.map_or(0.0, |(_, n)| float(*n)));
        }
        gauge!(WAITING).set(float(snapshot.n_waiting_prompts));
        gauge!(SANDBOXES).set(float(snapshot.sandboxes.n_running));
        if let Some(bytes) = snapshot.sandboxes.memory_bytes {
            gauge!(SANDBOX_MEMORY).set(float(bytes));
        }
        if let Some(cpu) = snapshot.sandboxes.cpu {
            let millis = u64::try_from(cpu.as_millis()).unwrap_or(u64::MAX);
            counter!(SANDBOX_CPU).absolute(millis);
        }
        self.0.render()
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

fn describe() {
    describe_counter!(REQUESTS, "Answered requests.");
    describe_histogram!(REQUEST_SECONDS, "Time until the answer began, in seconds.");
    describe_gauge!(CONNECTIONS, "Open WebSockets.");
    describe_gauge!(SESSIONS, "Sessions by state.");
    describe_gauge!(WAITING, "Messages waiting in queues.");
    describe_histogram!(TURN_SECONDS, "Duration of turns, in seconds.");
    describe_histogram!(
        ACTION_SECONDS,
        "Duration of actions on computers, in seconds."
    );
    describe_gauge!(SANDBOXES, "Running sandboxes.");
    describe_gauge!(SANDBOX_MEMORY, "Memory used by all sandboxes, in bytes.");
    describe_counter!(
        SANDBOX_CPU,
        "Processor time used by all sandboxes, in milliseconds."
    );
}

/// Counts every request by its route. A request without a route is for the page. The app gateway counts its requests
/// itself.
pub(crate) async fn count(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let counted = begin(request.method());
    let response = next.run(request).await;
    let route = match &route {
        Some(route) => route.as_str().to_owned(),
        None => "page".to_owned(),
    };
    counted.end(route, response.status());
    response
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct CountedRequest {
    method: &'static str,
    started: Instant,
}

/// Starts the measurement of a request.
pub(crate) fn begin(method: &Method) -> CountedRequest {
    CountedRequest {
        method: method_name(method),
        started: Instant::now(),
    }
}

impl CountedRequest {
    /// Counts the request, when its response begins.
    pub(crate) fn end(self, route: String, status: StatusCode) {
        let Self { method, started } = self;
        histogram!(REQUEST_SECONDS, "route" => route.clone(), "method" => method)
            .record(started.elapsed());
        let status = status.as_str().to_owned();
        counter!(REQUESTS, "route" => route, "method" => method, "status" => status).increment(1);
    }
}

/// Returns the name of a method that some route takes, or `other`.
///
/// Callers can make up any number of methods, and each would become a time series.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Counts an open WebSocket until it is dropped.
pub(crate) struct OpenSocket(metrics::Gauge);

impl OpenSocket {
    /// Counts a connection. `kind` is `events`, `screen`, `terminal`, `bus` or `app`.
    pub(crate) fn count(kind: &'static str) -> Self {
        let gauge = gauge!(CONNECTIONS, "kind" => kind);
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

/// Converts a count to floating point, which Prometheus uses. It is not exact beyond 2⁵³, which does not matter here.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(n: u64) -> f64 {
    n as f64
}
