//! The link to the server: dialled from here, kept up, and dialled again when it breaks.

mod outbox;
mod stream;

use std::{io, time::Duration};

use deskhand_core::{sandbox::Driver, tasks::Tasks};
use deskhand_runner_protocol::{
    CONTROL_PATH, FromRunner, LONGEST_MESSAGE_BYTES, RunnerConfig, ToRunner,
    codec::{self, BadEnvelope},
};
use futures::{SinkExt, StreamExt};
use tokio::net::UnixStream;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        self, Message,
        client::IntoClientRequest,
        http::{HeaderValue, header::AUTHORIZATION},
        protocol::WebSocketConfig,
    },
};

use self::stream::Streams;
pub(crate) use self::{outbox::Outbox, stream::copy};
use crate::{desktop::Desktop, requests::work::Work};

/// The first wait before dialling again; it doubles up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// A server that does not answer the dial within this is dialled again.
const PATIENCE: Duration = Duration::from_secs(10);
/// A picture goes out in one write where the socket takes it.
const WRITE_BUFFER_BYTES: usize = 512 * 1024;

pub(crate) type Socket = WebSocketStream<UnixStream>;

/// Why a link did not come about or ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("the server's socket could not be reached")]
    Connect(#[source] io::Error),
    #[error("the server did not answer")]
    Silent,
    #[error("the token cannot be sent in a header")]
    Token(#[source] tungstenite::http::header::InvalidHeaderValue),
    #[error("the WebSocket failed")]
    WebSocket(#[from] tungstenite::Error),
    #[error("the server sent a message that means nothing")]
    Envelope(#[from] BadEnvelope),
    #[error("the server did not keep up")]
    Slow,
}

/// What a control link leads to.
#[derive(Debug)]
pub(crate) struct Link {
    config: RunnerConfig,
    desktop: Desktop,
    outbox: Outbox,
    work: Work,
    streams: Streams,
}

impl Link {
    pub(crate) fn new(
        config: RunnerConfig,
        desktop: Desktop,
        outbox: Outbox,
        work: Work,
        tasks: Tasks,
    ) -> Self {
        let streams = Streams::new(config.clone(), desktop.clone(), outbox.clone(), tasks);
        Self {
            config,
            desktop,
            outbox,
            work,
            streams,
        }
    }

    /// Serves links for ever, beginning with one that is up already.
    pub(crate) async fn serve(&self, first: Socket) {
        let mut socket = first;
        loop {
            match self.serve_one(socket).await {
                Ok(()) => tracing::info!("the server closed the link"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the link broke");
                }
            }
            self.outbox.leave();
            socket = dial_until_up(&self.config).await;
        }
    }

    /// Serves one link until it ends. Reading never waits for writing.
    async fn serve_one(&self, socket: Socket) -> Result<(), LinkError> {
        let (mut sink, mut stream) = socket.split();
        let mut waiting = self.outbox.join(&FromRunner::Ready {
            screen: self.desktop.screen(),
        });
        let write = async {
            while let Some(message) = waiting.recv().await {
                sink.send(Message::Binary(message)).await?;
            }
            Err(LinkError::Slow)
        };
        let read = async {
            while let Some(message) = stream.next().await {
                match message? {
                    Message::Binary(message) => self.receive(codec::unpack(&message)?.0).await,
                    Message::Close(_) => break,
                    Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                }
            }
            Ok(())
        };
        tokio::select! {
            ended = write => ended,
            ended = read => ended,
        }
    }

    async fn receive(&self, message: ToRunner) {
        match message {
            ToRunner::Request { id, actor, request } => self.work.take(id, actor, request),
            ToRunner::SetDriver { number, driver } => self.set_driver(number, driver).await,
            ToRunner::Ack { id } => self.outbox.acknowledge(id),
            ToRunner::Cancel { id } => self.outbox.cancel(id),
            ToRunner::OpenStream { stream, target } => self.streams.open(stream, target),
        }
    }

    /// Obeys another driver, and says so once nothing is held down any more that others pressed.
    async fn set_driver(&self, number: u64, driver: Driver) {
        if self.outbox.set_driver(driver)
            && let Err(error) = self.desktop.release_all().await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "keys and buttons were not released");
        }
        self.outbox.tell(&FromRunner::DriverSet { number });
    }
}

/// Tells the server that there will be no desktop, as the last thing on this link.
pub(crate) async fn give_up(mut socket: Socket, problem: String) -> Result<(), LinkError> {
    let message = codec::pack(&FromRunner::StartFailed { problem }, &[])?;
    socket.send(Message::Binary(message)).await?;
    socket.close(None).await?;
    Ok(())
}

/// A control link, however long the server takes to be there.
pub(crate) async fn dial_until_up(config: &RunnerConfig) -> Socket {
    let mut wait = FIRST_WAIT;
    loop {
        match dial(config, CONTROL_PATH).await {
            Ok(socket) => return socket,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(
                    error,
                    wait_ms = wait.as_millis(),
                    "the server was not reached"
                );
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// One attempt to reach the server at this path.
pub(crate) async fn dial(config: &RunnerConfig, path: &str) -> Result<Socket, LinkError> {
    let mut request = format!("ws://runner{path}").into_client_request()?;
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", config.token.expose()))
        .map_err(LinkError::Token)?;
    bearer.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, bearer);
    let limits = WebSocketConfig::default()
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_message_size(Some(LONGEST_MESSAGE_BYTES))
        .max_frame_size(Some(LONGEST_MESSAGE_BYTES));
    let handshake = async {
        let stream = UnixStream::connect(&config.socket)
            .await
            .map_err(LinkError::Connect)?;
        let (socket, _) = client_async_with_config(request, stream, Some(limits)).await?;
        Ok(socket)
    };
    // Running out of time has no further cause.
    tokio::time::timeout(PATIENCE, handshake)
        .await
        .map_err(|_elapsed| LinkError::Silent)?
}
