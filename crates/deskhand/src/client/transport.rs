//! The two ways to a server: over the network to an address that the user named, or through the data folder.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use deskhand_core::secret::Secret;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use reqwest::{Method, Url, redirect};
use rustls::ClientConfig;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use super::{CONNECT_TIMEOUT, REQUEST_TIMEOUT, SLOW_REQUEST_TIMEOUT, models::CHECK_PATH, tls};
use crate::local_socket;

/// A connection to the server, before anything is sent.
pub(super) type Stream = Either<Either<TcpStream, Box<TlsStream<TcpStream>>>, UnixStream>;

type AnyError = Box<dyn Error + Send + Sync>;

#[derive(Debug, Clone)]
pub(super) enum Transport {
    /// An address that the user named, together with a token.
    Network {
        http: reqwest::Client,
        base: Url,
        /// Set for an https address.
        tls: Option<Arc<ClientConfig>>,
    },
    /// The server of this data folder.
    Local(PathBuf),
}

/// A response of any status.
pub(super) struct RawAnswer {
    pub(super) status: u16,
    pub(super) body: Bytes,
}

/// Returns the timeout of a request.
fn timeout_of(path: &str) -> Duration {
    if path == CHECK_PATH {
        SLOW_REQUEST_TIMEOUT
    } else {
        REQUEST_TIMEOUT
    }
}

impl Transport {
    pub(super) fn network(base: Url) -> Result<Self, AnyError> {
        let builder = reqwest::Client::builder()
            // A proxy from the environment cannot reach servers on this machine.
            .no_proxy()
            // The token is for this address only.
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT);
        if base.scheme() != "https" {
            let http = builder.build()?;
            return Ok(Self::Network {
                http,
                base,
                tls: None,
            });
        }
        let tls = tls::settings()?;
        let http = builder.tls_backend_preconfigured(tls.clone()).build()?;
        Ok(Self::Network {
            http,
            base,
            tls: Some(Arc::new(tls)),
        })
    }

    /// Sends a request and returns the response.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        token: &Secret,
        body: Option<Vec<u8>>,
    ) -> Result<RawAnswer, AnyError> {
        match self {
            Self::Network { http, base, .. } => {
                let url = format!("{}{path}", base.as_str().trim_end_matches('/'));
                let mut request = http
                    .request(method, url)
                    .timeout(timeout_of(path))
                    .bearer_auth(token.expose());
                if let Some(body) = body {
                    let json = "application/json";
                    request = request
                        .header(reqwest::header::CONTENT_TYPE, json)
                        .body(body);
                }
                let response = request.send().await.map_err(reqwest::Error::without_url)?;
                let status = response.status().as_u16();
                let body = response
                    .bytes()
                    .await
                    .map_err(reqwest::Error::without_url)?;
                Ok(RawAnswer { status, body })
            }
            Self::Local(folder) => {
                let sent = send_locally(folder, method, path, token, body);
                tokio::time::timeout(timeout_of(path), sent).await?
            }
        }
    }

    /// Returns the name of the server for requests that are sent without a client.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Network { base, .. } => {
                let host = base.host_str().unwrap_or_default();
                match base.port() {
                    Some(port) => format!("{host}:{port}"),
                    None => host.to_owned(),
                }
            }
            Self::Local(_) => "localhost".to_owned(),
        }
    }

    /// Connects for a WebSocket.
    pub(super) async fn connect(&self) -> io::Result<Stream> {
        match self {
            Self::Network { base, tls, .. } => {
                let host = base.host_str().unwrap_or_default();
                let port = base.port_or_known_default().unwrap_or(80);
                let socket = TcpStream::connect(format!("{host}:{port}")).await?;
                socket.set_nodelay(true)?;
                let stream = match tls {
                    None => Either::Left(socket),
                    Some(tls) => {
                        let stream = tls::encrypt(tls, base, socket).await?;
                        Either::Right(Box::new(stream))
                    }
                };
                Ok(Either::Left(stream))
            }
            Self::Local(folder) => {
                let connected = local_socket::connect(folder).await;
                connected.map(Either::Right).map_err(io::Error::other)
            }
        }
    }
}

/// Sends a request over a connection of its own, whose other end the kernel has vouched for.
async fn send_locally(
    folder: &Path,
    method: Method,
    path: &str,
    token: &Secret,
    body: Option<Vec<u8>>,
) -> Result<RawAnswer, AnyError> {
    let stream = local_socket::connect(folder).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "localhost")
        .header(header::AUTHORIZATION, format!("Bearer {}", token.expose()))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.unwrap_or_default())))?;
    let exchange = async move {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        hyper::Result::Ok(RawAnswer { status, body })
    };
    // The connection ends when the exchange drops its sender.
    let (answer, _closed) = tokio::join!(exchange, connection);
    Ok(answer?)
}
