//! Forwards the requests of one connection, one after the other.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri, Version,
    body::Incoming,
    client::conn::http1::SendRequest,
    ext::ReasonPhrase,
    header::{self, HeaderValue},
    http::uri::{Authority, PathAndQuery},
};

use super::{
    Refused, Visit,
    bodies::{self, AnswerBody, WatchedBody},
    fill::{SentText, fill},
    upgraded::UpgradedPair,
};
use crate::mask::ValueMask;

/// The only protocol to which a connection can be upgraded. Others could carry further requests unchecked.
const WEBSOCKET: &str = "websocket";
/// The most credentials that one connection masks. It ends before a program sends one more.
const MOST_CREDENTIALS: usize = 32;

/// Forwards the requests of one connection.
#[derive(Debug)]
pub(super) struct Handler {
    visit: Arc<Visit>,
    /// The connection to the host, or the reason why there is none.
    host: Result<tokio::sync::Mutex<SendRequest<WatchedBody>>, String>,
    /// The credentials that were sent on this connection.
    sent: Mutex<Vec<SentText>>,
    upgrade: Mutex<Option<UpgradedPair>>,
}

/// The error that ends a connection without a response.
#[derive(Debug, thiserror::Error)]
#[error("the host has ended the connection")]
pub(super) struct HostGone;

impl Handler {
    pub(super) fn new(visit: Arc<Visit>, host: Result<SendRequest<WatchedBody>, String>) -> Self {
        Self {
            visit,
            host: host.map(tokio::sync::Mutex::new),
            sent: Mutex::default(),
            upgrade: Mutex::default(),
        }
    }

    pub(super) fn is_upgraded(&self) -> bool {
        lock(&self.upgrade).is_some()
    }

    /// Returns both ends of an upgraded connection.
    pub(super) fn take_upgrade(&self) -> Option<UpgradedPair> {
        lock(&self.upgrade).take()
    }

    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, HostGone> {
        let host = match &self.host {
            Ok(host) => host,
            Err(problem) => return Ok(self.not_reached(problem)),
        };
        match self.prepared(request).await {
            // A response that nothing masks must not come back. The program can connect again.
            Ok(_) if lock(&self.sent).len() > MOST_CREDENTIALS => Err(HostGone),
            Ok(request) => self.passed(host, request).await,
            Err(refused) => {
                self.visit.report(&refused);
                Ok(refusal(&refused))
            }
        }
    }

    /// Checks a request and fills in values.
    async fn prepared(&self, mut request: Request<Incoming>) -> Result<Request<Incoming>, Refused> {
        let origin = &self.visit.origin;
        if !is_for(&self.visit, &request) {
            return Err(Refused::OtherSite(origin.clone()));
        }
        let sent = fill(&self.visit, &mut request).await?;
        remember(&mut lock(&self.sent), sent);
        let root = PathAndQuery::from_static("/");
        let target = request.uri().path_and_query().cloned().unwrap_or(root);
        *request.uri_mut() = Uri::from(target);
        *request.version_mut() = Version::HTTP_11;
        let headers = request.headers_mut();
        // Compressed responses could not be masked, and neither could a WebSocket whose messages are compressed.
        let identity = HeaderValue::from_static("identity");
        headers.insert(header::ACCEPT_ENCODING, identity);
        headers.remove(header::SEC_WEBSOCKET_EXTENSIONS);
        // The server itself answers `Expect: 100-continue`.
        headers.remove(header::EXPECT);
        if !is_websocket(headers) {
            headers.remove(header::UPGRADE);
        }
        Ok(request)
    }

    async fn passed(
        &self,
        host: &tokio::sync::Mutex<SendRequest<WatchedBody>>,
        mut request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, HostGone> {
        let from_program = hyper::upgrade::on(&mut request);
        let mut is_refused = Arc::<AtomicBool>::default();
        let request = request.map(|body| {
            let (body, flag) = WatchedBody::new(body, &self.visit);
            is_refused = flag;
            body
        });
        let mut host = host.lock().await;
        if host.ready().await.is_err() {
            // Programs retry on a new connection, as with any host that closes an idle one.
            return Err(HostGone);
        }
        let mut response = match host.send_request(request).await {
            Ok(response) => response,
            Err(_) if is_refused.load(Ordering::Acquire) => return Ok(refusal(&Refused::StandIn)),
            Err(error) => return Ok(self.not_reached(&error.to_string())),
        };
        drop(host);
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let to_host = hyper::upgrade::on(&mut response);
            *lock(&self.upgrade) = Some(UpgradedPair::new(from_program, to_host));
        }
        Ok(self.masked(response))
    }

    /// Masks a response for the program.
    fn masked(&self, response: Response<Incoming>) -> Response<AnswerBody> {
        let mask = self.mask();
        let (mut parts, body) = response.into_parts();
        bodies::clean_headers(&mut parts.headers, &mask);
        // It advertises other endpoints, where requests would bypass this proxy.
        parts.headers.remove(header::ALT_SVC);
        parts.extensions.remove::<ReasonPhrase>();
        Response::from_parts(parts, bodies::masked(body, mask))
    }

    fn mask(&self) -> ValueMask {
        let mut mask = self.visit.mask();
        for SentText { sent, stand_in } in lock(&self.sent).iter() {
            mask.add(sent.clone(), stand_in);
        }
        mask
    }

    fn not_reached(&self, problem: &str) -> Response<AnswerBody> {
        let host = self.visit.origin.host();
        tracing::debug!(host, problem, "could not pass a request on");
        said(
            StatusCode::BAD_GATEWAY,
            format!("Deskhand could not pass this request on to {host}: {problem}.\n"),
        )
    }
}

/// Remembers credentials for the mask, each of them once.
fn remember(known: &mut Vec<SentText>, sent: Vec<SentText>) {
    for text in sent {
        if !known.iter().any(|known| known.sent == text.sent) {
            known.push(text);
        }
    }
}

/// Returns true if a request is for the site that its connection was made to.
fn is_for<B>(visit: &Visit, request: &Request<B>) -> bool {
    let is_same = |authority: &Authority| {
        let origin = &visit.origin;
        let port = authority.port_u16();
        // User information is not part of an origin.
        !authority.as_str().contains('@')
            && authority.host().eq_ignore_ascii_case(origin.host())
            && port.is_none_or(|port| port == origin.port())
    };
    let target = request.uri().authority();
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let named = hosts.next().and_then(|host| {
        let text = host.to_str().ok()?.trim();
        text.parse::<Authority>().ok()
    });
    request.method() != Method::CONNECT
        && target.is_none_or(is_same)
        && named.as_ref().is_some_and(is_same)
        && hosts.next().is_none()
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let mut upgrades = headers.get_all(header::UPGRADE).iter();
    let is_websocket = |value: &HeaderValue| {
        let protocol = value.as_bytes();
        protocol.eq_ignore_ascii_case(WEBSOCKET.as_bytes())
    };
    // A host could choose the protocol of a second header.
    upgrades.next().is_some_and(is_websocket) && upgrades.next().is_none()
}

fn refusal(refused: &Refused) -> Response<AnswerBody> {
    let text = format!("Deskhand refused this request: {refused}.\n");
    said(StatusCode::FORBIDDEN, text)
}

/// Returns a response with a sentence, after which the connection ends.
fn said(status: StatusCode, text: String) -> Response<AnswerBody> {
    let mut response = Response::new(bodies::text(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, plain);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<HostGone> for io::Error {
    fn from(gone: HostGone) -> Self {
        Self::other(gone)
    }
}
