//! Makes the output of a sandbox safe for a person's own terminal.
//!
//! Programs in a sandbox write escape sequences, and some of those do more than paint: they set the clipboard or the
//! window's title, print, or make the terminal answer as if the person had typed. The filter passes on the sequences
//! that programs in a terminal need for painting, and leaves out all others.

use std::collections::BTreeSet;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const ENQUIRY: u8 = 0x05;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;
const DELETE: u8 = 0x7f;
/// The longest control sequence that is passed on.
const LONGEST_SEQUENCE: usize = 128;
/// The modes that a program may switch on and off: cursor keys, columns, colours, origin, wrapping, blinking, the
/// cursor, mouse, focus, the alternate screen, pasting, and painting all at once.
const MODES: [u16; 18] = [
    1, 5, 6, 7, 12, 25, 45, 47, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026,
];
/// The modes that are on in a terminal that is not in use.
const USUALLY_ON: [u16; 2] = [7, 25];

/// Filters one stream of output.
#[derive(Debug, Default)]
pub(super) struct OutputFilter {
    state: FilterState,
    /// The sequence that has begun, or the bytes of a character so far.
    pending: Vec<u8>,
    /// The modes that differ from a terminal that is not in use.
    changed_modes: BTreeSet<u16>,
    /// True if the terminal may answer questions of programs. Everybody who is attached sees these questions, also
    /// those of the past, so only the terminal in which somebody has just typed answers.
    pub(super) may_answer: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FilterState {
    #[default]
    Text,
    /// Within a character of several bytes, of which so many are missing.
    Character(usize),
    Escape,
    /// After `ESC` and bytes such as `(`.
    EscapeIntermediate,
    /// After `ESC [`.
    Control,
    /// A text for the terminal itself, such as a title. It is left out.
    TextArgument,
    /// The same, after an `ESC` that may be the beginning of its end.
    ArgumentEscape,
}

impl OutputFilter {
    /// Returns what is safe of these bytes. A sequence that is not complete yet is kept for the next call.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.step(*byte, &mut passed);
        }
        passed
    }

    /// Returns the sequences that leave the terminal as it was before.
    pub(super) fn restore(&self) -> Vec<u8> {
        let mut restored = Vec::new();
        for mode in &self.changed_modes {
            let end = if USUALLY_ON.contains(mode) { 'h' } else { 'l' };
            restored.extend(format!("\x1b[?{mode}{end}").into_bytes());
        }
        // Usual colours, the whole screen for scrolling, the usual characters and keys. The cursor stays where it is.
        restored.extend(b"\x1b7\x1b[r\x1b8\x1b[0m\x1b(B\x0f\x1b>\x1b[4l");
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
                    // Only sets of characters.
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
            // It makes a terminal answer with a text that programs can set.
            ENQUIRY | DELETE => {}
            0x00..=0x7e => passed.push(byte),
            0xc2..=0xdf => self.begin_character(byte, 1),
            0xe0..=0xef => self.begin_character(byte, 2),
            0xf0..=0xf4 => self.begin_character(byte, 3),
            // Not a character. Some terminals take such bytes for the beginning of a sequence.
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
            // Control characters of two bytes begin sequences too.
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
            // Commands for the operating system, and others that take a text.
            b']' | b'P' | b'X' | b'^' | b'_' | b'k' => self.state = FilterState::TextArgument,
            0x20..=0x2f => self.state = FilterState::EscapeIntermediate,
            // Cursor and tabs, keys of the numeric block, a fresh start, and sets of characters.
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
            // Terminals carry these out within a sequence. No program needs that.
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
            // An escape that is not the end breaks the text off, and begins another sequence.
            (FilterState::ArgumentEscape, b'[') => {
                self.pending = vec![ESCAPE, b'['];
                FilterState::Control
            }
            (_, _) => FilterState::TextArgument,
        };
    }

    /// Returns true if the pending control sequence only paints, or asks where the cursor is.
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
            // With more numbers, it makes a terminal wait for the mouse.
            b'T' => is_plain && !rest.contains(&b';'),
            // The cursor's form.
            b'q' => rest.last() == Some(&b' '),
            // A question for the cursor's place, and for the kind of terminal. Editors need both.
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
        // A screen full of E, for adjusting.
        || matches!(sequence, [ESCAPE, b'#', b'8'])
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
