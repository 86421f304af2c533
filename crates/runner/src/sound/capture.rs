//! Captures the sound of the sandbox for one stream to the server.

use bytes::Bytes;
use deskhand_core::sound::FRAME_US;
use futures::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{self, Message};

use super::{
    OwnClient, SoundCard,
    daemon::MONITOR,
    encoder::SoundEncoder,
    pulse::{ANSWER_TIMEOUT, PulseClient, PulseClientError},
};
use crate::{capture_clock, link::Socket};

/// The time by which the output is ahead: it renders sound for us this long before the sound is due, and programs time
/// their pictures by that.
const RENDERED_AHEAD_US: u64 = FRAME_US;

/// Reasons why sound is not captured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaptureError {
    #[error(transparent)]
    Pulse(#[from] PulseClientError),
    #[error("the encoder failed")]
    Encode(#[from] opus::Error),
    #[error("the stream of sound broke")]
    Stream(#[from] tungstenite::Error),
}

/// A capture that has begun. It ends on drop.
#[derive(Debug)]
pub(crate) struct SoundCapture {
    client: PulseClient,
    channel: u32,
    encoder: SoundEncoder,
    _own: OwnClient,
}

impl SoundCard {
    /// Begins to capture the sound.
    pub(crate) async fn capture(&self) -> Result<SoundCapture, CaptureError> {
        let begun = timeout(ANSWER_TIMEOUT, self.begin_capture()).await;
        begun.unwrap_or(Err(PulseClientError::Silent.into()))
    }

    async fn begin_capture(&self) -> Result<SoundCapture, CaptureError> {
        let encoder = SoundEncoder::new()?;
        let stream = self.dial().await.map_err(PulseClientError::from)?;
        let mut client = PulseClient::connect(stream).await?;
        let own = self.own(client.number);
        let channel = client.record(MONITOR).await?;
        Ok(SoundCapture {
            client,
            channel,
            encoder,
            _own: own,
        })
    }
}

impl SoundCapture {
    /// Sends frames until the server closes the stream or PulseAudio ends.
    pub(crate) async fn serve(mut self, socket: Socket) -> Result<(), CaptureError> {
        let (mut sink, mut incoming) = socket.split();
        let closed = async {
            // The server sends nothing but the end of the stream.
            while let Some(Ok(message)) = incoming.next().await {
                if let Message::Close(_) = message {
                    break;
                }
            }
        };
        let sending = async {
            loop {
                for frame in self.next_frames().await? {
                    sink.send(Message::Binary(frame)).await?;
                }
            }
        };
        let ended = tokio::select! {
            () = closed => Ok(()),
            ended = sending => ended,
        };
        // Closes the WebSocket properly if that is still possible.
        let _ = sink.close().await;
        ended
    }

    /// Waits for sound, and returns its frames for a byte stream. Silence has none.
    pub(super) async fn next_frames(&mut self) -> Result<Vec<Bytes>, CaptureError> {
        let samples = self.client.next_sound(self.channel).await?;
        let now_us = capture_clock::now_us() + RENDERED_AHEAD_US;
        self.encoder.push(&samples);
        let mut frames = Vec::new();
        while let Some(frame) = self.encoder.next(now_us)? {
            frames.push(frame.to_stream());
        }
        Ok(frames)
    }
}
