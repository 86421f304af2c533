//! A ring buffer with the recent output of a terminal.
//!
//! Positions count bytes from the start of the terminal. Each viewer reads from its own position at its own pace, so
//! one copy serves all of them. A slow viewer does not block the others: it finds that its position is no longer kept.

use std::collections::BTreeSet;

use bytes::{BufMut, Bytes, BytesMut};

/// The size of the buffer.
const KEPT_BYTES: usize = 1024 * 1024;
/// The most bytes that are searched for a good starting position.
const SEARCHED_BYTES: u64 = 64 * 1024;
/// The amount of output that is replayed to a viewer that fell behind. It is small, so that the viewer catches up.
const CATCH_UP_BYTES: u64 = 128 * 1024;

const ESCAPE: u8 = 0x1b;
/// The modes that are restored after the output that set them was dropped: cursor keys, mouse, visibility of the
/// cursor, alternate screen and bracketed paste.
const REMEMBERED_MODES: [u16; 11] = [1, 25, 47, 1000, 1002, 1003, 1004, 1006, 1047, 1049, 2004];
/// The modes that are on in a new terminal.
const USUAL_MODES: [u16; 1] = [25];

/// A ring of bytes.
#[derive(Debug)]
pub(super) struct Scrollback {
    ring: Box<[u8]>,
    /// The number of bytes so far.
    end: u64,
    /// The modes that the dropped output has set.
    modes: Modes,
}

/// A viewer's next piece of output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OutputPiece {
    Bytes(Bytes),
    /// There is no new output.
    Nothing,
    /// The position is no longer kept.
    Lost,
}

/// Tracks the modes in a stream of output.
#[derive(Debug, Default, Clone)]
struct Modes {
    /// The modes that differ from those of a new terminal.
    changed: BTreeSet<u16>,
    /// An incomplete sequence `ESC [ ? …`.
    sequence: Vec<u8>,
}

impl Default for Scrollback {
    fn default() -> Self {
        Self {
            ring: vec![0; KEPT_BYTES].into_boxed_slice(),
            end: 0,
            modes: Modes::default(),
        }
    }
}

impl Scrollback {
    pub(super) fn append(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(KEPT_BYTES) {
            let n_forgotten = (self.end - self.begin() + length(piece)).saturating_sub(KEPT);
            let (one, two) = range(&self.ring, self.begin(), n_forgotten);
            self.modes.follow(one);
            self.modes.follow(two);
            let at = offset(self.end);
            let to_end = piece.len().min(KEPT_BYTES - at);
            self.ring[at..at + to_end].copy_from_slice(&piece[..to_end]);
            self.ring[..piece.len() - to_end].copy_from_slice(&piece[to_end..]);
            self.end += length(piece);
        }
    }

    /// Returns output from position `at`, up to a length, and advances `at`.
    pub(super) fn read(&self, at: &mut u64, most_bytes: usize) -> OutputPiece {
        if *at < self.begin() {
            return OutputPiece::Lost;
        }
        let n_bytes = (self.end - *at).min(u64::try_from(most_bytes).unwrap_or(u64::MAX));
        if n_bytes == 0 {
            return OutputPiece::Nothing;
        }
        let (one, two) = range(&self.ring, *at, n_bytes);
        let mut piece = BytesMut::with_capacity(one.len() + two.len());
        piece.put_slice(one);
        piece.put_slice(two);
        *at += n_bytes;
        OutputPiece::Bytes(piece.freeze())
    }

    /// Returns the position where a new viewer begins, and the bytes to send it first.
    pub(super) fn replay(&self) -> (u64, Bytes) {
        self.replay_from(self.begin())
    }

    /// Returns the same for a viewer that fell behind.
    pub(super) fn catch_up(&self) -> (u64, Bytes) {
        self.replay_from(self.begin().max(self.end.saturating_sub(CATCH_UP_BYTES)))
    }

