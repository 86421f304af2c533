//! The HTTP and WebSocket API: authenticates callers, passes their requests to the app and formats the results.

mod address;
mod caller;
mod extract;
mod gateway;
mod limits;
mod metrics;
mod openapi;
mod origin_address;
mod page;
mod paths;
mod port;
mod problem;
mod rate;
mod request_id;
mod routes;
mod screen_input;
mod site;
mod sockets;
mod view;

use std::sync::Arc;

use axum::{
    Router,
    extract::FromRef,
    http::{HeaderName, HeaderValue, header},
};
use deskhand_app::{
    App, Catalog, Computers, Control, Decisions, Queue, Quotas, Sessions, Sharing, Spending, Users,
    Vault,
};
use tokio_util::sync::CancellationToken;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};
use utoipa_axum::router::OpenApiRouter;

pub use crate::{
    gateway::serve_gateway, limits::ConnectionLimits, openapi::openapi, port::Listeners,
};
use crate::{metrics::Metrics, problem::Problem, rate::Rates, site::Site, sockets::Sockets};

/// The longest body of a request.
const LONGEST_BODY_BYTES: usize = 1024 * 1024;

/// The content security policy of the page: it may load and connect to this server only.
const CONTENT_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; \
    style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'self'";

/// What the page may use of the device: nothing but the screen and the clipboard.
const PERMISSIONS_POLICY: &str = "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), \
    gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

/// The settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address for users, without a slash at the end: `http://localhost:7878`.
    pub public_url: String,
    /// Names under which the server may be reached, besides its addresses and the name in `public_url`.
    pub allowed_hosts: Vec<String>,
    /// The limit for one token or user. 0 means no limit.
    pub requests_per_second: u32,
    /// The limit for one address. 0 means no limit.
    pub sign_ins_per_minute: u32,
    /// The limit for one address. 0 means no limit.
    pub wrong_tokens_per_minute: u32,
    pub connections: ConnectionLimits,
}

/// The state that handlers share.
#[derive(Debug, Clone)]
struct Shared {
    app: App,
    settings: Arc<Settings>,
    site: Arc<Site>,
    rates: Rates,
    sockets: Sockets,
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
    listeners: Listeners,
    app: App,
    settings: Settings,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let metrics = Metrics::install()?;
    let connections = settings.connections;
    let site = Site::new(&settings, listeners.tcp.local_addr()?.ip());
    let rates = Rates::new(&settings);
    let shared = Shared {
        app,
        rates: rates.clone(),
        site: Arc::new(site),
        sockets: Sockets::new(settings.connections.sockets_per_user),
        settings: Arc::new(settings),
        metrics: metrics.clone(),
        health: routes::health::Finding::default(),
        shutdown: shutdown.clone(),
    };
    let serving = port::serve(listeners, router(shared), connections, shutdown);
    tokio::select! {
        () = serving => Ok(()),
        never = metrics.keep_small() => match never {},
        never = rates.keep_small() => match never {},
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
    let router = Router::from(routes())
        .method_not_allowed_fallback(|| async { Problem::wrong_method() })
        .fallback(page::page)
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&shared.site),
            site::check_host,
        ));
    let headers = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // A sign-in link must not leak in a Referer header.
        (header::REFERRER_POLICY, "no-referrer"),
        // Pages of other sites can neither show our answers nor hold on to our window.
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            PERMISSIONS_POLICY,
        ),
    ];
    headers
        .into_iter()
        .fold(router, |router, (name, value)| {
            router.layer(header_layer(name, value))
        })
        .layer(CatchPanicLayer::custom(|_| Problem::panicked()))
        .layer(axum::middleware::from_fn(metrics::count))
        .layer(axum::middleware::from_fn(request_id::name))
        .with_state(shared)
}

fn header_layer(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}
