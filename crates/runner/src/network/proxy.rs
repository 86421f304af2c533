//! A proxy on the sandbox's loopback, for machines without a TUN device. Programs find it through the usual environment
//! variables. It serves HTTP and SOCKS 5 on the same port.

mod http;
mod socks;

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use deskhand_core::{
    network::{NetworkAnswer, NetworkHost, NetworkRequest, rule::host_name},
    secret::Secret,
    tasks::Tasks,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};

use super::connector::{Connector, carry};
use crate::link::Socket;

/// The port. It is the same in every sandbox, since each has its own loopback.
const PORT: u16 = 7880;
/// The pause after `accept` failed, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The timeout for a program to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A program's request for a connection.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: NetworkHost,
    port: u16,
    /// Bytes for the host that were already received.
    first_bytes: Vec<u8>,
    answer: AnswerStyle,
}

/// The protocol of the answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerStyle {
    /// No answer: the program receives the response of the host.
    OfHost,
    Connect,
    Socks,
}

/// The outcome of reading a request.
#[derive(Debug)]
enum ProxyRequestRead {
    Request(ProxyRequest),
    /// The response to a request that cannot be served.
    Refusal(Vec<u8>),
}

/// Opens the port. Returns its listener and the environment variables for programs.
pub(super) fn open() -> io::Result<(std::net::TcpListener, BTreeMap<String, Secret>)> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))?;
    listener.set_nonblocking(true)?;
    let http = format!("http://127.0.0.1:{PORT}");
    let socks = format!("socks5h://127.0.0.1:{PORT}");
    let variables = [
        ("http_proxy", &http),
        ("https_proxy", &http),
        ("all_proxy", &socks),
        (
            "no_proxy",
            &"localhost,.localhost,desk,127.0.0.1,::1".to_owned(),
        ),
    ];
    // Some programs know only one of the spellings.
    let variables = variables.into_iter().flat_map(|(name, value)| {
        [name.to_owned(), name.to_uppercase()].map(|name| (name, Secret::new(value.clone())))
    });
    Ok((listener, variables.collect()))
}

/// Serves at most `n_connections` connections at the same time. Further ones wait to be accepted.
pub(super) async fn serve(
    listener: std::net::TcpListener,
    connector: Connector,
    n_connections: usize,
) -> io::Result<()> {
    let tasks = Tasks::default();
    let listener = TcpListener::from_std(listener)?;
    let free = Arc::new(Semaphore::new(n_connections));
    let tidying = connector.clone();
    tasks.spawn("proxy", async move { tidying.tidy().await });
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&free).acquire_owned().await else {
            return Ok(());
        };
        let program = match listener.accept().await {
            Ok((program, _)) => program,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection to the proxy");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let connector = connector.clone();
        tasks.spawn("proxy", async move {
            if let Err(error) = serve_request(program, &connector).await {
                tracing::debug!(%error, "a connection through the proxy broke");
            }
            drop(place);
        });
    }
}

/// Reads a program's request, asks the server for a connection, and carries it.
async fn serve_request(mut program: TcpStream, connector: &Connector) -> io::Result<()> {
    program.set_nodelay(true)?;
    let request = match timeout(REQUEST_TIMEOUT, read(&mut program)).await?? {
        ProxyRequestRead::Request(request) => request,
        ProxyRequestRead::Refusal(answer) => return program.write_all(&answer).await,
    };
    let connect = NetworkRequest::Connect {
        host: request.host,
        port: request.port,
    };
    let (answer, socket) = match connector.ask(&connect).await {
        Ok((NetworkAnswer::Connected, socket)) => (NetworkAnswer::Connected, Some(socket)),
        Ok((answer, _)) => (answer, None),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "could not ask the server for a connection");
            (NetworkAnswer::NotFound, None)
        }
    };
    let text = match request.answer {
        AnswerStyle::Socks => socks::answer(&answer),
        AnswerStyle::OfHost if socket.is_some() => Vec::new(),
        AnswerStyle::OfHost | AnswerStyle::Connect => http::answer(&answer),
    };
    program.write_all(&text).await?;
    match socket {
        Some(socket) => join(program, socket, request.first_bytes).await,
        None => Ok(()),
    }
}

async fn read(program: &mut TcpStream) -> io::Result<ProxyRequestRead> {
    let mut first = [0; 1];
    program.peek(&mut first).await?;
    if first == [socks::VERSION] {
        socks::read(program).await
    } else {
        http::read(program).await
    }
}

async fn join(program: TcpStream, socket: Socket, first_bytes: Vec<u8>) -> io::Result<()> {
    let (reader, writer) = program.into_split();
    let reader = io::Cursor::new(first_bytes).chain(reader);
    carry(socket, reader, writer).await
}

/// Parses a host: a name, which is normalized, or an address.
fn host(text: &str) -> Option<NetworkHost> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Some(NetworkHost::Address(address));
    }
    host_name(text).map(NetworkHost::Name)
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
