//! Programs that run in a sandbox for one stream, and speak over their standard streams.
//!
//! The first message to the runner is a [`ProgramOrder`]. All further ones are bytes for the standard input. Messages of
//! the runner are [`ProgramFrame`]s, of which the first is `Started` or `Ended`.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The longest order, in bytes of JSON.
pub const LONGEST_ORDER_BYTES: usize = 1024 * 1024;

const STARTED: u8 = b's';
const OUTPUT: u8 = b'o';
const ENDED: u8 = b'e';

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramOrder {
    /// A path, or a name that is searched for as the shell does.
    pub command: String,
    pub args: Vec<String>,
    /// Environment variables in addition to those of every program.
    pub env: BTreeMap<String, Secret>,
}

/// A message of the runner about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFrame {
    Started,
    /// Bytes of its standard output.
    Output(Bytes),
    /// It has ended or could not be started. The text says why.
    Ended(String),
}

impl ProgramFrame {
    pub fn encode(&self) -> Bytes {
        let (tag, rest): (u8, &[u8]) = match self {
            Self::Started => (STARTED, b""),
            Self::Output(bytes) => (OUTPUT, bytes),
            Self::Ended(text) => (ENDED, text.as_bytes()),
        };
        let mut message = BytesMut::with_capacity(rest.len() + 1);
        message.put_u8(tag);
        message.put_slice(rest);
        message.freeze()
    }

    /// Returns `None` for a message of another kind.
    pub fn decode(mut message: Bytes) -> Option<Self> {
        let rest = message.split_off(message.len().min(1));
        match *message.first()? {
            STARTED => Some(Self::Started),
            OUTPUT => Some(Self::Output(rest)),
            ENDED => Some(Self::Ended(String::from_utf8_lossy(&rest).into_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_wire() {
        for frame in [
            ProgramFrame::Started,
            ProgramFrame::Output(Bytes::from_static(b"\0\xff")),
            ProgramFrame::Ended("with ü".to_owned()),
        ] {
            assert_eq!(ProgramFrame::decode(frame.encode()), Some(frame));
        }
        for bad in [&b""[..], b"x"] {
            assert_eq!(ProgramFrame::decode(Bytes::from_static(bad)), None);
        }
    }
}
