//! The receiver of webhooks for a bot that runs apart from the server: `POST /jamie/status`.

use std::{fmt, sync::Arc};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use deskhand_jamie::contract::StatusUpdate;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_util::sync::CancellationToken;

use crate::{extract::read_body, problem::Problem};

/// The answer to a webhook that is not of the server.
const BAD_SIGNATURE: &str = "the signature is not valid: jamie.webhook_key must be the same on both sides, and \
                             their clocks within 5 minutes of each other";

/// Checks the signature of a body.
type Verify = dyn Fn(&str, &[u8]) -> bool + Send + Sync;

/// Takes in the updates of a server.
#[derive(Clone)]
pub struct StatusReceiver {
    /// The header with the signature.
    pub header: &'static str,
    /// Returns true if the signature is one of the body.
    pub verify: Arc<Verify>,
    pub updates: mpsc::Sender<StatusUpdate>,
}

impl fmt::Debug for StatusReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusReceiver").finish_non_exhaustive()
    }
}

/// Receives updates until `shutdown` fires.
pub async fn serve_status(
    listener: TcpListener,
    receiver: StatusReceiver,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let router = Router::new().fallback(receive).with_state(receiver);
    let serving = axum::serve(listener, router);
    serving
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await
}

async fn receive(
    State(receiver): State<StatusReceiver>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    if parts.uri.path() != "/jamie/status" {
        return Err(Problem::no_route());
    }
    if parts.method != Method::POST {
        return Err(Problem::wrong_method());
    }
    let body = read_body(body).await?;
    let signature = parts.headers.get(receiver.header);
    let signature = signature.and_then(|signature| signature.to_str().ok());
    if !signature.is_some_and(|signature| (receiver.verify)(signature, &body)) {
        tracing::warn!("a webhook was refused: {BAD_SIGNATURE}");
        return Err(Problem::refuse(
            StatusCode::UNAUTHORIZED,
            "not_signed_in",
            BAD_SIGNATURE,
        ));
    }
    let update: StatusUpdate = serde_json::from_slice(&body)
        .map_err(|error| Problem::malformed(format!("the body is not valid: {error}")))?;
    match receiver.updates.try_send(update) {
        Ok(()) => Ok(Json(json!({"status": "processed"})).into_response()),
        // The server tries again.
        Err(_full) => Ok(StatusCode::SERVICE_UNAVAILABLE.into_response()),
    }
}
