//! One stream of sound from the sandbox, for everybody who listens.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use deskhand_core::{
    sandbox::{Actor, ByteStream, ComputerError, StreamTarget, Streams},
    sound::{BadSoundFrame, SoundFrames},
    tasks::Tasks,
};
use futures::StreamExt;
use tokio::sync::{
    Mutex,
    broadcast::{self, error::RecvError},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::SessionComputer;

/// The frames that wait for a listener, which are 640 ms. A slower one loses the oldest.
const MOST_WAITING: usize = 32;

/// The stream that all listeners share, while there are any.
#[derive(Debug, Default)]
pub(super) struct SharedSound(Mutex<Weak<OpenSound>>);

/// An open stream of sound. The last listener ends it.
#[derive(Debug)]
struct OpenSound {
    frames: broadcast::Sender<Bytes>,
    /// Fires when the sandbox has ended the stream.
    ended: CancellationToken,
    _stop: DropGuard,
}

/// Somebody who listens.
#[derive(Debug)]
pub struct SoundListener {
    frames: broadcast::Receiver<Bytes>,
    sound: Arc<OpenSound>,
}

impl SoundListener {
    /// Leaves out all waiting frames.
    pub(crate) fn begin_anew(&mut self) {
        self.frames = self.frames.resubscribe();
    }

    /// Waits for the next frame, as a message of [`deskhand_core::sound`]. Returns `None` when the sound has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let received = tokio::select! {
                received = self.frames.recv() => received,
                () = self.sound.ended.cancelled() => return None,
            };
            match received {
                Ok(frame) => return Some(frame),
                // The numbers of the frames tell the listener.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl SessionComputer {
    /// Joins those who listen. The first one has the sandbox capture its sound.
    pub(crate) async fn listen(&self, tasks: &Tasks) -> Result<SoundListener, ComputerError> {
        // Held while the stream is opened, so that it is opened once.
        let mut shared = self.sound.0.lock().await;
        if let Some(sound) = shared.upgrade().filter(|sound| !sound.ended.is_cancelled()) {
            return Ok(SoundListener {
                frames: sound.frames.subscribe(),
                sound,
            });
        }
        // It is for everybody, so it is opened in no one's name.
        let stream = self.open(StreamTarget::Sound, Actor::Agent).await?;
        let (frames, first) = broadcast::channel(MOST_WAITING);
        let (stop, ended) = (tasks.shutdown().child_token(), CancellationToken::new());
        let (pump, over) = (pump(stream, frames.clone()), ended.clone().drop_guard());
        let stopped = stop.clone();
        tasks.spawn("sound", async move {
            let _over = over;
            if let Some(Err(error)) = stopped.run_until_cancelled(pump).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not read a frame of sound; closing its stream");
            }
        });
        let sound = Arc::new(OpenSound {
            frames,
            ended,
            _stop: stop.drop_guard(),
        });
        *shared = Arc::downgrade(&sound);
        Ok(SoundListener {
            frames: first,
            sound,
        })
    }
}

/// Passes on frames until the stream ends. Each is written anew from its fields.
async fn pump(
    mut stream: ByteStream,
    frames: broadcast::Sender<Bytes>,
) -> Result<(), BadSoundFrame> {
    let mut reader = SoundFrames::default();
    while let Some(piece) = stream.incoming.next().await {
        reader.push(&piece);
        while let Some(frame) = reader.read()? {
            // Fails only if the last listener is just leaving.
            let _ = frames.send(frame.to_message());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_listener_loses_the_oldest_frames() {
        let (frames, receiver) = broadcast::channel(MOST_WAITING);
        let ended = CancellationToken::new();
        let mut listener = SoundListener {
            frames: receiver,
            sound: Arc::new(OpenSound {
                frames: frames.clone(),
                ended: ended.clone(),
                _stop: CancellationToken::new().drop_guard(),
            }),
        };
        for number in 0..40_u8 {
            frames.send(Bytes::copy_from_slice(&[number])).unwrap();
        }
        for number in 8..40_u8 {
            assert_eq!(listener.next().await.unwrap(), [number][..]);
        }
        ended.cancel();
        assert_eq!(listener.next().await, None);
    }
}
