//! The sound of a sandbox: packets of Opus, each with the time at which it was captured.
//!
//! A frame is 20 ms of sound. Its head has a fixed length and every number in it is big-endian:
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | the version of this format, 1 |
//! | 1 | channels, 2 |
//! | 2 | samples of each channel in the packet, 960 |
//! | 4 | samples of each channel in a second, 48 000 |
//! | 4 | the number of the frame: one more than that of the frame before, unless frames were lost |
//! | 8 | the time at which its last sample was captured, in microseconds since 1970 by the sandbox's clock |
//!
//! The packet follows. Silence is not sent, so the time between two frames can be longer than their sound.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The samples of each channel in a second.
pub const SOUND_RATE: u32 = 48_000;
pub const SOUND_CHANNELS: u8 = 2;
/// The samples of each channel in a frame, which are 20 ms.
pub const SAMPLES_PER_FRAME: u16 = 960;
/// The time that one frame sounds, in microseconds.
pub const FRAME_US: u64 = 20_000;
/// The longest packet that Opus makes of one frame.
pub const LONGEST_PACKET_BYTES: usize = 1275;

const VERSION: u8 = 1;
const HEAD_BYTES: usize = 20;
const LONGEST_FRAME_BYTES: usize = HEAD_BYTES + LONGEST_PACKET_BYTES;
/// The length of a frame on a byte stream comes before it, in as many bytes.
const LENGTH_BYTES: usize = 2;

/// 20 ms of sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoundFrame {
    /// Counts the frames that were sent. It begins again after 4294967295.
    pub number: u32,
    /// The time at which its last sample was captured, in microseconds since 1970.
    pub captured_at_us: u64,
    /// The packet of Opus.
    pub packet: Bytes,
}

/// The error for bytes that are not a frame of sound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSoundFrame {
    #[error("a frame of sound has {HEAD_BYTES} to {LONGEST_FRAME_BYTES} bytes, not {0}")]
    Length(usize),
    #[error("the version of a frame of sound is {VERSION}, not {0}")]
    Version(u8),
    #[error(
        "a frame of sound has {SOUND_CHANNELS} channels with {SAMPLES_PER_FRAME} samples of {SOUND_RATE} in a second, \
         not {channels} with {samples} of {rate}"
    )]
    Format {
        channels: u8,
        samples: u16,
        rate: u32,
    },
    #[error("a frame of sound has an empty packet")]
    Empty,
}

impl SoundFrame {
    /// Returns the frame as one message.
    pub fn to_message(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(HEAD_BYTES + self.packet.len());
        self.write(&mut bytes);
        bytes.freeze()
    }

    /// Returns the frame for a byte stream, with its length before it.
    pub fn to_stream(&self) -> Bytes {
        let length = HEAD_BYTES + self.packet.len();
        let mut bytes = BytesMut::with_capacity(LENGTH_BYTES + length);
        // No packet is that long, and the reader refuses frames that are too long.
        bytes.put_u16(u16::try_from(length).unwrap_or(u16::MAX));
        self.write(&mut bytes);
        bytes.freeze()
    }

    /// Parses one message.
    pub fn parse(mut bytes: Bytes) -> Result<Self, BadSoundFrame> {
        let length = bytes.len();
        if !(HEAD_BYTES..=LONGEST_FRAME_BYTES).contains(&length) {
            return Err(BadSoundFrame::Length(length));
        }
        let version = bytes.get_u8();
        if version != VERSION {
            return Err(BadSoundFrame::Version(version));
        }
        let (channels, samples, rate) = (bytes.get_u8(), bytes.get_u16(), bytes.get_u32());
        if (channels, samples, rate) != (SOUND_CHANNELS, SAMPLES_PER_FRAME, SOUND_RATE) {
            return Err(BadSoundFrame::Format {
                channels,
                samples,
                rate,
            });
        }
        let (number, captured_at_us) = (bytes.get_u32(), bytes.get_u64());
        if bytes.is_empty() {
            return Err(BadSoundFrame::Empty);
        }
        Ok(Self {
            number,
            captured_at_us,
            packet: bytes,
        })
    }

    fn write(&self, bytes: &mut BytesMut) {
        bytes.put_u8(VERSION);
        bytes.put_u8(SOUND_CHANNELS);
        bytes.put_u16(SAMPLES_PER_FRAME);
        bytes.put_u32(SOUND_RATE);
        bytes.put_u32(self.number);
        bytes.put_u64(self.captured_at_us);
        bytes.put_slice(&self.packet);
    }
}

/// Parses frames from a byte stream, whose bytes arrive in arbitrary pieces.
#[derive(Debug, Default)]
pub struct SoundFrames {
    unread: BytesMut,
}

impl SoundFrames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// Returns the next frame, or `None` until all of it has arrived.
    pub fn read(&mut self) -> Result<Option<SoundFrame>, BadSoundFrame> {
        let Some(length) = self.unread.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*length));
        if length > LONGEST_FRAME_BYTES {
            return Err(BadSoundFrame::Length(length));
        }
        if self.unread.len() < LENGTH_BYTES + length {
            return Ok(None);
        }
        self.unread.advance(LENGTH_BYTES);
        SoundFrame::parse(self.unread.split_to(length).freeze()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u32, packet: &'static [u8]) -> SoundFrame {
        SoundFrame {
            number,
            captured_at_us: 1_790_000_000_123_456,
            packet: Bytes::from_static(packet),
        }
    }

    #[test]
    fn the_head_is_as_documented() {
        let message = frame(7, b"\xfcsound").to_message();
        let expected = [
            &[1, 2, 3, 192][..],
            &48_000_u32.to_be_bytes(),
            &[0, 0, 0, 7],
            &1_790_000_000_123_456_u64.to_be_bytes(),
            b"\xfcsound",
        ];
        assert_eq!(message, expected.concat());
        assert_eq!(SoundFrame::parse(message), Ok(frame(7, b"\xfcsound")));
    }

    #[test]
    fn frames_are_parsed_from_any_pieces() {
        let frames = [
            frame(0, b"a"),
            frame(1, &[9; LONGEST_PACKET_BYTES]),
            frame(u32::MAX, b"bc"),
        ];
        let bytes: Vec<u8> = frames.iter().flat_map(SoundFrame::to_stream).collect();
        for size in [1, 3, 21, bytes.len()] {
            let (mut reader, mut seen) = (SoundFrames::default(), Vec::new());
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
            SoundFrame::parse(bytes.into())
        };
        assert_eq!(changed(0, 2), Err(BadSoundFrame::Version(2)));
        let odd = BadSoundFrame::Format {
            channels: 1,
            samples: 960,
            rate: 48_000,
        };
        assert_eq!(changed(1, 1), Err(odd));
        assert!(changed(3, 0).is_err() && changed(7, 0).is_err());
        let short = good.slice(..19);
        assert_eq!(SoundFrame::parse(short), Err(BadSoundFrame::Length(19)));
        let empty = good.slice(..20);
        assert_eq!(SoundFrame::parse(empty), Err(BadSoundFrame::Empty));
        let long = vec![1; LONGEST_FRAME_BYTES + 1];
        assert!(SoundFrame::parse(long.into()).is_err());
    }

    #[test]
    fn a_length_that_no_frame_has_is_refused_at_once() {
        for bytes in [&[0xff, 0xff][..], &[0, 0], &[0, 3, 1, 2, 3]] {
            let mut reader = SoundFrames::default();
            reader.push(bytes);
            assert!(reader.read().is_err(), "{bytes:?}");
        }
    }
}
