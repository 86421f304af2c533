//! The server that the MCP conformance suite is run against: its fixtures on our own transport and sessions.
//!
//! `scripts/mcp` starts it. It listens on a free port of the loopback and prints its address.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    deprecated,
    reason = "it is a test: a surprise is a failure, and both revisions are served"
)]

mod fixtures;
mod input;

use std::convert::Infallible;

use bytes::Bytes;
use deskhand_core::tasks::Tasks;
use deskhand_mcp::Endpoint;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use self::fixtures::Fixtures;

#[tokio::main]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    let tasks = Tasks::default();
    let endpoint = Endpoint::new(Fixtures::default(), tasks.shutdown().clone());
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        let endpoint = endpoint.clone();
        let service = service_fn(move |request| {
            let endpoint = endpoint.clone();
            async move { Ok::<_, Infallible>(answer(endpoint, request).await) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        tasks.spawn("connection", async {
            // A client may leave at any time.
            let _ = connection.await;
        });
    }
}

/// Answers as the port of the server does, but lets everybody in.
async fn answer(
    endpoint: Endpoint<Fixtures>,
    request: Request<Incoming>,
) -> Response<BoxBody<Bytes, Infallible>> {
    if is_from_this_machine(request.headers()) {
        return endpoint.answer(request).await;
    }
    let mut refused = Response::new(Full::default().boxed());
    *refused.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    refused
}

fn is_from_this_machine(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default();
    ["127.0.0.1:", "localhost:", "[::1]:"]
        .iter()
        .any(|own| host.starts_with(own))
}
