//! The HTTP and WebSocket face: who is asking, what they want, and the answer in one shape.

mod caller;
mod extract;
mod page;
mod problem;
mod routes;
mod view;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, FromRef},
    http::{HeaderValue, header},
    routing::{any, delete, get, patch, post},
};
use deskhand_app::{App, Sessions, Users};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer};

use crate::problem::Problem;

/// The longest body of a request.
const LONGEST_BODY_BYTES: usize = 1024 * 1024;

/// What the page may load and talk to: only us.
const CONTENT_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; \
    style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'self'";

/// What the server needs to know of its surroundings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where people reach it, without a slash at the end: `http://localhost:7878`.
    pub public_url: String,
}

/// What handlers share.
#[derive(Debug, Clone)]
struct Shared {
    app: App,
    settings: Arc<Settings>,
    shutdown: CancellationToken,
}

impl FromRef<Shared> for Sessions {
    fn from_ref(shared: &Shared) -> Self {
        shared.app.sessions().clone()
    }
}

impl FromRef<Shared> for Users {
    fn from_ref(shared: &Shared) -> Self {
        shared.app.users().clone()
    }
}

/// Serves until `shutdown` fires; requests that are under way are finished, every `WebSocket` is closed.
pub async fn serve(
    listener: TcpListener,
    app: App,
    settings: Settings,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let shared = Shared {
        app,
        settings: Arc::new(settings),
        shutdown: shutdown.clone(),
    };
    axum::serve(listener, router(shared))
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await
}

/// Whether the page was there when this binary was built.
pub fn has_page() -> bool {
    page::is_built()
}

/// All routes.
fn router(shared: Shared) -> Router {
    use routes::{by_hand, health, messages, people, queue, screen, sessions, stream};
    let api = Router::new()
        .route("/sign-in", post(people::sign_in))
        .route("/sign-out", post(people::sign_out))
        .route("/sign-in-links", post(people::new_sign_in_link))
        .route("/me", get(people::me))
        .route("/sessions", get(sessions::list).post(sessions::create))
        .route(
            "/sessions/{id}",
            get(sessions::show)
                .patch(sessions::rename)
                .merge(delete(sessions::terminate)),
        )
        .route(
            "/sessions/{id}/messages",
            get(messages::list).post(messages::send),
        )
        .route("/sessions/{id}/queue", get(queue::list))
        .route(
            "/sessions/{id}/queue/{message}",
            patch(queue::change).merge(delete(queue::remove)),
        )
        .route("/sessions/{id}/stop", post(sessions::stop))
        .route("/sessions/{id}/actions", post(by_hand::act))
        .route("/sessions/{id}/events", get(stream::list))
        .route("/sessions/{id}/stream", any(stream::follow))
        .route("/sessions/{id}/vnc", any(screen::watch))
        .route("/sessions/{id}/screenshot", get(screen::screenshot))
        .route("/blobs/{name}", get(screen::blob))
        .fallback(|| async { Problem::no_route() })
        .method_not_allowed_fallback(|| async { Problem::wrong_method() });
    Router::new()
        .nest("/api", api)
        .route("/health", get(health::health))
        .fallback(page::page)
        .layer(DefaultBodyLimit::max(LONGEST_BODY_BYTES))
        .layer(header_layer(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_POLICY,
        ))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // A sign-in link must not travel on in a Referer.
        .layer(header_layer(header::REFERRER_POLICY, "no-referrer"))
        .layer(CatchPanicLayer::custom(|_| Problem::panicked()))
        .with_state(shared)
}

fn header_layer(
    name: header::HeaderName,
    value: &'static str,
) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}
