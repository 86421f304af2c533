//! Output kept within a limit: the beginning and the end, without the middle.

use std::collections::VecDeque;

/// Collects bytes and keeps the first half and the last half of its limit.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half_bytes: usize,
    n_seen: u64,
}

/// The kept output as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) text: String,
    pub(super) omitted_bytes: u64,
    /// The file with all of the output.
    pub(super) file: Option<String>,
}

impl Capture {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            half_bytes: (limit_bytes / 2).max(1),
            n_seen: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.n_seen += bytes.len() as u64;
        let to_head = bytes.len().min(self.half_bytes - self.head.len());
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half_bytes)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half_bytes);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// Returns everything so far if the next `n_bytes` would be the first to push some of it out.
    pub(super) fn last_whole(&self, n_bytes: usize) -> Option<Vec<u8>> {
        let n_kept = self.head.len() + self.tail.len();
        let is_whole = self.n_seen == n_kept as u64;
        (is_whole && n_kept + n_bytes > 2 * self.half_bytes).then(|| {
            let mut all = self.head.clone();
            all.extend(&self.tail);
            all
        })
    }

    /// Returns the text, with a line in the place of a missing middle.
    ///
    /// Cuts are made between characters. Bytes that are not UTF-8 are shown as U+FFFD.
    pub(super) fn finish(self) -> Captured {
        let Self {
            mut head,
            tail,
            n_seen,
            ..
        } = self;
        let tail = Vec::from(tail);
        if n_seen == (head.len() + tail.len()) as u64 {
            head.extend(tail);
            return Captured {
                text: lossy(head),
                omitted_bytes: 0,
                file: None,
            };
        }
        head.truncate(whole_characters(&head));
        let begin = tail
            .iter()
            .take(3)
            .take_while(|byte| is_continuation(**byte))
            .count();
        let tail = &tail[begin..];
        let omitted_bytes = n_seen - (head.len() + tail.len()) as u64;
        let mut text = lossy(head);
        text.push_str(&format!("\n[{omitted_bytes} bytes are left out here]\n"));
        text.push_str(&String::from_utf8_lossy(tail));
        Captured {
            text,
            omitted_bytes,
            file: None,
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns the length without a character that is cut off at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let last_start = bytes
        .iter()
        .rposition(|byte| !is_continuation(*byte))
        .unwrap_or(0);
    match std::str::from_utf8(&bytes[last_start..]) {
        // `error_len` is `None` exactly when more bytes could have completed the character.
        Err(error) if error.error_len().is_none() => last_start,
        Ok(_) | Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let whole = Captured {
            text: "abcdefgh".to_owned(),
            omitted_bytes: 0,
            file: None,
        };
        assert_eq!(captured(8, &[b"abcdefgh"]), whole);
        assert_eq!(captured(8, &[b"abc", b"", b"defg", b"h"]), whole);
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        let cut = captured(8, &[b"abcdef", b"ghi", b"jklm"]);
        assert_eq!(cut.text, "abcd\n[5 bytes are left out here]\njklm");
        assert_eq!(cut.omitted_bytes, 5);
    }

    #[test]
    fn characters_are_not_cut_in_two() {
        let cut = captured(8, &["abcü".as_bytes(), b"......", "äxyz".as_bytes()]);
        assert_eq!(cut.text, "abc\n[10 bytes are left out here]\nxyz");
        assert_eq!(cut.omitted_bytes, 10);
        let cut = captured(8, &["abü......üyz".as_bytes()]);
        assert_eq!(cut.text, "abü\n[6 bytes are left out here]\nüyz");
    }

    #[test]
    fn what_is_not_utf8_is_replaced() {
        assert_eq!(captured(64, &[b"a\xffb\xc3"]).text, "a\u{fffd}b\u{fffd}");
    }
}
