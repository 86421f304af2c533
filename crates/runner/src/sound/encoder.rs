//! Turns samples into frames of Opus, and leaves out silence.

use bytes::{Buf, Bytes, BytesMut};
use deskhand_core::sound::{
    FRAME_US, LONGEST_PACKET_BYTES, SAMPLES_PER_FRAME, SOUND_CHANNELS, SOUND_RATE, SoundFrame,
};

use super::stamps::SoundStamps;

/// The samples of all channels in a frame.
const SAMPLES: usize = SAMPLES_PER_FRAME as usize * SOUND_CHANNELS as usize;
const BYTES_PER_SAMPLE: usize = 2;
/// The length of a frame before it is encoded.
pub(super) const BYTES_PER_FRAME: usize = SAMPLES * BYTES_PER_SAMPLE;

/// The bits in a second. Music sounds good with it, and speech takes less.
const BITRATE: i32 = 96_000;
/// The effort of the encoder, from 0 to 10.
const COMPLEXITY: i32 = 5;
/// The loudest sample that counts as silence: 80 dB below full scale.
const SILENT_BELOW: u16 = 4;
/// The silent frames that are still sent after a sound, so that it can fade out.
const SENT_SILENT_FRAMES: u32 = 10;

/// Encodes the sound of one capture.
#[derive(Debug)]
pub(super) struct SoundEncoder {
    opus: opus::Encoder,
    /// The samples that do not make a whole frame yet.
    unread: BytesMut,
    stamps: SoundStamps,
    number: u32,
    /// The silent frames since the last sound.
    n_silent: u32,
}

impl SoundEncoder {
    pub(super) fn new() -> Result<Self, opus::Error> {
        let channels = opus::Channels::Stereo;
        let mut opus = opus::Encoder::new(SOUND_RATE, channels, opus::Application::Audio)?;
        opus.set_bitrate(opus::Bitrate::Bits(BITRATE))?;
        opus.set_complexity(COMPLEXITY)?;
        Ok(Self {
            opus,
            unread: BytesMut::new(),
            stamps: SoundStamps::default(),
            number: 0,
            // There was no sound before.
            n_silent: SENT_SILENT_FRAMES,
        })
    }

    /// Adds captured samples: 16 bits each, little-endian, of both channels in turn.
    pub(super) fn push(&mut self, samples: &[u8]) {
        self.unread.extend_from_slice(samples);
    }

    /// Returns the next frame that is not silent. `now_us` is the time at which the newest sample was read.
    pub(super) fn next(&mut self, now_us: u64) -> Result<Option<SoundFrame>, opus::Error> {
        while self.unread.len() >= BYTES_PER_FRAME {
            let samples = self.take_samples();
            let read_us = now_us.saturating_sub(self.unread_us());
            let captured_at_us = self.stamps.next(read_us);
            if samples
                .iter()
                .all(|sample| sample.unsigned_abs() < SILENT_BELOW)
            {
                self.n_silent = self.n_silent.saturating_add(1);
            } else {
                self.n_silent = 0;
            }
            if self.n_silent > SENT_SILENT_FRAMES {
                continue;
            }
            return self.encode(&samples, captured_at_us).map(Some);
        }
        Ok(None)
    }

    fn take_samples(&mut self) -> [i16; SAMPLES] {
        let mut samples = [0; SAMPLES];
        for sample in &mut samples {
            *sample = self.unread.get_i16_le();
        }
        samples
    }

    fn encode(&mut self, samples: &[i16], captured_at_us: u64) -> Result<SoundFrame, opus::Error> {
        let mut packet = [0; LONGEST_PACKET_BYTES];
        let n_bytes = self.opus.encode(samples, &mut packet)?;
        let number = self.number;
        self.number = number.wrapping_add(1);
        Ok(SoundFrame {
            number,
            captured_at_us,
            packet: Bytes::copy_from_slice(&packet[..n_bytes]),
        })
    }

    /// Returns the time that the samples sound which wait to be encoded, in microseconds.
    fn unread_us(&self) -> u64 {
        let n_bytes = u64::try_from(self.unread.len()).unwrap_or(u64::MAX);
        let of_frame = u64::try_from(BYTES_PER_FRAME).unwrap_or(u64::MAX);
        n_bytes.saturating_mul(FRAME_US) / of_frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_US: u64 = 1_790_000_000_000_000;

    fn tone(n_frames: usize) -> Vec<u8> {
        let n_samples = n_frames * usize::from(SAMPLES_PER_FRAME);
        let wave = (0..n_samples).flat_map(|n| {
            #[expect(clippy::cast_precision_loss, reason = "a test has few samples")]
            let angle = n as f32 * 440.0 * std::f32::consts::TAU / 48_000.0;
            #[expect(clippy::cast_possible_truncation, reason = "it is at most 8000")]
            let sample = (angle.sin() * 8000.0) as i16;
            [sample, sample]
        });
        wave.flat_map(i16::to_le_bytes).collect()
    }

    fn frames(encoder: &mut SoundEncoder, samples: &[u8]) -> Vec<SoundFrame> {
        encoder.push(samples);
        std::iter::from_fn(|| encoder.next(NOW_US).unwrap()).collect()
    }

    #[test]
    fn a_tone_comes_back_as_it_was() {
        let mut encoder = SoundEncoder::new().unwrap();
        let frames = frames(&mut encoder, &tone(10));
        assert_eq!(frames.len(), 10);
        let times: Vec<u64> = frames
            .iter()
            .map(|frame| NOW_US - frame.captured_at_us)
            .collect();
        assert_eq!(times[..3], [180_000, 160_000, 140_000]);
        let mut decoder = opus::Decoder::new(SOUND_RATE, opus::Channels::Stereo).unwrap();
        let mut heard = Vec::new();
        for frame in &frames {
            let mut samples = [0; SAMPLES];
            let n_samples = decoder.decode(&frame.packet, &mut samples, false).unwrap();
            assert_eq!(n_samples, usize::from(SAMPLES_PER_FRAME));
            heard.extend(samples.iter().step_by(2).copied());
        }
        // The second half, since the beginning fades in: 440 Hz crosses zero 88 times in 100 ms.
        let late = &heard[heard.len() / 2..];
        let n_crossings = late
            .windows(2)
            .filter(|pair| (pair[0] < 0) != (pair[1] < 0))
            .count();
        assert!((86..=90).contains(&n_crossings), "{n_crossings}");
        assert!(late.iter().any(|sample| *sample > 7000));
    }

    #[test]
    fn silence_is_left_out_after_a_moment_and_frames_are_counted_without_it() {
        let mut encoder = SoundEncoder::new().unwrap();
        let silence = vec![0; 50 * BYTES_PER_FRAME];
        assert_eq!(frames(&mut encoder, &silence), []);
        let first = frames(&mut encoder, &tone(2));
        let fading = frames(&mut encoder, &silence);
        let second = frames(&mut encoder, &tone(1));
        assert_eq!((first.len(), fading.len(), second.len()), (2, 10, 1));
        assert_eq!(second[0].number, 12);
    }

    #[test]
    fn samples_are_taken_in_any_pieces() {
        let mut encoder = SoundEncoder::new().unwrap();
        let tone = tone(3);
        let pieces = tone.chunks(7);
        let n_frames = pieces.map(|piece| frames(&mut encoder, piece).len());
        assert_eq!(n_frames.sum::<usize>(), 3);
    }
}
