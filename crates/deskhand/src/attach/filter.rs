//! Makes the output of a sandbox safe for a person's own terminal.
//!
//! Programs in a sandbox write escape sequences, and some of those do more than draw: they set the clipboard or the
//! window's title, print, or make the terminal reply as if the person had typed. The filter passes the sequences that
//! programs need for drawing, and removes all others.

use std::collections::BTreeSet;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const ENQUIRY: u8 = 0x05;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;
const DELETE: u8 = 0x7f;
/// The maximum length of a control sequence that is passed.
const LONGEST_SEQUENCE: usize = 128;
/// The modes that a program may set and reset: cursor keys, reverse video, origin, wrapping, the cursor and its blinking,
/// mouse, focus, the alternate screen, bracketed paste, and synchronized output.
const MODES: [u16; 18] = [
    1, 5, 6, 7, 12, 25, 45, 47, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026,
];
/// The modes that are set by default.
const USUALLY_ON: [u16; 2] = [7, 25];

/// Filters one stream of output.
#[derive(Debug, Default)]
pub(super) struct OutputFilter {
    state: FilterState,
    /// The sequence that has begun, or the bytes of a character so far.
    pending: Vec<u8>,
    /// The modes that differ from the default.
    changed_modes: BTreeSet<u16>,
    /// True if the terminal may reply to queries of programs. Every attached terminal receives these queries, including
    /// replayed ones, so only one in which somebody has just typed may reply.
    pub(super) may_answer: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FilterState {
    #[default]
    Text,
    /// Within a multi-byte character, with the number of missing bytes.
    Character(usize),
    Escape,
    /// After `ESC` and bytes such as `(`.
    EscapeIntermediate,
    /// After `ESC [`.
    Control,
    /// A string for the terminal itself, such as a title. It is removed.
    TextArgument,
    /// The same, after an `ESC` that may be the first byte of its terminator.
    ArgumentEscape,
}

impl OutputFilter {
    /// Returns the safe part of these bytes. An incomplete sequence is kept for the next call.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.step(*byte, &mut passed);
        }
        passed
    }

    /// Returns the sequences that reset the terminal to its defaults.
    pub(super) fn restore(&self) -> Vec<u8> {
        let mut restored = Vec::new();
        for mode in &self.changed_modes {
            let end = if USUALLY_ON.contains(mode) { 'h' } else { 'l' };
            restored.extend(format!("\x1b[?{mode}{end}").into_bytes());
        }
        // The default colours, scrolling region, character set, keypad, insert and newline modes, and cursor shape. The
        // cursor stays where it is.
        restored.extend(b"\x1b7\x1b[r\x1b8\x1b[0m\x1b(B\x0f\x1b>\x1b[4l\x1b[20l\x1b[0 q");
        restored
    }

    fn step(&mut self, byte: u8, passed: &mut Vec<u8>) {
        match self.state {
            FilterState::Text => self.text(byte, passed),
            FilterState::Character(n_missing) => self.character(byte, n_missing, passed),
            FilterState::Escape => self.escape(byte, passed),
            FilterState::EscapeIntermediate => {
                self.pending.push(byte);
                match byte {
                    0x20..=0x2f if self.pending.len() < LONGEST_SEQUENCE => {}
                    // Only the selection of character sets is passed.
                    0x30..=0x7e if is_character_set(&self.pending) => self.accept(passed),
                    _ => self.drop_sequence(),
                }
            }
            FilterState::Control => self.control(byte, passed),
            FilterState::TextArgument | FilterState::ArgumentEscape => self.argument(byte),
        }
    }

    fn text(&mut self, byte: u8, passed: &mut Vec<u8>) {
        match byte {
            ESCAPE => {
                self.pending.push(byte);
                self.state = FilterState::Escape;
            }
            // ENQ makes a terminal reply with a string that programs may have set.
            ENQUIRY | DELETE => {}
            0x00..=0x7e => passed.push(byte),
            0xc2..=0xdf => self.begin_character(byte, 1),
            0xe0..=0xef => self.begin_character(byte, 2),
            0xf0..=0xf4 => self.begin_character(byte, 3),
            // Invalid in UTF-8. Some terminals read such bytes as C1 controls, which begin sequences.
            0x80..=0xff => {}
        }
    }

    fn begin_character(&mut self, byte: u8, n_missing: usize) {
        self.pending.push(byte);
        self.state = FilterState::Character(n_missing);
    }

    fn character(&mut self, byte: u8, n_missing: usize, passed: &mut Vec<u8>) {
        if !(0x80..=0xbf).contains(&byte) {
            self.drop_sequence();
            return self.text(byte, passed);
        }
        self.pending.push(byte);
        self.state = FilterState::Character(n_missing - 1);
        if n_missing == 1 {
            // C1 controls, encoded in two bytes, begin sequences too.
            let text = std::str::from_utf8(&self.pending);
            if text.is_ok_and(|text| !text.chars().any(char::is_control)) {
                self.accept(passed);
            } else {
                self.drop_sequence();
            }
        }
    }

    fn escape(&mut self, byte: u8, passed: &mut Vec<u8>) {
        self.pending.push(byte);
        match byte {
            b'[' => self.state = FilterState::Control,
            // OSC, DCS and others that take a string.
            b']' | b'P' | b'X' | b'^' | b'_' | b'k' => self.state = FilterState::TextArgument,
            0x20..=0x2f => self.state = FilterState::EscapeIntermediate,
            // Cursor and tab stops, keypad modes, a full reset, and character sets.
            b'7' | b'8' | b'D' | b'E' | b'H' | b'M' | b'=' | b'>' | b'c' | b'N' | b'O' | b'n'
            | b'o' => self.accept(passed),
            ESCAPE => self.pending = vec![ESCAPE],
            _ => self.drop_sequence(),
        }
    }

    fn control(&mut self, byte: u8, passed: &mut Vec<u8>) {
        match byte {
            0x20..=0x3f if self.pending.len() < LONGEST_SEQUENCE => self.pending.push(byte),
            0x40..=0x7e => {
                self.pending.push(byte);
                if self.is_safe_control() {
                    self.accept(passed);
                } else {
                    self.drop_sequence();
                }
            }
            ESCAPE => {
                self.pending = vec![ESCAPE];
                self.state = FilterState::Escape;
            }
            // Terminals execute control characters within a sequence. No program needs that.
            _ => self.drop_sequence(),
        }
    }

    fn argument(&mut self, byte: u8) {
        self.pending.clear();
        self.state = match (self.state, byte) {
            (_, BELL | CANCEL | SUBSTITUTE) | (FilterState::ArgumentEscape, b'\\') => {
                FilterState::Text
            }
            (_, ESCAPE) => FilterState::ArgumentEscape,
            // An escape that is not part of the terminator ends the string and begins another sequence.
            (FilterState::ArgumentEscape, b'[') => {
                self.pending = vec![ESCAPE, b'['];
                FilterState::Control
            }
            (_, _) => FilterState::TextArgument,
        };
    }

    /// Returns true if the pending control sequence only draws, or queries the position of the cursor or the terminal.
    fn is_safe_control(&mut self) -> bool {
        let [ESCAPE, b'[', rest @ .., end] = &*self.pending else {
            return false;
        };
        let is_plain = rest
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        match end {
            b'@'
            | b'A'..=b'M'
            | b'P'
            | b'S'
            | b'X'
            | b'Z'
            | b'`'
            | b'a'
            | b'b'
            | b'd'
            | b'e'
            | b'f'
            | b'g'
            | b'm'
            | b'r'
            | b's'
            | b'u' => is_plain,
            // With more parameters, it starts highlight tracking of the mouse.
            b'T' => is_plain && !rest.contains(&b';'),
            // The cursor's shape.
            b'q' => rest.last() == Some(&b' '),
            // Queries of the cursor's position and the kind of terminal. Editors need both.
            b'n' => self.may_answer && matches!(rest, b"5" | b"6"),
            b'c' => self.may_answer && matches!(rest, b"" | b"0"),
            b'h' | b'l' if is_plain => matches!(rest, b"4" | b"20"),
            b'h' | b'l' => {
                let numbers = rest.strip_prefix(b"?").and_then(modes);
                let is_on = *end == b'h';
                numbers.is_some_and(|numbers| self.note_modes(&numbers, is_on))
            }
            _ => false,
        }
    }

    /// Records modes, if all of them are allowed.
    fn note_modes(&mut self, numbers: &[u16], is_on: bool) -> bool {
        let are_allowed = numbers.iter().all(|mode| MODES.contains(mode));
        for mode in numbers.iter().filter(|_| are_allowed) {
            if is_on == USUALLY_ON.contains(mode) {
                self.changed_modes.remove(mode);
            } else {
                self.changed_modes.insert(*mode);
            }
        }
        are_allowed
    }

    fn accept(&mut self, passed: &mut Vec<u8>) {
        passed.append(&mut self.pending);
        self.state = FilterState::Text;
    }

    fn drop_sequence(&mut self) {
        self.pending.clear();
        self.state = FilterState::Text;
    }
}

fn modes(numbers: &[u8]) -> Option<Vec<u16>> {
    let numbers = std::str::from_utf8(numbers).ok()?.split(';');
    numbers.map(|number| number.parse().ok()).collect()
}

fn is_character_set(sequence: &[u8]) -> bool {
    matches!(sequence, [ESCAPE, b'(' | b')' | b'*' | b'+', b'0' | b'A' | b'B'])
        // The alignment test, which fills the screen with the letter E.
        || matches!(sequence, [ESCAPE, b'#', b'8'])
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
