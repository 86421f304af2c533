//! Filters a client's messages to the screen: passes input only while the client has control.
//!
//! The client speaks RFB (RFC 6143). To leave out keys, pointer and clipboard, the filter must know where each
//! message begins, and the RFB server must agree. So the filter accepts only the one handshake whose length is
//! known, and ends the connection at a message of an unknown kind.

use std::collections::BTreeSet;

use bytes::{Buf, Bytes, BytesMut};

const VERSION: &[u8] = b"RFB 003.008\n";
const NO_SECURITY: u8 = 1;
/// The longest message that is passed on. The longest that real clients send lists some dozens of encodings.
const LONGEST_MESSAGE: usize = 64 * 1024;
/// The most keys that a client may hold down at once.
const MOST_KEYS: usize = 128;

/// Filters the bytes of one client.
#[derive(Debug, Default)]
pub(crate) struct ScreenInput {
    stage: Stage,
    /// The received part of a message that is not complete yet.
    pending: BytesMut,
    /// The number of bytes still to come of a message that is left out.
    skipped: usize,
    held: Held,
}

/// The client's control of the mouse and the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    On,
    Off,
}

/// The client sent something that is not RFB as expected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAScreen;

#[derive(Debug, Default, Clone, Copy)]
enum Stage {
    #[default]
    Version,
    Security,
    Shared,
    Messages,
}

/// The decision about a message, with its length in bytes.
enum Verdict {
    Pass(usize),
    /// Passed on only if the client has control.
    Input(usize),
    Skip(usize),
    /// Not enough bytes have arrived to decide.
    Unclear,
}

/// The keys and buttons that the screen sees as held down by the client.
#[derive(Debug, Default)]
struct Held {
    /// The messages that release the keys.
    keys: BTreeSet<Bytes>,
    /// The position of the pointer while a button is down.
    pointer: Option<[u8; 4]>,
}

impl ScreenInput {
    /// Returns the part of these bytes, and of the pending ones, that is passed on.
    pub(crate) fn pass(&mut self, bytes: &[u8], hands: Hands) -> Result<Bytes, NotAScreen> {
        self.pending.extend_from_slice(bytes);
        let mut passed = BytesMut::new();
        loop {
            let n_skipped = self.skipped.min(self.pending.len());
            self.pending.advance(n_skipped);
            self.skipped -= n_skipped;
            match self.judge()? {
                Verdict::Pass(length) if length > LONGEST_MESSAGE => return Err(NotAScreen),
                Verdict::Pass(length) if self.pending.len() >= length => {
                    passed.extend_from_slice(&self.pending.split_to(length));
                    self.stage = self.stage.next();
                }
                // Without control, and for a clipboard text that is too long, the message is left out.
                Verdict::Input(length) if hands == Hands::Off || length > LONGEST_MESSAGE => {
                    self.skipped = length;
                }
                Verdict::Input(length) if self.pending.len() >= length => {
                    let message = self.pending.split_to(length).freeze();
                    if self.held.note(&message) {
                        passed.extend_from_slice(&message);
                    }
                }
                Verdict::Skip(length) => self.skipped = length,
                Verdict::Pass(_) | Verdict::Input(_) | Verdict::Unclear => {
                    return Ok(passed.freeze());
                }
            }
        }
    }

    /// Returns messages that release everything the client holds down, for when it loses control.
    pub(crate) fn release(&mut self) -> Bytes {
        let Held { keys, pointer } = std::mem::take(&mut self.held);
        let mut messages = BytesMut::new();
        for key in keys {
            messages.extend_from_slice(&key);
        }
        if let Some(place) = pointer {
            messages.extend_from_slice(&[5, 0]);
            messages.extend_from_slice(&place);
        }
        messages.freeze()
    }

    fn judge(&self) -> Result<Verdict, NotAScreen> {
        let pending = &self.pending[..];
        let exactly = |expected: &[u8]| {
            let n_known = pending.len().min(expected.len());
            if pending[..n_known] == expected[..n_known] {
                Ok(Verdict::Pass(expected.len()))
            } else {
                Err(NotAScreen)
            }
        };
        match self.stage {
            Stage::Version => exactly(VERSION),
            Stage::Security => exactly(&[NO_SECURITY]),
            // A client that does not share would disconnect the others.
            Stage::Shared => exactly(&[1]),
            Stage::Messages => message(pending),
        }
    }
}

