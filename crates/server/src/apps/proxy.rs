//! Streams requests to a program in a sandbox, and its responses back.

use std::io;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Response, StatusCode, Version, header},
    response::IntoResponse,
};
use deskhand_app::{Admission, ReachServiceError, Refusal, Waking};
use deskhand_core::sandbox::ByteStream;
use futures::{FutureExt, StreamExt, future::BoxFuture};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, join};
use tokio_util::io::{CopyToBytes, SinkWriter, StreamReader};

use super::{AppHost, Gate, Visitor, body::AppBody, headers::Addresses, notice::Notice};

/// A connection to a program, with the head of its response.
pub(super) struct Answered {
    pub(super) response: Response<Incoming>,
    pub(super) connection: Option<BoxFuture<'static, ()>>,
    pub(super) lost: BoxFuture<'static, ()>,
}

impl Gate {
    /// Forwards a request of a visitor to the program.
    pub(super) async fn pass_on(
        &self,
        visitor: Visitor,
        mut request: Request,
    ) -> Result<Response<Body>, Response<Body>> {
        let is_socket = is_websocket(&request);
        let client = is_socket.then(|| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let notice = self.notice(&parts);
        let user = visitor.pass.user;
        let counted = if is_socket {
            let counted = self.shared.app_sockets.open(user);
            Some(counted.map_err(IntoResponse::into_response)?)
        } else {
            None
        };
        let AppHost { service, session } = self.host;
        let waking = waking(&parts.headers);
        let reached = self.shared.app.apps().reach(user, session, service, waking);
        let stream = reached.await.map_err(|error| explain(error, &notice))?;
        let addresses = Addresses::new(service.port(), self.host.origin(&self.site));
        parts.headers = addresses.inward(parts.headers);
        if is_socket {
            super::socket::ask_for_upgrade(&mut parts.headers);
        }
        parts.version = Version::HTTP_11;
        parts.uri = parts
            .uri
            .path_and_query()
            .map(|path| path.clone().into())
            .unwrap_or_default();
        let request = Request::from_parts(parts, body);
        let lost = self.lost(visitor.admission);
        let mut answered = ask(stream, request, lost, &notice).await?;
        let headers = std::mem::take(answered.response.headers_mut());
        let mut headers = addresses.outward(headers, &self.site);
        let mut response = match (answered.response.status(), client) {
            (StatusCode::SWITCHING_PROTOCOLS, Some(client)) => {
                super::socket::ask_for_upgrade(&mut headers);
                self.relay(client, answered, counted)
            }
            (StatusCode::SWITCHING_PROTOCOLS, None) => {
                return Err(notice.broken("It changed the protocol without being asked to."));
            }
            (status, _) => {
                let body = AppBody {
                    body: answered.response.into_body(),
                    connection: answered.connection,
                    lost: answered.lost,
                };
                let mut response = Response::new(Body::new(body));
                *response.status_mut() = status;
                response
            }
        };
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// Resolves when the person loses access to the service, or the server shuts down.
    fn lost(&self, mut admission: Admission) -> BoxFuture<'static, ()> {
        let shutdown = self.shared.shutdown.clone();
        let apps = self.shared.app.apps().clone();
        let AppHost { service, session } = self.host;
        async move {
            let lost = async {
                let user = admission.identity().user;
                while admission.checked_again().await && apps.may_use(user, session, service).await
                {
                }
            };
            tokio::select! {
                () = lost => {}
                () = shutdown.cancelled() => {}
            }
        }
        .boxed()
    }
}

/// Sends a request over a new connection, and waits for the head of the response.
async fn ask(
    stream: ByteStream,
    request: Request,
    mut lost: BoxFuture<'static, ()>,
    notice: &Notice,
) -> Result<Answered, Response<Body>> {
    let broken = |error: hyper::Error| {
        let error = &error as &dyn std::error::Error;
        tracing::debug!(error, "a program in a sandbox did not respond");
        notice.broken("It closed the connection, or does not speak HTTP. Look at what it prints.")
    };
    let handshake = http1::handshake(TokioIo::new(bytes_of(stream))).await;
    let (mut sender, connection) = handshake.map_err(broken)?;
    let connection = connection.with_upgrades().map(|ended| {
        if let Err(error) = ended {
            let error = &error as &dyn std::error::Error;
            tracing::trace!(error, "a connection to a program ended with an error");
        }
    });
    let mut connection = Some(connection.boxed());
    let mut answering = std::pin::pin!(sender.send_request(request));
    let response = loop {
        let moving = async {
            match &mut connection {
                Some(connection) => connection.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answered = &mut answering => break answered.map_err(broken)?,
            () = moving => connection = None,
            () = &mut lost => return Err(notice.not_allowed()),
        }
    };
    Ok(Answered {
        response,
        connection,
        lost,
    })
}

/// Turns a byte stream into a connection.
fn bytes_of(stream: ByteStream) -> impl AsyncRead + AsyncWrite + Unpin + Send + 'static {
    let reader = StreamReader::new(stream.incoming.map(io::Result::Ok));
    let writer = SinkWriter::new(CopyToBytes::new(stream.outgoing));
    join(reader, writer)
}

/// Returns [`Waking::Wakes`] if a person has just opened this address. Pages that reload by themselves do not send the header.
fn waking(headers: &HeaderMap) -> Waking {
    let is_person = headers.get("sec-fetch-user");
    if is_person.is_some_and(|value| value == "?1") {
        Waking::Wakes
    } else {
        Waking::LetsSleep
    }
}

fn is_websocket(request: &Request) -> bool {
    let upgrade = request.headers().get(header::UPGRADE);
    upgrade.is_some_and(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Returns the response for a service that cannot be reached.
pub(super) fn explain(error: ReachServiceError, notice: &Notice) -> Response<Body> {
    match error {
        ReachServiceError::Ended => notice.gone(),
        ReachServiceError::Asleep { may_wake } => notice.asleep(may_wake),
        ReachServiceError::Starting => notice.starting(),
        ReachServiceError::NothingListens(_) => notice.nothing_listens(),
        ReachServiceError::SomebodyElse => notice.somebody_else(),
        ReachServiceError::Find(error) => notice.not_found(&error),
        ReachServiceError::Wake(error) => notice.failed(&error.facts().message),
        ReachServiceError::Failed(problem) => notice.failed(&problem),
    }
}
