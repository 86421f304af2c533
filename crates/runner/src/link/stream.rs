//! Byte streams. Each has its own WebSocket, which is connected to a socket in the sandbox.

use std::{io, sync::Arc};

use bytes::BytesMut;
use deskhand_core::{
    sandbox::{Actor, StreamTarget},
    tasks::Tasks,
};
use deskhand_runner_protocol::{FromRunner, stream_path};
use futures::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Semaphore,
};
use tokio_tungstenite::tungstenite::{self, Message};

use super::{LinkError, Outbox, Server, Socket};
use crate::{desktop::Desktop, whole_story};

/// The most streams that may be open at the same time.
const MOST_STREAMS: usize = 64;
const PIECE_BYTES: usize = 64 * 1024;

/// Reasons why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error("{MOST_STREAMS} streams are already open")]
    TooMany,
    #[error("could not reach the socket of the screen")]
    Target(#[source] io::Error),
    #[error("could not reach the server for the stream")]
    Server(#[from] LinkError),
}

/// Opens streams and limits their number.
#[derive(Debug, Clone)]
pub(super) struct StreamOpener {
    server: Server,
    desktop: Desktop,
    outbox: Outbox,
    tasks: Tasks,
    free: Arc<Semaphore>,
}

impl StreamOpener {
    pub(super) fn new(server: Server, desktop: Desktop, outbox: Outbox, tasks: Tasks) -> Self {
        let free = Arc::new(Semaphore::new(MOST_STREAMS));
        Self {
            server,
            desktop,
            outbox,
            tasks,
            free,
        }
    }

    /// Connects a new stream to its target in the background.
    pub(super) fn open(&self, stream: u64, target: StreamTarget, actor: Actor) {
        tracing::debug!(stream, ?target, ?actor, "opening a stream");
        let streams = self.clone();
        let shutdown = self.tasks.shutdown().clone();
        self.tasks.spawn("stream", async move {
            let joined = shutdown
                .run_until_cancelled(streams.join(stream, target))
                .await;
            if let Some(Err(error)) = joined {
                let problem = whole_story(&error);
                streams
                    .outbox
                    .tell(FromRunner::StreamFailed { stream, problem });
            }
        });
    }

    async fn join(&self, stream: u64, target: StreamTarget) -> Result<(), StreamError> {
        // The semaphore is never closed, so it can only be exhausted.
        let _place = self
            .free
            .try_acquire()
            .map_err(|_full| StreamError::TooMany)?;
        let target = match target {
            StreamTarget::Screen => self.desktop.connect_screen().await,
        };
        let target = target.map_err(StreamError::Target)?;
        let socket = self.server.dial(&stream_path(stream)).await?;
        // However the copy ends, both sides are closed, and each side knows its own reason.
        let (reader, writer) = target.into_split();
        if let Err(error) = copy(socket, reader, writer).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, stream, "a stream ended with an error");
        }
        Ok(())
    }
}

/// Copies both ways until one side ends.
pub(crate) async fn copy(
    socket: Socket,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> Result<(), tungstenite::Error> {
    let (mut sink, mut incoming) = socket.split();
    let outward = async {
        loop {
            let mut piece = BytesMut::with_capacity(PIECE_BYTES);
            if reader.read_buf(&mut piece).await? == 0 {
                return Ok(());
            }
            sink.send(Message::Binary(piece.freeze())).await?;
        }
    };
    let inward = async {
        while let Some(message) = incoming.next().await {
            match message? {
                Message::Binary(bytes) => writer.write_all(&bytes).await?,
                Message::Close(_) => break,
                Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        Ok(())
    };
    let ended = tokio::select! {
        ended = outward => ended,
        ended = inward => ended,
    };
    // Closes the WebSocket properly if that is still possible.
    let _ = sink.close().await;
    ended
}