impl Held {
    /// Records the keys and buttons that a message presses and releases. Returns true if it may be passed on.
    fn note(&mut self, message: &Bytes) -> bool {
        match message[..] {
            // KeyEvent: the flag is set if the key is down.
            [4, is_down, ..] => self.note_key(is_down != 0, up(message, 1..2)),
            // The extended KeyEvent, whose flag has two bytes.
            [255, _, high, low, ..] => self.note_key((high | low) != 0, up(message, 2..4)),
            [5, buttons, x0, x1, y0, y1, ref more @ ..] => {
                let is_down = buttons & 0x7f != 0 || more.iter().any(|byte| *byte != 0);
                self.pointer = is_down.then_some([x0, x1, y0, y1]);
                true
            }
            _ => true,
        }
    }

    fn note_key(&mut self, is_down: bool, up: Bytes) -> bool {
        if !is_down {
            self.keys.remove(&up);
            return true;
        }
        let has_room = self.keys.len() < MOST_KEYS || self.keys.contains(&up);
        if has_room {
            self.keys.insert(up);
        }
        has_room
    }
}

/// Returns the message of a key with its flag cleared, which releases the key.
fn up(message: &Bytes, flag: std::ops::Range<usize>) -> Bytes {
    let mut message = BytesMut::from(&message[..]);
    message[flag].fill(0);
    message.freeze()
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

fn message(pending: &[u8]) -> Result<Verdict, NotAScreen> {
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
        4 => Some(Verdict::Input(8)),
        // PointerEvent, which has one more byte if the highest button bit is set
        5 => number(1, 1).map(|buttons| Verdict::Input(6 + (buttons >> 7))),
        // ClientCutText; a negative length marks the extended form
        6 => number(4, 4).map(|length| {
            let length = u32::try_from(length).unwrap_or(u32::MAX).cast_signed();
            Verdict::Input(8 + usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX - 8))
        }),
        // ClientFence
        248 => number(8, 1).map(|length| Verdict::Pass(9 + length)),
        // xvp, which could switch the desktop off
        250 => Some(Verdict::Skip(4)),
        // SetDesktopSize, which would move everything while the agent works
        251 => number(6, 1).map(|n_screens| Verdict::Skip(8 + 16 * n_screens)),
        // The extended KeyEvent
        255 => Some(Verdict::Input(12)),
        _ => return Err(NotAScreen),
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
            let mut filter = ScreenInput::default();
            let mut passed = Vec::new();
            let mut rest = &sent[..];
            for cut in cuts.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                passed.extend_from_slice(&filter.pass(piece, Hands::Off).unwrap());
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
            assert_eq!(
                ScreenInput::default().pass(hello, Hands::On),
                Err(NotAScreen)
            );
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let endless = [HELLO, &[2, 0, 255, 255]].concat();
        assert_eq!(
            ScreenInput::default().pass(&endless, Hands::On),
            Err(NotAScreen)
        );
    }

    #[test]
    fn hands_are_on_from_one_message_to_the_next_and_let_go_when_taken_off() {
        let mut filter = ScreenInput::default();
        filter.pass(HELLO, Hands::Off).unwrap();
        let extended = [255, 0, 0, 1, 0, 0, 0, 98, 0, 0, 0, 48];
        for message in [&KEY[..], &POINTER, &CLIPBOARD, &extended] {
            assert_eq!(filter.pass(message, Hands::On).unwrap(), message);
            assert_eq!(filter.pass(message, Hands::Off).unwrap(), "");
        }
        assert_eq!(filter.pass(&SCREEN_SIZE, Hands::On).unwrap(), "");
        // A message that began while they were on ends when they are off.
        assert_eq!(filter.pass(&KEY[..3], Hands::On).unwrap(), "");
        assert_eq!(filter.pass(&KEY[3..], Hands::Off).unwrap(), "");
        let key_up = [4, 0, 0, 0, 0, 0, 0, 97];
        let extended_up = [255, 0, 0, 0, 0, 0, 0, 98, 0, 0, 0, 48];
        let pointer_up = [5, 0, 0, 10, 0, 20];
        assert_eq!(
            filter.release(),
            [&key_up[..], &extended_up, &pointer_up].concat()
        );
        assert_eq!(filter.release(), "");
        for message in [&KEY[..], &key_up] {
            filter.pass(message, Hands::On).unwrap();
        }
        assert_eq!(filter.release(), "", "it was let go already");
    }
}
