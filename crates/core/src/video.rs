//! The picture of a sandbox's screen as video: frames of H.264, each with the time at which it was captured.
//!
//! The head of a frame has a fixed length and every number in it is big-endian:
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | the version of this format, 1 |
//! | 1 | the codec: 1 is H.264 with start codes (Annex B) |
//! | 1 | 1 if the frame can be decoded without any other (a key frame), and else 0 |
//! | 1 | the layer: 0, 1 or 2. No frame needs one of a higher layer |
//! | 2 | the width of the picture |
//! | 2 | its height |
//! | 4 | the number of the frame: one more than that of the frame before, unless frames were left out |
//! | 8 | the time at which it was captured, in microseconds since 1970 by the same clock as that of sound |
//!
//! The encoded picture follows. Nothing is sent while the screen does not change, so the time between two frames can be
//! long.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::action::ScreenSize;

/// The number of layers. Without the highest, there are half as many frames in a second.
pub const VIDEO_LAYERS: u8 = 3;
/// The longest encoded picture.
pub const LONGEST_PICTURE_BYTES: usize = 1024 * 1024;
/// The number of qualities. Each has half of the bits of the one before.
pub const VIDEO_QUALITIES: u8 = 4;

const VERSION: u8 = 1;
const H264: u8 = 1;
const HEAD_BYTES: usize = 20;
const LONGEST_FRAME_BYTES: usize = HEAD_BYTES + LONGEST_PICTURE_BYTES;
/// The length of a frame on a byte stream comes before it, in as many bytes.
const LENGTH_BYTES: usize = 4;

/// A wish of the server to the sandbox that films the screen. It is one byte on the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VideoWish {
    /// A key frame. The sandbox sends at most one a second.
    KeyFrame,
    /// This quality from now on. 0 is the best, in which a stream begins.
    Quality(u8),
}

/// One picture of the screen, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoFrame {
    /// Counts the frames that were encoded. It begins again after 4294967295.
    pub number: u32,
    /// The time at which it was captured, in microseconds since 1970.
    pub captured_at_us: u64,
    /// True if it can be decoded without any other frame.
    pub is_key: bool,
    /// From 0 to 2. A frame needs only frames of its own layer and of lower ones.
    pub layer: u8,
    pub size: ScreenSize,
    /// The picture in H.264, with start codes.
    pub picture: Bytes,
}

/// The error for bytes that are not a frame of video.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVideoFrame {
    #[error("a frame of video has {HEAD_BYTES} to {LONGEST_FRAME_BYTES} bytes, not {0}")]
    Length(usize),
    #[error("the version of a frame of video is {VERSION}, not {0}")]
    Version(u8),
    #[error("the codec of a frame of video is {H264}, not {0}")]
    Codec(u8),
    #[error("a frame of video is a key frame or not, 1 or 0, not {0}")]
    Key(u8),
    #[error("the layer of a frame of video is below {VIDEO_LAYERS}, not {0}")]
    Layer(u8),
    #[error("a frame of video shows no pixels")]
    Size,
    #[error("a frame of video has an empty picture")]
    Empty,
}

impl VideoWish {
    pub fn to_byte(self) -> u8 {
        match self {
            Self::KeyFrame => b'k',
            Self::Quality(quality) => b'0' + quality.min(VIDEO_QUALITIES - 1),
        }
    }

    /// Parses a byte of the stream. Returns `None` if it is no wish.
    pub fn parse(byte: u8) -> Option<Self> {
        match byte {
            b'k' => Some(Self::KeyFrame),
            b'0'.. if byte < b'0' + VIDEO_QUALITIES => Some(Self::Quality(byte - b'0')),
            _ => None,
        }
    }
}

impl VideoFrame {
    /// Returns the frame as one message.
    pub fn to_message(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(HEAD_BYTES + self.picture.len());
        self.write(&mut bytes);
        bytes.freeze()
    }

    /// Returns the frame for a byte stream, with its length before it.
    pub fn to_stream(&self) -> Bytes {
        let length = HEAD_BYTES + self.picture.len();
        let mut bytes = BytesMut::with_capacity(LENGTH_BYTES + length);
        // No picture is that long, and the reader refuses frames that are too long.
        bytes.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
        self.write(&mut bytes);
        bytes.freeze()
    }

    /// Parses one message.
    pub fn parse(mut bytes: Bytes) -> Result<Self, BadVideoFrame> {
        let length = bytes.len();
        if !(HEAD_BYTES..=LONGEST_FRAME_BYTES).contains(&length) {
            return Err(BadVideoFrame::Length(length));
        }
        let version = bytes.get_u8();
        if version != VERSION {
            return Err(BadVideoFrame::Version(version));
        }
        let codec = bytes.get_u8();
        if codec != H264 {
            return Err(BadVideoFrame::Codec(codec));
        }
        let is_key = match bytes.get_u8() {
            0 => false,
            1 => true,
            other => return Err(BadVideoFrame::Key(other)),
        };
        let layer = bytes.get_u8();
        if layer >= VIDEO_LAYERS {
            return Err(BadVideoFrame::Layer(layer));
        }
        let size = ScreenSize {
            width: bytes.get_u16(),
            height: bytes.get_u16(),
        };
        if size.width == 0 || size.height == 0 {
            return Err(BadVideoFrame::Size);
        }
        let (number, captured_at_us) = (bytes.get_u32(), bytes.get_u64());
        if bytes.is_empty() {
            return Err(BadVideoFrame::Empty);
        }
        Ok(Self {
            number,
            captured_at_us,
            is_key,
            layer,
            size,
            picture: bytes,
        })
    }

