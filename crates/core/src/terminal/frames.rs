//! The messages on a terminal's byte stream.
//!
//! A frame is one byte for its kind, four bytes for the length of its body, little-endian, and the body. Output and
//! input are raw bytes. Everything else is JSON.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::{TerminalSize, ViewedTerminal};

/// The longest body of a frame.
const LONGEST_BODY_BYTES: usize = 1024 * 1024;
const HEAD_BYTES: usize = 5;

/// A message to a viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalUpdate {
    Output(Bytes),
    /// The following output does not continue the previous output: the viewer must clear its screen.
    Replay(ReplayStart),
    State(ViewedTerminal),
}

/// A message of a viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// Text that was typed.
    Typed(Bytes),
    Resize(TerminalSize),
}

/// The reason for a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayStart {
    /// True if the viewer was too slow and has missed output. It is false at the beginning.
    pub missed: bool,
}

/// The error for bytes that are not a frame.
#[derive(Debug, thiserror::Error)]
pub enum BadTerminalFrame {
    #[error("a frame has at most {LONGEST_BODY_BYTES} bytes, not {0}")]
    TooLong(usize),
    #[error("there is no frame of the kind {0}")]
    Kind(u8),
    #[error("the body of a frame cannot be parsed")]
    Body(#[from] serde_json::Error),
}

/// A message that can be put into a frame.
pub trait Framed: Sized {
    /// Returns the message in a frame.
    fn to_frame(&self) -> Bytes;

    fn parse(kind: u8, body: Bytes) -> Result<Self, BadTerminalFrame>;
}

/// Parses frames from bytes that arrive in arbitrary pieces.
#[derive(Debug, Default)]
pub struct TerminalFrames {
    unread: BytesMut,
}

impl TerminalFrames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// Returns the next message, or `None` until all of it has arrived.
    pub fn read<F: Framed>(&mut self) -> Result<Option<F>, BadTerminalFrame> {
        let Some(head) = self.unread.first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let [kind, length @ ..] = *head;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST_BODY_BYTES {
            return Err(BadTerminalFrame::TooLong(length));
        }
        if self.unread.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        self.unread.advance(HEAD_BYTES);
        F::parse(kind, self.unread.split_to(length).freeze()).map(Some)
    }
}

impl Framed for TerminalUpdate {
    fn to_frame(&self) -> Bytes {
        match self {
            Self::Output(bytes) => frame(b'o', bytes),
            Self::Replay(replay) => json_frame(b'r', replay),
            Self::State(state) => json_frame(b's', state),
        }
    }

    fn parse(kind: u8, body: Bytes) -> Result<Self, BadTerminalFrame> {
        Ok(match kind {
            b'o' => Self::Output(body),
            b'r' => Self::Replay(serde_json::from_slice(&body)?),
            b's' => Self::State(serde_json::from_slice(&body)?),
            kind => return Err(BadTerminalFrame::Kind(kind)),
        })
    }
}

impl Framed for TerminalInput {
    fn to_frame(&self) -> Bytes {
        match self {
            Self::Typed(bytes) => frame(b'i', bytes),
            Self::Resize(size) => json_frame(b'z', size),
        }
    }

    fn parse(kind: u8, body: Bytes) -> Result<Self, BadTerminalFrame> {
        Ok(match kind {
            b'i' => Self::Typed(body),
            b'z' => Self::Resize(serde_json::from_slice(&body)?),
            kind => return Err(BadTerminalFrame::Kind(kind)),
        })
    }
}

fn json_frame(kind: u8, body: &impl Serialize) -> Bytes {
    // Plain structures without maps can always be serialized as JSON.
    frame(kind, &serde_json::to_vec(body).unwrap_or_default())
}

fn frame(kind: u8, body: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEAD_BYTES + body.len());
    frame.put_u8(kind);
    // No caller makes a body of 4 GiB, and the reader refuses bodies that are too long.
    frame.put_u32_le(u32::try_from(body.len()).unwrap_or(u32::MAX));
    frame.put_slice(body);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::TerminalId,
        terminal::{ReadOnly, Terminal, TerminalEnd, TerminalNumber},
    };

    #[test]
    fn frames_are_parsed_from_any_pieces() {
        let state = ViewedTerminal {
            terminal: Terminal {
                id: TerminalId::new(),
                number: TerminalNumber(3),
                name: "build".to_owned(),
                size: TerminalSize::default(),
                is_paused: false,
                ended: Some(TerminalEnd::Exited { code: 2 }),
            },
            read_only: Some(ReadOnly::Ended),
        };
        let updates = [
            TerminalUpdate::State(state),
            TerminalUpdate::Replay(ReplayStart { missed: true }),
            TerminalUpdate::Output(Bytes::from_static(b"\0\xff\x1b[m")),
            TerminalUpdate::Output(Bytes::new()),
        ];
        let bytes: Vec<u8> = updates.iter().flat_map(Framed::to_frame).collect();
        for size in [1, 3, 7, bytes.len()] {
            let (mut reader, mut seen) = (TerminalFrames::default(), Vec::new());
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(update) = reader.read::<TerminalUpdate>().unwrap() {
                    seen.push(update);
                }
            }
            assert_eq!(seen, updates);
        }
    }

    #[test]
    fn malformed_frames_are_refused() {
        for bytes in [&b"x\0\0\0\0"[..], b"i\xff\xff\xff\xff", b"z\x02\0\0\0{}"] {
            let mut reader = TerminalFrames::default();
            reader.push(bytes);
            assert!(reader.read::<TerminalInput>().is_err(), "{bytes:?}");
        }
    }
}
