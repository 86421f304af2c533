//! The sound card and the camera of a fake sandbox: they send the frames that a test gives them.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use deskhand_core::sandbox::ByteStream;
use futures::{FutureExt, SinkExt, StreamExt, channel::mpsc, future::BoxFuture};
use tokio::sync::{broadcast, watch};

/// The maximum number of frames that may wait in a stream.
const STREAM_LENGTH: usize = 1024;

/// A sound card or a camera that captures nothing by itself.
#[derive(Debug)]
pub(super) struct FakeCapture {
    is_missing: AtomicBool,
    frames: broadcast::Sender<Bytes>,
    /// The number of open captures.
    n_captures: watch::Sender<usize>,
    /// The bytes that came on captures, in order.
    wishes: watch::Sender<Vec<u8>>,
}

/// An open capture. It no longer counts on drop.
struct OpenCapture(watch::Sender<usize>);

impl Default for FakeCapture {
    fn default() -> Self {
        Self {
            is_missing: AtomicBool::new(false),
            frames: broadcast::Sender::new(STREAM_LENGTH),
            n_captures: watch::Sender::new(0),
            wishes: watch::Sender::default(),
        }
    }
}

impl FakeCapture {
    /// Takes it out of the sandbox.
    pub(super) fn remove(&self) {
        self.is_missing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_missing(&self) -> bool {
        self.is_missing.load(Ordering::Relaxed)
    }

    /// Sends bytes on all open captures.
    pub(super) fn send(&self, bytes: Bytes) {
        // Nobody listens if this fails.
        let _ = self.frames.send(bytes);
    }

    pub(super) async fn wait_for_captures(&self, n_captures: usize) {
        let mut n_open = self.n_captures.subscribe();
        let reached = n_open.wait_for(|n_open| *n_open == n_captures).await;
        reached.expect("the sandbox is there");
    }

    /// Waits until this byte has come at least so many times.
    pub(super) async fn wait_for_wishes(&self, wish: u8, n_wishes: usize) {
        let mut wishes = self.wishes.subscribe();
        let count = |heard: &Vec<u8>| heard.iter().filter(|byte| **byte == wish).count();
        let reached = wishes.wait_for(|heard| count(heard) >= n_wishes).await;
        reached.expect("the sandbox is there");
    }

    /// Opens a capture: the stream and the work of serving it.
    pub(super) fn capture(&self) -> (ByteStream, BoxFuture<'static, ()>) {
        let (mut to_client, incoming) = mpsc::channel(STREAM_LENGTH);
        let (outgoing, mut from_client) = mpsc::channel::<Bytes>(1);
        let client = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let mut frames = self.frames.subscribe();
        self.n_captures.send_modify(|n_open| *n_open += 1);
        let (open, wishes) = (OpenCapture(self.n_captures.clone()), self.wishes.clone());
        let serving = async move {
            let _open = open;
            loop {
                tokio::select! {
                    frame = frames.recv() => {
                        let Ok(frame) = frame else { return };
                        if to_client.send(frame).await.is_err() {
                            return;
                        }
                    }
                    piece = from_client.next() => match piece {
                        Some(piece) => wishes.send_modify(|wishes| wishes.extend(piece)),
                        None => return,
                    },
                }
            }
        };
        (client, serving.boxed())
    }
}

impl Drop for OpenCapture {
    fn drop(&mut self) {
        self.0.send_modify(|n_open| *n_open -= 1);
    }
}