    fn replay_from(&self, from: u64) -> (u64, Bytes) {
        if from == 0 {
            return (0, Bytes::new());
        }
        let mut modes = self.modes.clone();
        let start = self.good_start(from);
        let (one, two) = range(&self.ring, self.begin(), start - self.begin());
        modes.follow(one);
        modes.follow(two);
        (start, modes.restored())
    }

    /// Finds a position that does not split a character and rarely splits an escape sequence: after a line end, before
    /// an escape sequence, or at least before a character.
    fn good_start(&self, from: u64) -> u64 {
        let (one, two) = range(&self.ring, from, (self.end - from).min(SEARCHED_BYTES));
        let find = |wanted: &dyn Fn(u8) -> bool| {
            let mut bytes = one.iter().chain(two);
            let place = bytes.position(|byte| wanted(*byte));
            place.and_then(|place| u64::try_from(place).ok())
        };
        let after_line = find(&|byte| byte == b'\n').map(|place| place + 1);
        let place = after_line
            .or_else(|| find(&|byte| byte == ESCAPE))
            .or_else(|| find(&|byte| byte & 0b1100_0000 != 0b1000_0000));
        from + place.unwrap_or(0)
    }

    fn begin(&self) -> u64 {
        self.end.saturating_sub(KEPT)
    }
}

/// Returns kept bytes by position, in two parts if they wrap around the end of the ring.
fn range(ring: &[u8], from: u64, n_bytes: u64) -> (&[u8], &[u8]) {
    let at = offset(from);
    // No range is longer than the ring.
    let n_bytes = usize::try_from(n_bytes).unwrap_or(KEPT_BYTES);
    let to_end = n_bytes.min(KEPT_BYTES - at);
    (&ring[at..at + to_end], &ring[..n_bytes - to_end])
}

const KEPT: u64 = KEPT_BYTES as u64;

/// Returns the index of a position in the ring.
fn offset(number: u64) -> usize {
    // The remainder is smaller than the ring.
    usize::try_from(number % KEPT).unwrap_or(0)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl Modes {
    /// The longest sequence that is parsed.
    const LONGEST_SEQUENCE: usize = 64;

    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.sequence.is_empty() {
                let Some(start) = bytes.iter().position(|byte| *byte == ESCAPE) else {
                    return;
                };
                bytes = &bytes[start..];
            }
            let (byte, rest) = (bytes[0], &bytes[1..]);
            bytes = rest;
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let is_expected = match self.sequence.len() {
            0 => byte == ESCAPE,
            1 => byte == b'[',
            2 => byte == b'?',
            3..Self::LONGEST_SEQUENCE => {
                byte.is_ascii_digit() || matches!(byte, b';' | b'h' | b'l')
            }
            _ => false,
        };
        if !is_expected {
            self.sequence.clear();
            if byte == ESCAPE {
                self.sequence.push(byte);
            }
            return;
        }
        self.sequence.push(byte);
        if matches!(byte, b'h' | b'l') {
            let sequence = std::mem::take(&mut self.sequence);
            self.set(&sequence[3..sequence.len() - 1], byte == b'h');
        }
    }

    fn set(&mut self, numbers: &[u8], is_on: bool) {
        let numbers = numbers.split(|byte| *byte == b';');
        let numbers = numbers.filter_map(|number| std::str::from_utf8(number).ok()?.parse().ok());
        for mode in numbers.filter(|mode| REMEMBERED_MODES.contains(mode)) {
            if is_on == USUAL_MODES.contains(&mode) {
                self.changed.remove(&mode);
            } else {
                self.changed.insert(mode);
            }
        }
    }

    /// Returns the sequences that put a new terminal into these modes.
    fn restored(&self) -> Bytes {
        let sequences = self.changed.iter().map(|mode| {
            let end = if USUAL_MODES.contains(mode) { 'l' } else { 'h' };
            format!("\x1b[?{mode}{end}")
        });
        sequences.collect::<String>().into()
    }
}

#[cfg(test)]
#[path = "scrollback_tests.rs"]
mod tests;
