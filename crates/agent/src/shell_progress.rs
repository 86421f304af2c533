//! The output of a running command on its way to the log.

use bytes::Bytes;
use deskhand_core::{
    event::{EventBody, ToolResult},
    id::TurnId,
};
use tokio::time::Instant;

use crate::listen::FLUSH_EVERY;

/// The amount of a command's output that is shown while it runs. The result has the rest.
const MOST_PROGRESS_BYTES: usize = 64 * 1024;

/// A command's output on its way to the log.
#[derive(Debug)]
pub(crate) struct ShellProgress {
    turn: TurnId,
    call: String,
    /// Output that is not logged yet. It may end in the middle of a character.
    pending: Vec<u8>,
    n_shown_bytes: usize,
    pub(crate) flush_at: Option<Instant>,
}

impl ShellProgress {
    pub(crate) fn new(turn: TurnId, call: &str) -> Self {
        Self {
            turn,
            call: call.to_owned(),
            pending: Vec::new(),
            n_shown_bytes: 0,
            flush_at: None,
        }
    }

    pub(crate) fn push(&mut self, piece: &Bytes) {
        let room = MOST_PROGRESS_BYTES.saturating_sub(self.n_shown_bytes);
        let piece = &piece[..piece.len().min(room)];
        if piece.is_empty() {
            return;
        }
        self.n_shown_bytes += piece.len();
        self.pending.extend_from_slice(piece);
        self.flush_at
            .get_or_insert_with(|| Instant::now() + FLUSH_EVERY);
    }

    /// Returns the event for new output, up to the last whole character.
    pub(crate) fn take(&mut self) -> Option<EventBody> {
        self.flush_at = None;
        let text = take_whole_characters(&mut self.pending);
        (!text.is_empty()).then(|| {
            EventBody::ToolResult(ToolResult {
                turn: Some(self.turn),
                call: self.call.clone(),
                text,
                is_error: false,
                duration_ms: 0,
                partial: true,
                parts: Vec::new(),
                state: None,
                not_done: None,
            })
        })
    }
}

/// Takes everything except an incomplete character at the end, and replaces bytes that are not UTF-8.
fn take_whole_characters(bytes: &mut Vec<u8>) -> String {
    let unfinished = bytes
        .utf8_chunks()
        .last()
        .map(|last| last.invalid())
        .filter(|invalid| is_beginning(invalid))
        .map_or(0, <[u8]>::len);
    let rest = bytes.split_off(bytes.len() - unfinished);
    let whole = std::mem::replace(bytes, rest);
    String::from_utf8_lossy(&whole).into_owned()
}

/// Returns true if more bytes could complete these to a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_held_back_until_it_is_whole() {
        let (mut bytes, mut text) = (Vec::new(), String::new());
        for byte in "Grüße, 谢谢 🌿".bytes() {
            bytes.push(byte);
            text.push_str(&take_whole_characters(&mut bytes));
        }
        assert_eq!(text, "Grüße, 谢谢 🌿");
        assert!(bytes.is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hold_anything_up() {
        let mut bytes = b"a\xff\xfeb\xe8".to_vec();
        assert_eq!(take_whole_characters(&mut bytes), "a\u{fffd}\u{fffd}b");
        bytes.push(b'c');
        assert_eq!(take_whole_characters(&mut bytes), "\u{fffd}c");
    }
}
