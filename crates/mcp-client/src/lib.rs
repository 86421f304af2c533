//! The client of the Model Context Protocol: connects to the MCP servers of sessions, lists their tools and calls them.
//!
//! It opens no connection by itself. The app gives it byte streams: those of a program in a sandbox, or those to a host
//! that the network rules of the session allow. Everything that a server sends has a bound.

mod answer;
mod connection;
mod http;
mod picture;
mod problem;
mod streams;
mod tls;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use deskhand_core::{
    tasks::Tasks,
    tool_server::{HttpWay, ServerWay, ToolServer, ToolServerError, ToolServers},
};
use rmcp::{
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt},
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        common::client_side_sse::NeverRetry,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use rustls::RootCertStore;

use crate::{
    connection::{Listener, ServerConnection, versions},
    http::HttpHost,
    problem::Problem,
    streams::split,
};

/// The longest message of a server. A picture fits into it.
pub(crate) const LONGEST_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Connects to MCP servers. Clones share the authorities.
#[derive(Debug, Clone)]
pub struct McpClients {
    /// Unset until the machine's authorities are needed, because reading them takes a moment.
    roots: Arc<OnceLock<RootCertStore>>,
    tasks: Tasks,
}

impl McpClients {
    /// Trusts the authorities that this machine trusts, or those in `SSL_CERT_FILE`.
    pub fn of_machine(tasks: Tasks) -> Self {
        Self {
            roots: Arc::default(),
            tasks,
        }
    }

    /// Trusts these authorities only.
    pub fn trusting(roots: RootCertStore, tasks: Tasks) -> Self {
        Self {
            roots: Arc::new(OnceLock::from(roots)),
            tasks,
        }
    }

    fn roots(&self) -> &RootCertStore {
        self.roots.get_or_init(|| {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            roots
        })
    }

    /// Connects over HTTP. Most servers expect a session; one that speaks only the newest revision, which has none, is
    /// asked again in that way.
    async fn connect_http(&self, way: HttpWay) -> Result<ServerConnection, ToolServerError> {
        let host = HttpHost::new(way, self.roots(), self.tasks.clone())?;
        let modern = ClientLifecycleMode::Discover {
            preferred_versions: versions(),
        };
        match open_http(&host, ClientLifecycleMode::Initialize).await {
            Err(error @ ToolServerError::Unreachable(_)) => Err(error),
            Err(first) => {
                let second = open_http(&host, modern).await;
                second.map_err(|_second| first)
            }
            Ok(connection) => Ok(connection),
        }
    }
}

#[async_trait]
impl ToolServers for McpClients {
    async fn connect(&self, way: ServerWay) -> Result<Arc<dyn ToolServer>, ToolServerError> {
        let connection = match way {
            ServerWay::Http(way) => self.connect_http(way).await?,
            ServerWay::Program(stream) => {
                let (reader, writer) = split(stream);
                let transport = AsyncRwTransport::new_client(reader, writer)
                    .with_max_line_length(LONGEST_MESSAGE_BYTES);
                let (listener, problem) = (Listener::default(), Problem::default());
                let mode = ClientLifecycleMode::Initialize;
                let opened = listener.clone().serve_with_lifecycle(transport, mode);
                let service = opened.await.map_err(|error| failed(&error, &problem))?;
                ServerConnection::new(service, listener, problem)
            }
        };
        Ok(Arc::new(connection))
    }
}

async fn open_http(
    host: &HttpHost,
    mode: ClientLifecycleMode,
) -> Result<ServerConnection, ToolServerError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(host.path())
        .max_sse_event_size(LONGEST_MESSAGE_BYTES);
    config.retry_config = Arc::<NeverRetry>::default();
    let transport = StreamableHttpClientTransport::with_client(host.clone(), config);
    let listener = Listener::default();
    let problem = host.problem().clone();
    let opened = listener.clone().serve_with_lifecycle(transport, mode);
    let service = opened.await.map_err(|error| failed(&error, &problem))?;
    Ok(ServerConnection::new(service, listener, problem))
}

/// Returns the reason why a server could not be connected to.
fn failed(error: &ClientInitializeError, problem: &Problem) -> ToolServerError {
    if let Some(problem) = problem.take() {
        return problem;
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library may add reasons, and all others say that the server does not keep to the protocol"
    )]
    match error {
        ClientInitializeError::ConnectionClosed(_) => ToolServerError::Gone,
        ClientInitializeError::JsonRpcError(error) => {
            ToolServerError::Refused(problem::shortened(&error.message))
        }
        other => ToolServerError::Protocol(problem::shortened(&other.to_string())),
    }
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
