//! Captures the sound of the sandbox for one stream to the server.

use bytes::Bytes;
use deskhand_core::clock::{Clock, SystemClock};
use futures::{SinkExt, StreamExt};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::{self, Message};

use super::{
    OwnClient, SoundCard,
    daemon::MONITOR,
    encoder::SoundEncoder,
    pulse::{ANSWER_TIMEOUT, PulseClient, PulseClientError},
};
use crate::link::Socket;

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
    clock: CaptureClock,
    _own: OwnClient,
}

/// A clock with the precision of sound, which never goes back.
#[derive(Debug)]
struct CaptureClock {
    began_at_us: u64,
    began: Instant,
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
            clock: CaptureClock::new(),
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
        let now_us = self.clock.now_us();
        self.encoder.push(&samples);
        let mut frames = Vec::new();
        while let Some(frame) = self.encoder.next(now_us)? {
            frames.push(frame.to_stream());
        }
        Ok(frames)
    }
}

impl CaptureClock {
    fn new() -> Self {
        let began_at_us = SystemClock.now().as_microsecond();
        Self {
            began_at_us: u64::try_from(began_at_us).unwrap_or_default(),
            began: Instant::now(),
        }
    }

    fn now_us(&self) -> u64 {
        let elapsed_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.began_at_us.saturating_add(elapsed_us)
    }
}
