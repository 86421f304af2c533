//! Byte streams into a sandbox.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{Sink, Stream};
use serde::{Deserialize, Serialize};

use super::{Actor, ComputerError};
use crate::terminal::TerminalNumber;

/// The endpoint of a byte stream inside the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamTarget {
    /// The RFB server. Everyone may watch; the relay of the stream filters input.
    Screen,
    /// The sound, captured while the stream is open. Everyone may listen. The bytes are frames of [`crate::sound`].
    Sound,
    /// The picture of the screen, captured while the stream is open. Everyone may watch. The bytes are frames of
    /// [`crate::video`]; the server sends a [`crate::video::VideoWish`] when somebody begins to watch or cannot keep up.
    Video,
    /// A terminal. Everyone may watch; the runner drops the input of those whom the lease holder does not admit. The
    /// bytes are frames of [`crate::terminal`].
    Terminal {
        number: TerminalNumber,
        /// True if the actor has the right to type when the lease allows it.
        may_type: bool,
    },
    /// The bytes of one file. The first message on the stream names it, see [`crate::file::FileTransfer`].
    File,
    /// A program that listens on this port of the sandbox's loopback. The lease decides who may use it.
    Port { port: u16 },
    /// VS Code, which is started if it is not running. The lease decides who may use it.
    Code,
    /// The standard streams of a program that is started for this stream and ends with it. The first message names it,
    /// see [`crate::sandbox::ProgramOrder`]. The lease decides who may use it.
    Program,
}

impl StreamTarget {
    /// Returns the target's name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Sound => "sound",
            Self::Video => "video",
            Self::Terminal { .. } => "terminal",
            Self::File => "file",
            Self::Port { .. } => "port",
            Self::Code => "code",
            Self::Program => "program",
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
