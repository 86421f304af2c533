//! Reads the usage from an answer that passes through.

use deskhand_core::model::Usage;
use serde_json::Value;

use super::paths::Dialect;

/// The maximum length of an unstreamed answer, or of a line of a streamed one.
const LONGEST_BYTES: usize = 32 * 1024 * 1024;

/// Counts the usage of one answer.
#[derive(Debug)]
pub(super) struct Meter {
    dialect: Dialect,
    /// The answer arrives as server-sent events.
    is_stream: bool,
    /// Bytes that are not parsed yet: the start of a line, or of the whole answer.
    heard: Vec<u8>,
    usage: Usage,
}

/// An answer that is too long to be counted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is too long to be counted")]
pub(super) struct TooLong;

impl Meter {
    pub(super) fn new(dialect: Dialect, is_stream: bool) -> Self {
        Self {
            dialect,
            is_stream,
            heard: Vec::new(),
            usage: Usage::default(),
        }
    }

    /// Reads the next piece. Returns the usage so far if it has changed.
    pub(super) fn hear(&mut self, piece: &[u8]) -> Result<Option<Usage>, TooLong> {
        let before = self.usage;
        if self.is_stream {
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                self.heard.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.heard);
                    self.line(&line);
                }
            }
        } else {
            self.heard.extend_from_slice(piece);
        }
        if self.heard.len() > LONGEST_BYTES {
            return Err(TooLong);
        }
        Ok((self.usage != before).then_some(self.usage))
    }

    /// Ends the answer. Returns the usage if it has changed.
    pub(super) fn end(&mut self) -> Option<Usage> {
        let before = self.usage;
        let heard = std::mem::take(&mut self.heard);
        if self.is_stream {
            self.line(&heard);
        } else if let Ok(answer) = serde_json::from_slice(&heard) {
            self.count_all(&answer);
        }
        (self.usage != before).then_some(self.usage)
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        // Nearly all events have no usage, so they are not parsed.
        let is_about_it = data.windows(5).any(|word| word == b"usage");
        if is_about_it && let Ok(event) = serde_json::from_slice::<Value>(data) {
            self.count(&event);
        }
    }

    /// Counts an answer that was not streamed as events. Google streams an array to clients that do not ask for
    /// events.
    fn count_all(&mut self, answer: &Value) {
        match answer.as_array() {
            Some(answers) => answers.iter().for_each(|answer| self.count(answer)),
            None => self.count(answer),
        }
    }

    fn count(&mut self, payload: &Value) {
        let usage = match self.dialect {
            Dialect::Messages if payload["message"].is_object() => &payload["message"]["usage"],
            Dialect::Responses if payload["response"].is_object() => &payload["response"]["usage"],
            Dialect::Messages | Dialect::Responses | Dialect::Chat => &payload["usage"],
            Dialect::Gemini => &payload["usageMetadata"],
        };
        if usage.is_object() {
            self.usage = read(self.dialect, usage, self.usage);
        }
    }
}

/// Reads the usage that a vendor reports. The counts are totals and replace those from `before`. Fields that
/// Anthropic omits keep their value.
fn read(dialect: Dialect, usage: &Value, before: Usage) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let cached_in = |all: &Value, details: &Value| {
        let (read, written) = (
            count(&details["cached_tokens"]),
            count(&details["cache_write_tokens"]),
        );
        let input = count(all).saturating_sub(read + written);
        (input, written, read)
    };
    match dialect {
        Dialect::Messages => {
            let later = |field: &str, before: u64| usage[field].as_u64().unwrap_or(before);
            Usage {
                input: later("input_tokens", before.input),
                cache_write: later("cache_creation_input_tokens", before.cache_write),
                cache_read: later("cache_read_input_tokens", before.cache_read),
                output: later("output_tokens", before.output),
            }
        }
        Dialect::Responses => {
            let details = &usage["input_tokens_details"];
            let (input, cache_write, cache_read) = cached_in(&usage["input_tokens"], details);
            Usage {
                input,
                cache_write,
                cache_read,
                output: count(&usage["output_tokens"]),
            }
        }
        Dialect::Chat => {
            let details = &usage["prompt_tokens_details"];
            let (input, cache_write, cache_read) = cached_in(&usage["prompt_tokens"], details);
            Usage {
                input,
                cache_write,
                cache_read,
                output: count(&usage["completion_tokens"]),
            }
        }
        Dialect::Gemini => {
            let cached = count(&usage["cachedContentTokenCount"]);
            let input =
                count(&usage["promptTokenCount"]) + count(&usage["toolUsePromptTokenCount"]);
            Usage {
                input: input.saturating_sub(cached),
                cache_write: 0,
                cache_read: cached,
                output: count(&usage["candidatesTokenCount"]) + count(&usage["thoughtsTokenCount"]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":300,\"cache_read_input_tokens\":4000,\"output_tokens\":1}}}\r\n\r\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"usage\"}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":88}}\n\n";

    fn heard(meter: &mut Meter, text: &str, size: usize) -> Usage {
        let mut last = None;
        for piece in text.as_bytes().chunks(size) {
            last = meter.hear(piece).unwrap().or(last);
        }
        meter.end().or(last).unwrap()
    }

    fn usage(input: u64, cache_write: u64, cache_read: u64, output: u64) -> Usage {
        Usage {
            input,
            cache_write,
            cache_read,
            output,
        }
    }

    #[test]
    fn streams_are_counted_in_whatever_pieces_they_come() {
        for size in [1, 7, 64, 10_000] {
            let mut meter = Meter::new(Dialect::Messages, true);
            let counted = heard(&mut meter, MESSAGES, size);
            assert_eq!(counted, usage(12, 300, 4000, 88), "{size}");
        }
        let last = "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":60,\"cache_write_tokens\":10},\"output_tokens\":7}}}";
        let mut meter = Meter::new(Dialect::Responses, true);
        assert_eq!(heard(&mut meter, last, 9), usage(30, 10, 60, 7));
        let chat = "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n";
        let mut meter = Meter::new(Dialect::Chat, true);
        assert_eq!(heard(&mut meter, chat, 5), usage(9, 0, 0, 4));
    }

    #[test]
    fn whole_answers_are_counted_at_their_end() {
        let one = r#"{"usage":{"input_tokens":5,"output_tokens":6}}"#;
        let mut meter = Meter::new(Dialect::Messages, false);
        assert_eq!(heard(&mut meter, one, 10), usage(5, 0, 0, 6));
        let array = r#"[{"usageMetadata":{"promptTokenCount":5}},
            {"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4}}]"#;
        let mut meter = Meter::new(Dialect::Gemini, false);
        assert_eq!(heard(&mut meter, array, 10), usage(3, 0, 2, 7));
    }

    #[test]
    fn an_answer_without_end_is_not_kept() {
        let mut meter = Meter::new(Dialect::Chat, true);
        let piece = vec![b'x'; LONGEST_BYTES];
        assert_eq!(meter.hear(&piece), Ok(None));
        assert_eq!(meter.hear(b"x"), Err(TooLong));
    }
}
