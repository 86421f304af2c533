//! The frames on the stream of a file: JSON heads, and data.
//!
//! A frame begins with one byte for its kind and four bytes for its length, little-endian. Frames can be split across
//! the pieces of a stream in any way.

use bytes::{Buf, Bytes, BytesMut};
use serde::Serialize;

const HEAD: u8 = 0;
const DATA: u8 = 1;
const HEADER_BYTES: usize = 5;
/// The longest head: a path and a sentence, with room to spare.
const LONGEST_HEAD_BYTES: usize = 64 * 1024;

/// A head, or a piece of the data. The data of one frame may arrive in several pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFrame {
    /// JSON.
    Head(Bytes),
    Data(Bytes),
}

/// The error for bytes that are not frames.
#[derive(Debug, thiserror::Error)]
pub enum BadFrame {
    #[error("the stream has a frame of the unknown kind {0}")]
    Kind(u8),
    #[error("a head has at most {LONGEST_HEAD_BYTES} bytes, not {0}")]
    Long(usize),
}

/// Parses the pieces of a stream into frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    unread: Bytes,
    /// The rest of the current data frame.
    data_left: usize,
}

/// Encodes a head.
pub fn pack_head<T: Serialize>(head: &T) -> serde_json::Result<Bytes> {
    let json = serde_json::to_vec(head)?;
    let mut frame = BytesMut::with_capacity(HEADER_BYTES + json.len());
    frame.extend_from_slice(&header(HEAD, json.len()));
    frame.extend_from_slice(&json);
    Ok(frame.freeze())
}

/// Returns the header of a frame with this much data.
pub fn data_header(n_bytes: usize) -> [u8; HEADER_BYTES] {
    header(DATA, n_bytes)
}

/// Encodes data, which is copied. To avoid the copy, send [`data_header`] and the data one after the other.
pub fn pack_data(data: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEADER_BYTES + data.len());
    frame.extend_from_slice(&data_header(data.len()));
    frame.extend_from_slice(data);
    frame.freeze()
}

fn header(kind: u8, length: usize) -> [u8; HEADER_BYTES] {
    // No piece of a stream is as long as 4 GiB.
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [kind, length[0], length[1], length[2], length[3]]
}

impl FrameReader {
    /// Adds a piece. It is not copied if all earlier frames were read.
    pub fn push(&mut self, piece: Bytes) {
        if self.unread.is_empty() {
            self.unread = piece;
        } else {
            let mut joined = BytesMut::with_capacity(self.unread.len() + piece.len());
            joined.extend_from_slice(&self.unread);
            joined.extend_from_slice(&piece);
            self.unread = joined.freeze();
        }
    }

    /// Returns the next frame, or nothing if it has not arrived yet.
    pub fn next_frame(&mut self) -> Result<Option<FileFrame>, BadFrame> {
        loop {
            if self.data_left > 0 {
                let n_bytes = self.data_left.min(self.unread.len());
                self.data_left -= n_bytes;
                let data = self.unread.split_to(n_bytes);
                return Ok((!data.is_empty()).then_some(FileFrame::Data(data)));
            }
            let Some([kind, length @ ..]) = self.unread.first_chunk::<HEADER_BYTES>() else {
                return Ok(None);
            };
            let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
            match *kind {
                DATA => {
                    self.unread.advance(HEADER_BYTES);
                    self.data_left = length;
                    if length == 0 {
                        continue;
                    }
                }
                HEAD if length > LONGEST_HEAD_BYTES => return Err(BadFrame::Long(length)),
                HEAD if self.unread.len() < HEADER_BYTES + length => return Ok(None),
                HEAD => {
                    self.unread.advance(HEADER_BYTES);
                    return Ok(Some(FileFrame::Head(self.unread.split_to(length))));
                }
                unknown => return Err(BadFrame::Kind(unknown)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: impl Iterator<Item = Bytes>) -> (Vec<Bytes>, Vec<u8>) {
        let (mut reader, mut heads, mut data) = (FrameReader::default(), Vec::new(), Vec::new());
        for piece in pieces {
            reader.push(piece);
            while let Some(frame) = reader.next_frame().unwrap() {
                match frame {
                    FileFrame::Head(head) => heads.push(head),
                    FileFrame::Data(piece) => data.extend_from_slice(&piece),
                }
            }
        }
        (heads, data)
    }

    #[test]
    fn frames_are_read_from_any_pieces() {
        let stream = [
            pack_head(&"first").unwrap(),
            pack_data(b"some data"),
            pack_data(b""),
            pack_data(b", and more"),
            pack_head(&["last"]).unwrap(),
        ]
        .concat();
        let heads = [
            Bytes::from_static(b"\"first\""),
            Bytes::from_static(b"[\"last\"]"),
        ];
        for length in 1..=stream.len() {
            let pieces = stream.chunks(length).map(Bytes::copy_from_slice);
            let (found, data) = read(pieces);
            assert_eq!(found, heads);
            assert_eq!(data, b"some data, and more");
        }
    }

    #[test]
    fn malformed_frames_are_refused() {
        for bytes in [&b"\x02\0\0\0\0"[..], b"\0\xff\xff\xff\x7f"] {
            let mut reader = FrameReader::default();
            reader.push(Bytes::copy_from_slice(bytes));
            assert!(reader.next_frame().is_err());
        }
    }
}
