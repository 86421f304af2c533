//! The HTTP and WebSocket API: authenticates callers, passes their requests to the app and formats the results.

mod address;
mod apps;
mod caller;
mod extract;
mod frames;
mod gateway;
mod jamie;
mod limits;
mod mcp;
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

use std::{ops::Deref, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{FromRef, State},
    http::{HeaderName, HeaderValue, header},
    response::Response,
};
use deskhand_app::{
    App, Apps, Catalog, Computers, Control, Decisions, Evals, NetworkAccess, Queue, Quotas,
    Sessions, Sharing, Spending, Terminals, Users, Vault, WatchLinks,
};
use deskhand_core::{id::WatchLinkId, tasks::Tasks};
use deskhand_jamie::{ActivityDoor, StreamRecords};
use deskhand_mcp::Groups;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    apps::AppSite, mcp::Mcp, metrics::Metrics, problem::Problem, rate::Rates, site::Site,
    sockets::Sockets,
};
pub use crate::{
    gateway::serve_gateway,
    jamie::{StatusReceiver, serve_status},
    limits::ConnectionLimits,
    openapi::openapi,
    port::Listeners,
};

/// The longest body of a request.
const LONGEST_BODY_BYTES: usize = 1024 * 1024;

/// The timeout for closing connections to programs in sandboxes at shutdown.
const TASKS_TIMEOUT: Duration = Duration::from_secs(1);

/// The content security policy of the page. It may load from and connect to this server only. The sources of frames,
/// which show services of sandboxes, and the pages that may show it in a frame, which is none as a rule, are appended.
const CONTENT_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; \
    style-src 'self' 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'self'";

/// The parts of the device that the page may use: nothing but the screen and the clipboard. Sound does not begin by
/// itself.
const PERMISSIONS_POLICY: &str = "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), \
    gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

/// The settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address for users, without a slash at the end: `http://localhost:7878`.
    pub public_url: String,
    /// Names under which the server may be reached, besides its addresses and the name in `public_url`.
    pub allowed_hosts: Vec<String>,
    /// The domain of services of sandboxes. `None` means `localhost` if people reach the server there, and else none.
    pub apps_domain: Option<String>,
    /// The limit for one token or user. 0 means no limit.
    pub requests_per_second: u32,
    /// The limit for one address. 0 means no limit.
    pub sign_ins_per_minute: u32,
    /// The limit for one address. 0 means no limit.
    pub wrong_tokens_per_minute: u32,
    pub connections: ConnectionLimits,
    /// The tools of MCP clients that choose none.
    pub mcp_groups: Groups,
    /// Runs streams for the Discord bot, if this server does.
    pub streams: Option<Arc<dyn StreamRecords>>,
    /// Lets people in Discord watch streams, if the Activity is on.
    pub activity: Option<Arc<ActivityDoor>>,
}

/// The state that handlers share. Each request clones it several times.
#[derive(Debug, Clone)]
struct Shared(Arc<SharedState>);

#[derive(Debug)]
struct SharedState {
    app: App,
    settings: Arc<Settings>,
    site: Arc<Site>,
    /// The hosts of services of sandboxes. `None` if they have no domain.
    apps: Option<Arc<AppSite>>,
    rates: Rates,
    /// The `WebSocket`s of the API.
    sockets: Sockets,
    /// The `WebSocket`s of services. They are counted separately, so that a sandbox's page cannot use up the dashboard's.
    app_sockets: Sockets,
    /// The `WebSocket`s of everybody who watches by a link.
    watch_sockets: Sockets<WatchLinkId>,
    mcp: Mcp,
    metrics: Metrics,
    health: routes::health::Finding,
    tasks: Tasks,
    shutdown: CancellationToken,
}

