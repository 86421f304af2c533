//! Envelopes: a head and its bytes in one WebSocket message.
//!
//! Four bytes give the head's length, little-endian. The head follows as JSON; the rest is the body.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Serialize, de::DeserializeOwned};

/// The error for a message that is not an envelope, or whose head is unknown.
#[derive(Debug, thiserror::Error)]
pub enum BadEnvelope {
    #[error("the message is shorter than its header")]
    Short,
    #[error("the header is unknown")]
    Head(#[from] serde_json::Error),
}

/// Encodes a head and a body.
pub fn pack<Head: Serialize>(head: &Head, body: &[u8]) -> Result<Bytes, BadEnvelope> {
    let head = serde_json::to_vec(head)?;
    // A head is at most a few megabytes of shell output. A message can never be 4 GiB.
    let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
    let mut message = BytesMut::with_capacity(4 + head.len() + body.len());
    message.put_u32_le(length);
    message.put_slice(&head);
    message.put_slice(body);
    Ok(message.freeze())
}

/// Decodes a message. The body shares the message's memory.
pub fn unpack<Head: DeserializeOwned>(message: &Bytes) -> Result<(Head, Bytes), BadEnvelope> {
    let length = message.first_chunk::<4>().ok_or(BadEnvelope::Short)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let end = length
        .checked_add(4)
        .filter(|end| *end <= message.len())
        .ok_or(BadEnvelope::Short)?;
    Ok((
        serde_json::from_slice(&message[4..end])?,
        message.slice(end..),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRunner;

    #[test]
    fn what_is_packed_comes_out_again() {
        let head = FromRunner::Notice {
            text: "ü".to_owned(),
        };
        let message = pack(&head, b"\0pixels").unwrap();
        let (back, body) = unpack::<FromRunner>(&message).unwrap();
        assert_eq!((back, &*body), (head, &b"\0pixels"[..]));
    }

    #[test]
    fn broken_messages_are_refused() {
        for bytes in [
            &b""[..],
            b"\x01\0\0",
            b"\x09\0\0\0{}",
            b"\xff\xff\xff\xff{}",
        ] {
            let message = Bytes::copy_from_slice(bytes);
            assert!(
                matches!(unpack::<FromRunner>(&message), Err(BadEnvelope::Short)),
                "{bytes:?}"
            );
        }
        let message = Bytes::from_static(b"\x02\0\0\0{}");
        assert!(matches!(
            unpack::<FromRunner>(&message),
            Err(BadEnvelope::Head(_))
        ));
    }
}
