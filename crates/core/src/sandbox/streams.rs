//! Byte streams into a sandbox.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{Sink, Stream};
use serde::{Deserialize, Serialize};

use super::{Actor, ComputerError};

/// The endpoint of a byte stream inside the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamTarget {
    /// The RFB server. Everyone may watch; the relay of the stream filters input.
    Screen,
}

impl StreamTarget {
    /// Returns the target's name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
        }
    }
}

/// Bytes in both directions, in the pieces in which they arrived. It ends when either side does.
pub struct ByteStream {
    pub incoming: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    pub outgoing: Pin<Box<dyn Sink<Bytes, Error = std::io::Error> + Send>>,
}

impl std::fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteStream").finish_non_exhaustive()
    }
}

/// Opens byte streams into a sandbox.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Opens a stream on behalf of `actor`. Each stream has its own flow control.
    async fn open(&self, target: StreamTarget, actor: Actor) -> Result<ByteStream, ComputerError>;
}
