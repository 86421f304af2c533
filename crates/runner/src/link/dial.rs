//! Dials the server.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use deskhand_core::secret::Secret;
use deskhand_runner_protocol::{CONTROL_PATH, Connection, LONGEST_MESSAGE_BYTES};
use futures::{FutureExt, future::BoxFuture};
use tokio::net::UnixStream;
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{
        client::IntoClientRequest,
        http::{HeaderValue, header::AUTHORIZATION},
        protocol::WebSocketConfig,
    },
};

use super::{LinkError, Socket};

/// The delay before the second attempt to dial. It doubles with each further attempt, up to `LONGEST_WAIT`.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The timeout for connecting to the server, including the WebSocket handshake.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Large enough for a picture to go out in one write.
const WRITE_BUFFER_BYTES: usize = 512 * 1024;

/// Opens connections to the server.
pub trait Dialler: Send + Sync + std::fmt::Debug {
    fn connect(&self) -> BoxFuture<'_, io::Result<Connection>>;
}

/// Reaches the server over a unix socket.
#[derive(Debug)]
pub(crate) struct UnixDialler {
    pub(crate) path: PathBuf,
}

impl Dialler for UnixDialler {
    fn connect(&self) -> BoxFuture<'_, io::Result<Connection>> {
        async {
            let stream = UnixStream::connect(&self.path).await?;
            Ok(Box::new(stream) as Connection)
        }
        .boxed()
    }
}

/// The server, with the token that authenticates the runner to it. Clones share the dialler.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    dialler: Arc<dyn Dialler>,
    token: Secret,
}

impl Server {
    pub(crate) fn new(dialler: Arc<dyn Dialler>, token: Secret) -> Self {
        Self { dialler, token }
    }

    /// Dials until the server answers, and returns the control link.
    pub(crate) async fn dial_until_up(&self) -> Socket {
        let mut wait = FIRST_WAIT;
        loop {
            match self.dial(CONTROL_PATH).await {
                Ok(socket) => return socket,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(
                        error,
                        wait_ms = wait.as_millis(),
                        "could not reach the server"
                    );
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Dials the server at this path once.
    pub(crate) async fn dial(&self, path: &str) -> Result<Socket, LinkError> {
        let mut request = format!("ws://runner{path}").into_client_request()?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", self.token.expose()))
            .map_err(LinkError::Token)?;
        bearer.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, bearer);
        let limits = WebSocketConfig::default()
            .write_buffer_size(WRITE_BUFFER_BYTES)
            .max_message_size(Some(LONGEST_MESSAGE_BYTES))
            .max_frame_size(Some(LONGEST_MESSAGE_BYTES));
        let handshake = async {
            let connection = self.dialler.connect().await.map_err(LinkError::Connect)?;
            let (socket, _) = client_async_with_config(request, connection, Some(limits)).await?;
            Ok(socket)
        };
        // `Elapsed` carries no further cause.
        tokio::time::timeout(DIAL_TIMEOUT, handshake)
            .await
            .map_err(|_elapsed| LinkError::Silent)?
    }
}
