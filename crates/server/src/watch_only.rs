//! What a client that may only watch says to the screen, without its input.
//!
//! The client speaks RFB (RFC 6143). To leave out keys, pointer and clipboard one has to know where
//! each message begins, and the server behind must see it the same way: so the beginning of the
//! conversation is held to the one form whose length is known, and a message of an unknown kind
//! ends it.

use bytes::{Buf, Bytes, BytesMut};

const VERSION: &[u8] = b"RFB 003.008\n";
const NO_SECURITY: u8 = 1;
/// The longest message that is passed on. The longest that clients send in earnest lists some
/// dozens of encodings.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// Leaves input out of what one client sends.
#[derive(Debug, Default)]
pub(crate) struct WatchOnly {
    stage: Stage,
    /// What came of a message that is not complete yet.
    pending: BytesMut,
    /// How much of a message that is left out is still to come.
    skipped: usize,
}

/// The client says something that somebody who only watches does not say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotWatching;

#[derive(Debug, Default, Clone, Copy)]
enum Stage {
    #[default]
    Version,
    Security,
    Shared,
    Messages,
}

/// What becomes of a message, and how long it is.
enum Verdict {
    Pass(usize),
    Skip(usize),
    /// Not enough is known yet.
    Unclear,
}

impl WatchOnly {
    /// What of these bytes, and of those that were waiting, is passed on.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Result<Bytes, NotWatching> {
        self.pending.extend_from_slice(bytes);
        let mut passed = BytesMut::new();
        loop {
            let n_skipped = self.skipped.min(self.pending.len());
            self.pending.advance(n_skipped);
            self.skipped -= n_skipped;
            match self.judge()? {
                Verdict::Pass(length) if length > LONGEST_MESSAGE => return Err(NotWatching),
                Verdict::Pass(length) if self.pending.len() >= length => {
                    passed.extend_from_slice(&self.pending.split_to(length));
                    self.stage = self.stage.next();
                }
                Verdict::Skip(length) => self.skipped = length,
                Verdict::Pass(_) | Verdict::Unclear => return Ok(passed.freeze()),
            }
        }
    }

    fn judge(&self) -> Result<Verdict, NotWatching> {
        let pending = &self.pending[..];
        let exactly = |expected: &[u8]| {
            let n_known = pending.len().min(expected.len());
            if pending[..n_known] == expected[..n_known] {
                Ok(Verdict::Pass(expected.len()))
            } else {
                Err(NotWatching)
            }
        };
        match self.stage {
            Stage::Version => exactly(VERSION),
            Stage::Security => exactly(&[NO_SECURITY]),
            // Whoever does not share would send the others away.
            Stage::Shared => exactly(&[1]),
            Stage::Messages => message(pending),
        }
    }
}

impl Stage {
    fn next(self) -> Self {
        match self {
            Self::Version => Self::Security,
            Self::Security => Self::Shared,
            Self::Shared | Self::Messages => Self::Messages,
        }
    }
}

fn message(pending: &[u8]) -> Result<Verdict, NotWatching> {
    let Some(kind) = pending.first() else {
        return Ok(Verdict::Unclear);
    };
    let number = |at: usize, n_bytes: usize| {
        let bytes = pending.get(at..at + n_bytes)?;
        Some(
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | usize::from(*byte)),
        )
    };
    let verdict = match kind {
        // SetPixelFormat
        0 => Some(Verdict::Pass(20)),
        // SetEncodings
        2 => number(2, 2).map(|n_encodings| Verdict::Pass(4 + 4 * n_encodings)),
        // FramebufferUpdateRequest and EnableContinuousUpdates
        3 | 150 => Some(Verdict::Pass(10)),
        // KeyEvent
        4 => Some(Verdict::Skip(8)),
        // PointerEvent, which has a byte more when the highest button bit says so
        5 => number(1, 1).map(|buttons| Verdict::Skip(6 + (buttons >> 7))),
        // ClientCutText; a negative length says that the text is in the extended form
        6 => number(4, 4).map(|length| {
            let length = u32::try_from(length).unwrap_or(u32::MAX).cast_signed();
            Verdict::Skip(8 + usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX - 8))
        }),
        // ClientFence
        248 => number(8, 1).map(|length| Verdict::Pass(9 + length)),
        // xvp, which could switch the desktop off
        250 => Some(Verdict::Skip(4)),
        // SetDesktopSize
        251 => number(6, 1).map(|n_screens| Verdict::Skip(8 + 16 * n_screens)),
        // The extended KeyEvent
        255 => Some(Verdict::Skip(12)),
        _ => return Err(NotWatching),
    };
    Ok(verdict.unwrap_or(Verdict::Unclear))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HELLO: &[u8] = b"RFB 003.008\n\x01\x01";
    const ASK: [u8; 10] = [3, 1, 0, 0, 0, 0, 4, 0, 3, 0];
    const KEY: [u8; 8] = [4, 1, 0, 0, 0, 0, 0, 97];
    const POINTER: [u8; 6] = [5, 1, 0, 10, 0, 20];
    const CLIPBOARD: [u8; 11] = [6, 0, 0, 0, 0, 0, 0, 3, 97, 98, 99];
    const EXTENDED_CLIPBOARD: [u8; 12] = [6, 0, 0, 0, 255, 255, 255, 252, 1, 2, 3, 4];
    const SCREEN_SIZE: [u8; 24] = [
        251, 0, 4, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0,
    ];
    const ENCODINGS: [u8; 8] = [2, 0, 0, 1, 0, 0, 0, 0];

    proptest! {
        #[test]
        fn input_is_left_out_however_it_is_cut(cuts in prop::collection::vec(1_usize..12, 1..40)) {
            let input: [&[u8]; 5] = [&KEY, &POINTER, &CLIPBOARD, &EXTENDED_CLIPBOARD, &SCREEN_SIZE];
            let mut sent = [HELLO, &ENCODINGS].concat();
            let mut expected = sent.clone();
            for message in input {
                sent.extend_from_slice(message);
                sent.extend_from_slice(&ASK);
                expected.extend_from_slice(&ASK);
            }
            let mut filter = WatchOnly::default();
            let mut passed = Vec::new();
            let mut rest = &sent[..];
            for cut in cuts.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                passed.extend_from_slice(&filter.pass(piece).unwrap());
                rest = after;
            }
            prop_assert_eq!(passed, expected);
        }
    }

    #[test]
    fn a_beginning_of_another_length_is_refused() {
        // With version 3.3 the server chooses the security, so what follows would be read
        // one byte off.
        for hello in [
            b"RFB 003.003\n\x01\x04".as_slice(),
            b"RFB 003.008\n\x02",
            b"RFB 003.008\n\x01\x00",
            b"RFB 003.008\n\x01\x01\x63",
        ] {
            assert_eq!(WatchOnly::default().pass(hello), Err(NotWatching));
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let endless = [HELLO, &[2, 0, 255, 255]].concat();
        assert_eq!(WatchOnly::default().pass(&endless), Err(NotWatching));
    }
}