impl Deref for Shared {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
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
    apps: Apps,
    sessions: Sessions,
    queue: Queue,
    control: Control,
    computers: Computers,
    network: NetworkAccess,
    terminals: Terminals,
    decisions: Decisions,
    evals: Evals,
    sharing: Sharing,
    limits: Quotas,
    spending: Spending,
    catalog: Catalog,
    users: Users,
    vault: Vault,
    watch_links: WatchLinks,
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
    let groups = settings.mcp_groups.clone();
    let mcp = Mcp::new(&app, &settings.public_url, groups, shutdown.clone());
    let shared = Shared(Arc::new(SharedState {
        app,
        mcp,
        rates: rates.clone(),
        site: Arc::new(site),
        apps: AppSite::new(&settings).map(Arc::new),
        sockets: Sockets::new(settings.connections.sockets_per_user),
        app_sockets: Sockets::new(settings.connections.sockets_per_user),
        watch_sockets: Sockets::new(routes::watch::MOST_SOCKETS),
        settings: Arc::new(settings),
        metrics: metrics.clone(),
        health: routes::health::Finding::default(),
        tasks: Tasks::default(),
        shutdown: shutdown.clone(),
    }));
    let tasks = shared.tasks.clone();
    let serving = port::serve(listeners, router(shared), connections, shutdown);
    tokio::select! {
        () = serving => {}
        never = metrics.keep_small() => match never {},
        never = rates.keep_small() => match never {},
    }
    if !tasks.end(TASKS_TIMEOUT).await {
        tracing::warn!("some connections to programs in sandboxes did not end in time");
    }
    Ok(())
}

/// Returns true if this binary was built with the page.
pub fn has_page() -> bool {
    page::is_built()
}

/// Returns the domain of services of sandboxes under these settings, if there is one.
pub fn apps_domain(settings: &Settings) -> Option<String> {
    AppSite::new(settings).map(|site| site.domain().to_owned())
}

/// Returns all routes with their descriptions. Every module lists its own.
fn routes() -> OpenApiRouter<Shared> {
    use routes::{
        activity, apps, artifacts, attachments, audit, bus, by_hand, clipboard, decisions, docs,
        evals, files, health, layout, lease, limits, messages, metrics, models, network, offers,
        people, queue, screen, secrets, sessions, settings, sharing, sign_ins, sound, stream,
        streams, terminals, tokens, usage, users, video, watch, watch_links,
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
        .merge(network::routes())
        .merge(sessions::routes())
        .merge(messages::routes())
        .merge(queue::routes())
        .merge(lease::routes())
        .merge(by_hand::routes())
        .merge(clipboard::routes())
        .merge(files::routes())
        .merge(artifacts::routes())
        .merge(attachments::routes())
        .merge(decisions::routes())
        .merge(settings::routes())
        .merge(layout::routes())
        .merge(stream::routes())
        .merge(screen::routes())
        .merge(sound::routes())
        .merge(video::routes())
        .merge(watch_links::routes())
        .merge(watch::routes())
        .merge(streams::routes())
        .merge(evals::routes())
        .merge(activity::routes())
        .merge(terminals::routes())
        .merge(apps::routes())
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
    let router = mcp::mount(Router::from(routes()), &shared);
    let router = jamie::mount(router, &shared)
        .method_not_allowed_fallback(|| async { Problem::wrong_method() })
        .fallback(page::page)
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&shared.site),
            site::check_host,
        ));
    let policy = content_policy(&shared, "'none'");
    let dashboard = router
        .layer(axum::middleware::map_response_with_state(
            policy,
            add_headers,
        ))
        .layer(CatchPanicLayer::custom(|_| Problem::panicked()))
        .layer(axum::middleware::from_fn(metrics::count))
        .layer(axum::middleware::from_fn(request_id::name))
        .with_state(shared.clone());
    // A request for a service of a sandbox never reaches the dashboard's routes and layers.
    Router::new()
        .fallback_service(dashboard)
        .layer(axum::middleware::from_fn_with_state(shared, apps::by_host))
        .layer(CatchPanicLayer::custom(|_| Problem::panicked()))
}

/// Returns the content security policy of a page that these pages may show in a frame.
fn content_policy(shared: &Shared, ancestors: &str) -> HeaderValue {
    let frames = shared.apps.as_ref().map(|apps| apps.frame_source());
    let frames = frames.as_deref().unwrap_or("'none'");
    let policy = format!("{CONTENT_POLICY}; frame-ancestors {ancestors}; frame-src {frames}");
    // An address that cannot be in a header is not a valid `public_url`.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static(""))
}

/// Adds the headers of every response, unless the handler has set its own.
async fn add_headers(State(policy): State<HeaderValue>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    let place = headers.entry(header::CONTENT_SECURITY_POLICY);
    place.or_insert(policy);
    for (name, value) in [
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
    ] {
        let place = headers.entry(name);
        place.or_insert(HeaderValue::from_static(value));
    }
    response
}
