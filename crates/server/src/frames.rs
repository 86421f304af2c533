//! Frames of sound and video over a `WebSocket`, from the computer to one client.

use std::{pin::pin, time::Duration};

use axum::{
    extract::ws::{Message, WebSocket, WebSocketUpgrade, close_code},
    response::Response,
};
use bytes::Bytes;
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    metrics::OpenSocket,
    routes::stream::{IDLE_TIMEOUT, PING_INTERVAL, TOO_SLOW, close},
    sockets,
};

/// The size of the read buffer, and the longest message that a client may send. Clients only answer pings.
const READ_BYTES: usize = 1024;
/// The timeout for a client to take a frame. Until then it only loses frames.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// One connection on which frames are sent.
pub(crate) struct FrameRelay<F, L, G> {
    /// The name of the connection in metrics.
    pub(crate) name: &'static str,
    pub(crate) frames: F,
    /// Resolves when the client may no longer have the frames.
    pub(crate) lost: L,
    /// The reason that the client is told then.
    pub(crate) lost_reason: &'static str,
    /// The reason that the client is told when there are no more frames.
    pub(crate) gone_reason: &'static str,
    pub(crate) shutdown: CancellationToken,
    /// Dropped when the connection is closed.
    pub(crate) counted: G,
}

impl<F, L, G> FrameRelay<F, L, G>
where
    F: Stream<Item = Bytes> + Send + 'static,
    L: Future<Output = ()> + Send + 'static,
    G: Send + 'static,
{
    /// Accepts the `WebSocket` and sends frames until they, the client or the client's right end.
    pub(crate) fn accept(self, upgrade: WebSocketUpgrade) -> Response {
        let upgrade = sockets::bounded(upgrade.read_buffer_size(READ_BYTES), READ_BYTES);
        let span = tracing::Span::current();
        upgrade.on_upgrade(move |socket| self.run(socket).instrument(span))
    }

    async fn run(self, socket: WebSocket) {
        let _counted = (OpenSocket::count(self.name), self.counted);
        let (mut to_client, mut from_client) = socket.split();
        let (code, reason) = tokio::select! {
            (code, reason) = down(self.frames, &mut to_client) => (code, reason.unwrap_or(self.gone_reason)),
            end = up(&mut from_client) => end,
            () = self.lost => (close_code::POLICY, self.lost_reason),
            () = self.shutdown.cancelled() => (close_code::AWAY, self.gone_reason),
        };
        close(to_client, code, reason).await;
    }
}

/// Sends frames until there are no more. Returns another reason if the client takes none.
async fn down(
    frames: impl Stream<Item = Bytes>,
    to_client: &mut (impl Sink<Message> + Unpin),
) -> (u16, Option<&'static str>) {
    let mut frames = pin!(frames);
    let mut ping = tokio::time::interval(PING_INTERVAL);
    ping.reset();
    loop {
        let message = tokio::select! {
            frame = frames.next() => match frame {
                Some(frame) => Message::Binary(frame),
                None => return (close_code::AWAY, None),
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        let sent = tokio::time::timeout(SEND_TIMEOUT, to_client.send(message)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return (close_code::AGAIN, Some(TOO_SLOW));
        }
    }
}

/// Waits until the client leaves. Clients answer every ping, so a silent one is gone.
async fn up(
    from_client: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
) -> (u16, &'static str) {
    while let Ok(Some(Ok(message))) = tokio::time::timeout(IDLE_TIMEOUT, from_client.next()).await {
        if let Message::Close(_) = message {
            break;
        }
    }
    (close_code::NORMAL, "the client left")
}

/// Makes a stream of something whose `next` returns frames.
macro_rules! stream_of {
    ($source:expr) => {
        futures::stream::unfold($source, |mut source| async move {
            let frame = source.next().await?;
            Some((frame, source))
        })
    };
}
pub(crate) use stream_of;
