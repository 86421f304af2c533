//! Gives frames of sound the time at which they were captured.

use deskhand_core::sound::FRAME_US;

/// The difference from which on the recording is thought to have paused. PulseAudio suspends it while nothing plays.
const PAUSED_FROM_US: u64 = 100_000;
/// The part of a delay that counts. Sound is only ever read late, so the earliest times are the right ones, and the two
/// clocks differ by far less than this.
const DELAY_PART: u64 = 64;

/// Times frames evenly, although they are read in pieces and sometimes late.
#[derive(Debug, Default)]
pub(super) struct SoundStamps {
    last_us: Option<u64>,
}

impl SoundStamps {
    /// Returns the time of the next frame's last sample. `read_us` is the time at which it was read.
    pub(super) fn next(&mut self, read_us: u64) -> u64 {
        let expected = self.last_us.map(|last| last.saturating_add(FRAME_US));
        let stamp = match expected {
            Some(expected) if read_us.abs_diff(expected) < PAUSED_FROM_US => {
                if read_us < expected {
                    read_us
                } else {
                    expected + (read_us - expected) / DELAY_PART
                }
            }
            _ => read_us,
        };
        self.last_us = Some(stamp);
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(read_us: &[u64]) -> Vec<u64> {
        let mut stamps = SoundStamps::default();
        read_us.iter().map(|read| stamps.next(*read)).collect()
    }

    #[test]
    fn frames_that_are_read_late_have_the_time_of_their_capture() {
        let stamped = stamps(&[1_000_000, 1_020_000, 1_060_000, 1_060_100, 1_080_000]);
        assert_eq!(stamped[..2], [1_000_000, 1_020_000]);
        for (stamp, expected) in stamped[2..].iter().zip([1_040_000, 1_060_000, 1_080_000]) {
            assert!(stamp.abs_diff(expected) < 500, "{stamped:?}");
        }
    }

    #[test]
    fn a_first_frame_that_is_late_is_corrected_by_the_next() {
        assert_eq!(
            stamps(&[1_050_000, 1_050_100, 1_060_000])[1..],
            [1_050_100, 1_060_000]
        );
    }

    #[test]
    fn time_jumps_when_the_recording_paused() {
        assert_eq!(stamps(&[1_000_000, 9_000_000]), [1_000_000, 9_000_000]);
    }
}