    fn write(&self, bytes: &mut BytesMut) {
        bytes.put_u8(VERSION);
        bytes.put_u8(H264);
        bytes.put_u8(u8::from(self.is_key));
        bytes.put_u8(self.layer);
        bytes.put_u16(self.size.width);
        bytes.put_u16(self.size.height);
        bytes.put_u32(self.number);
        bytes.put_u64(self.captured_at_us);
        bytes.put_slice(&self.picture);
    }
}

/// Parses frames from a byte stream, whose bytes arrive in arbitrary pieces.
#[derive(Debug, Default)]
pub struct VideoFrames {
    unread: BytesMut,
}

impl VideoFrames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// Returns the next frame, or `None` until all of it has arrived.
    pub fn read(&mut self) -> Result<Option<VideoFrame>, BadVideoFrame> {
        let Some(length) = self.unread.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST_FRAME_BYTES {
            return Err(BadVideoFrame::Length(length));
        }
        if self.unread.len() < LENGTH_BYTES + length {
            return Ok(None);
        }
        self.unread.advance(LENGTH_BYTES);
        VideoFrame::parse(self.unread.split_to(length).freeze()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u32, picture: &'static [u8]) -> VideoFrame {
        VideoFrame {
            number,
            captured_at_us: 1_790_000_000_123_456,
            is_key: number == 0,
            layer: 2,
            size: ScreenSize {
                width: 1280,
                height: 720,
            },
            picture: Bytes::from_static(picture),
        }
    }

    #[test]
    fn the_head_is_as_documented() {
        let message = frame(0, b"\0\0\0\x01picture").to_message();
        let expected = [
            &[1, 1, 1, 2][..],
            &[5, 0, 2, 208],
            &[0, 0, 0, 0],
            &1_790_000_000_123_456_u64.to_be_bytes(),
            b"\0\0\0\x01picture",
        ];
        assert_eq!(message, expected.concat());
        let parsed = VideoFrame::parse(message);
        assert_eq!(parsed, Ok(frame(0, b"\0\0\0\x01picture")));
    }

    #[test]
    fn wishes_are_single_bytes() {
        let wishes = (0..=u8::MAX).filter_map(|byte| Some((byte, VideoWish::parse(byte)?)));
        let wishes: Vec<_> = wishes.collect();
        assert_eq!(wishes.len(), 5);
        assert!(wishes.iter().all(|(byte, wish)| wish.to_byte() == *byte));
    }

    #[test]
    fn frames_are_parsed_from_any_pieces() {
        let frames = [frame(0, b"a"), frame(1, &[9; 5000]), frame(u32::MAX, b"bc")];
        let bytes: Vec<u8> = frames.iter().flat_map(VideoFrame::to_stream).collect();
        for size in [1, 3, 21, bytes.len()] {
            let (mut reader, mut seen) = (VideoFrames::default(), Vec::new());
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(frame) = reader.read().unwrap() {
                    seen.push(frame);
                }
            }
            assert_eq!(seen, frames);
        }
    }

    #[test]
    fn malformed_frames_are_refused() {
        let good = frame(1, b"x").to_message();
        let changed = |at: usize, value: u8| {
            let mut bytes = good.to_vec();
            bytes[at] = value;
            VideoFrame::parse(bytes.into())
        };
        assert_eq!(changed(0, 2), Err(BadVideoFrame::Version(2)));
        assert_eq!(changed(1, 7), Err(BadVideoFrame::Codec(7)));
        assert_eq!(changed(2, 2), Err(BadVideoFrame::Key(2)));
        assert_eq!(changed(3, 3), Err(BadVideoFrame::Layer(3)));
        let mut flat = good.to_vec();
        flat[6..8].fill(0);
        assert_eq!(VideoFrame::parse(flat.into()), Err(BadVideoFrame::Size));
        let short = good.slice(..19);
        assert_eq!(VideoFrame::parse(short), Err(BadVideoFrame::Length(19)));
        let empty = good.slice(..20);
        assert_eq!(VideoFrame::parse(empty), Err(BadVideoFrame::Empty));
    }

    #[test]
    fn a_length_that_no_frame_has_is_refused_at_once() {
        for bytes in [&[0xff; 4][..], &[0, 0, 0, 0], &[0, 0, 0, 1, 1]] {
            let mut reader = VideoFrames::default();
            reader.push(bytes);
            assert!(reader.read().is_err(), "{bytes:?}");
        }
    }
}
