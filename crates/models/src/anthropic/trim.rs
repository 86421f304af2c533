//! Keeps a request within the vendor's limits on pictures and bytes.
//!
//! The oldest pictures are dropped many at a time, so that requests keep the same beginning for long. Dropping them
//! also drops all thinking that is valid only for the conversation that it followed. The vendor's summaries stay: without
//! them, everything that they stand for would come back.

use serde_json::{Value, json};

use super::forms;
use crate::retell;

/// The limits of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) n_pictures: usize,
    pub(super) body_bytes: usize,
    /// Thinking is valid only for the conversation that it followed.
    pub(super) is_bound: bool,
}

/// Replaces the oldest pictures with text if there are too many or they are too big.
pub(super) fn trim(messages: &mut [Value], limits: Limits) {
    // Measure all pictures in the order of the conversation.
    let mut pictures = Vec::new();
    for message in messages.iter_mut() {
        each_block(&mut message["content"], &mut |block| {
            if is_picture(block) {
                let data = block["source"]["data"].as_str();
                pictures.push(data.map_or(0, str::len));
            }
        });
    }
    let n_dropped = n_dropped(&pictures, limits);
    if n_dropped == 0 {
        return;
    }
    // Replace the oldest, and drop bound thinking, because the conversation before it has changed.
    let mut n_seen = 0;
    for message in messages.iter_mut() {
        let content = &mut message["content"];
        each_block(content, &mut |block| {
            if is_picture(block) {
                if n_seen < n_dropped {
                    *block = json!({"type": "text", "text": retell::OLD_PICTURE});
                }
                n_seen += 1;
            }
        });
        if let Some(blocks) = content.as_array_mut().filter(|_| limits.is_bound) {
            blocks.retain(|block| !forms::is_thinking(block));
            if blocks.is_empty() {
                blocks.push(json!({"type": "text", "text": retell::NOTHING}));
            }
        }
    }
}

/// Returns the number of oldest pictures to drop.
///
/// Whenever a limit is exceeded, only half of it stays in use and later pictures fill it again. As a result, many
/// consecutive requests drop the same pictures.
fn n_dropped(pictures: &[usize], limits: Limits) -> usize {
    // Text is small next to pictures. An eighth is reserved for it.
    let most_bytes = limits.body_bytes - limits.body_bytes / 8;
    let (mut first, mut bytes) = (0, 0);
    for (last, size) in pictures.iter().enumerate() {
        bytes += size;
        let n_kept = |first: usize| last + 1 - first;
        if n_kept(first) <= limits.n_pictures && bytes <= most_bytes {
            continue;
        }
        while first < last && (n_kept(first) > limits.n_pictures / 2 || bytes > most_bytes / 2) {
            bytes -= pictures[first];
            first += 1;
        }
    }
    first
}

/// Returns true for pictures and attached files.
fn is_picture(block: &Value) -> bool {
    block["type"] == "image" || block["type"] == "document"
}

fn each_block(content: &mut Value, see: &mut impl FnMut(&mut Value)) {
    for block in content.as_array_mut().into_iter().flatten() {
        see(block);
        if block["type"] == "tool_result" {
            for part in block["content"].as_array_mut().into_iter().flatten() {
                see(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        n_pictures: 100,
        body_bytes: 8_000,
        is_bound: true,
    };

    #[test]
    fn pictures_go_many_at_a_time() {
        let dropped = |n: usize, bytes: usize| n_dropped(&vec![bytes; n], LIMITS);
        assert_eq!([dropped(0, 1), dropped(100, 1)], [0, 0]);
        assert_eq!(
            [dropped(101, 1), dropped(151, 1), dropped(152, 1)],
            [51, 51, 102]
        );
        assert_eq!(
            [dropped(70, 100), dropped(106, 100), dropped(107, 100)],
            [0, 36, 72]
        );
        // The newest stays, however big it is.
        assert_eq!([dropped(1, 100_000), dropped(3, 100_000)], [0, 2]);
    }

    #[test]
    fn what_is_left_is_no_longer_bound_to_what_was() {
        let picture =
            json!({"type": "image", "source": {"type": "base64", "data": "x".repeat(4_000)}});
        let mut messages = vec![
            json!({"role": "user", "content": [picture]}),
            json!({"role": "assistant", "content": [
                {"type": "compaction", "content": "All so far."},
                {"type": "thinking", "thinking": "…", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [picture]},
            ]}),
        ];
        let before = messages.clone();
        let large = Limits {
            body_bytes: 16_000,
            ..LIMITS
        };
        trim(&mut messages, large);
        assert_eq!(messages, before);
        trim(&mut messages, LIMITS);
        assert_eq!(messages[0]["content"][0]["text"], retell::OLD_PICTURE);
        let kinds = messages[1]["content"].as_array().unwrap().iter();
        let kinds: Vec<_> = kinds.map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["compaction", "tool_use"]);
        assert_eq!(messages[2]["content"][0]["content"][0]["type"], "image");
    }
}
