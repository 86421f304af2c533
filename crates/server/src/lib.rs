//! The HTTP and WebSocket API: authenticates callers, passes their requests to the app and formats the results.

mod caller;
mod extract;
mod gateway;
mod metrics;
mod openapi;
mod origin_address;
mod page;
mod paths;
mod problem;
mod rate;
mod request_id;
mod routes;
mod screen_input;
mod view;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::FromRef,
    http::{HeaderValue, header},
};
use deskhand_app::{
    App, Catalog, Computers, Control, Decisions, Queue, Quotas, Sessions, Sharing, Spending, Users,
    Vault,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};
use utoipa_axum::router::OpenApiRouter;

pub use crate::{gateway::serve_gateway, openapi::openapi};
use crate::{metrics::Metrics, problem::Problem, rate::Rates};

/// The longest body of a request.
const LONGEST_BODY_BYTES: usize = 1024 * 1024;

/// The content security policy of the page: it may load and connect to this server only.
const CONTENT_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; \
    style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'self'";

/// The settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address for users, without a slash at the end: `http://localhost:7878`.
    pub public_url: String,
    /// The limit for one token or user. 0 means no limit.
    pub requests_per_second: u32,
    /// The limit for one address. 0 means no limit.
    pub sign_ins_per_minute: u32,
}

/// The state that handlers share.
#[derive(Debug, Clone)]
struct Shared {
    app: App,
    settings: Arc<Settings>,
    rates: Rates,
    metrics: Metrics,
    health: routes::health::Finding,
    shutdown: CancellationToken,
}

/// Lets handlers take a subject of the app as their state.
macro_rules! subjects {
    ($($accessor:ident: $subject:ty),* $(,)?) => {$(
        impl FromRef<Shared> for $subject {
            fn from_ref(shared: &Shared) -> Self {
                shared.app.$accessor().clone()
            }
        }
    )*};
}

subjects! {
    sessions: Sessions,
    queue: Queue,
    control: Control,
    computers: Computers,
    decisions: Decisions,
    sharing: Sharing,
    limits: Quotas,
    spending: Spending,
    catalog: Catalog,
    users: Users,
    vault: Vault,
}

/// Serves until `shutdown` fires. Then it finishes the requests in progress and closes every `WebSocket`.
pub async fn serve(
    listener: TcpListener,
    app: App,
    settings: Settings,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let metrics = Metrics::install()?;
    let shared = Shared {
        app,
        rates: Rates::new(&settings),
        settings: Arc::new(settings),
        metrics: metrics.clone(),
        health: routes::health::Finding::default(),
        shutdown: shutdown.clone(),
    };
    let service = router(shared).into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .into_future();
    tokio::select! {
        served = serving => served,
        never = metrics.keep_small() => match never {},
    }
}

/// Returns true if this binary was built with the page.
pub fn has_page() -> bool {
    page::is_built()
}

/// Returns all routes with their descriptions. Every module lists its own.
fn routes() -> OpenApiRouter<Shared> {
    use routes::{
        audit, bus, by_hand, decisions, docs, health, lease, limits, messages, metrics, models,
        offers, people, queue, screen, secrets, sessions, settings, sharing, sign_ins, stream,
        tokens, usage, users,
    };
    let api = OpenApiRouter::new()
        .merge(people::routes())
        .merge(sign_ins::routes())
        .merge(audit::routes())
        .merge(offers::routes())
        .merge(users::routes())
        .merge(limits::routes())
        .merge(usage::routes())
        .merge(tokens::routes())
        .merge(secrets::routes())
        .merge(models::routes())
        .merge(sessions::routes())
        .merge(messages::routes())
        .merge(queue::routes())
        .merge(lease::routes())
        .merge(by_hand::routes())
        .merge(decisions::routes())
        .merge(settings::routes())
        .merge(stream::routes())
        .merge(screen::routes())
        .merge(sharing::routes())
        .merge(bus::routes())
        .merge(docs::routes())
        .fallback(|| async { Problem::no_route() });
    OpenApiRouter::new()
        .nest("/api", api)
        .merge(health::routes())
        .merge(metrics::routes())
}

fn router(shared: Shared) -> Router {
    Router::from(routes())
        .method_not_allowed_fallback(|| async { Problem::wrong_method() })
        .fallback(page::page)
        .layer(header_layer(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_POLICY,
        ))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // A sign-in link must not leak in a Referer header.
        .layer(header_layer(header::REFERRER_POLICY, "no-referrer"))
        .layer(CatchPanicLayer::custom(|_| Problem::panicked()))
        .layer(axum::middleware::from_fn(metrics::count))
        .layer(axum::middleware::from_fn(request_id::name))
        .with_state(shared)
}

fn header_layer(
    name: header::HeaderName,
    value: &'static str,
) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}
