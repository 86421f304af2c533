//! Reads the usage from an answer that passes through.

use deskhand_core::model::Usage;
use serde_json::Value;

use super::paths::Dialect;
use crate::anthropic::AnthropicUsage;

/// The approximate number of bytes of text per token.
pub(super) const BYTES_PER_TOKEN: u64 = 4;
/// The maximum length of an unstreamed answer, or of a line of a streamed one.
const LONGEST_BYTES: usize = 32 * 1024 * 1024;

/// Counts the usage of one answer.
///
/// Most vendors report it at the end only. Until then it is estimated, so that an answer that is cut off costs about
/// what the vendor charges for it.
#[derive(Debug)]
pub(super) struct Meter {
    dialect: Dialect,
    /// The answer arrives as server-sent events.
    is_stream: bool,
    /// Bytes that are not parsed yet: the start of a line, or of the whole answer.
    heard: Vec<u8>,
    /// The estimated tokens of the prompt.
    n_prompt_tokens: u64,
    /// The estimated tokens of the answer so far.
    n_answer_tokens: u64,
    /// The usage that the vendor has reported.
    reported: Option<Usage>,
    anthropic: AnthropicUsage,
    /// The usage that was last passed on.
    told: Usage,
}

/// An answer that is too long to be counted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is too long to be counted")]
pub(super) struct TooLong;

impl Meter {
    pub(super) fn new(dialect: Dialect, is_stream: bool, n_prompt_tokens: u64) -> Self {
        Self {
            dialect,
            is_stream,
            heard: Vec::new(),
            n_prompt_tokens,
            n_answer_tokens: 0,
            reported: None,
            anthropic: AnthropicUsage::default(),
            told: Usage::default(),
        }
    }

    /// Reads the next piece. Returns the usage so far if it has changed.
    pub(super) fn hear(&mut self, piece: &[u8]) -> Result<Option<Usage>, TooLong> {
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
            self.n_answer_tokens = tokens(self.heard.len());
        }
        if self.heard.len() > LONGEST_BYTES {
            return Err(TooLong);
        }
        let reported = self.reported.unwrap_or_default();
        let input = if reported.prompt() == 0 {
            self.n_prompt_tokens
        } else {
            reported.input
        };
        Ok(self.tell(Usage {
            input,
            output: reported.output.max(self.n_answer_tokens),
            ..reported
        }))
    }

    /// Ends the answer. Returns the usage if it has changed: the vendor's own count if there is one.
    pub(super) fn end(&mut self) -> Option<Usage> {
        let heard = std::mem::take(&mut self.heard);
        if self.is_stream {
            self.line(&heard);
        } else if let Ok(answer) = serde_json::from_slice(&heard) {
            self.count_all(&answer);
        }
        self.reported.and_then(|reported| self.tell(reported))
    }

    /// Returns the usage if it is news.
    fn tell(&mut self, usage: Usage) -> Option<Usage> {
        let before = std::mem::replace(&mut self.told, usage);
        (before != usage).then_some(usage)
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        let has = |word: &[u8]| data.windows(word.len()).any(|part| part == word);
        // Vendors stream a token or a few in each of these.
        if has(b"delta") || has(b"candidates") {
            self.n_answer_tokens += 1;
        }
        // Nearly all events have no usage, so they are not parsed.
        if has(b"usage")
            && let Ok(event) = serde_json::from_slice::<Value>(data)
        {
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
        if !usage.is_object() {
            return;
        }
        self.reported = Some(if self.dialect == Dialect::Messages {
            self.anthropic.count(usage);
            self.anthropic.total()
        } else {
            read(self.dialect, usage)
        });
    }
}

/// Estimates the tokens of a text.
fn tokens(n_bytes: usize) -> u64 {
    u64::try_from(n_bytes).unwrap_or(u64::MAX) / BYTES_PER_TOKEN
}

/// Reads the usage that a vendor reports. The counts are totals.
fn read(dialect: Dialect, usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let of_openai = |all: &Value, details: &Value, output: &Value| {
        let (cache_read, cache_write) = (
            count(&details["cached_tokens"]),
            count(&details["cache_write_tokens"]),
        );
        Usage {
            input: count(all).saturating_sub(cache_read + cache_write),
            cache_write,
            cache_read,
            output: count(output),
            ..Usage::default()
        }
    };
    match dialect {
        Dialect::Messages => {
            let mut read = AnthropicUsage::default();
            read.count(usage);
            read.total()
        }
        Dialect::Responses => of_openai(
            &usage["input_tokens"],
            &usage["input_tokens_details"],
            &usage["output_tokens"],
        ),
        Dialect::Chat => of_openai(
            &usage["prompt_tokens"],
            &usage["prompt_tokens_details"],
            &usage["completion_tokens"],
        ),
        Dialect::Gemini => {
            let cached = count(&usage["cachedContentTokenCount"]);
            let input =
                count(&usage["promptTokenCount"]) + count(&usage["toolUsePromptTokenCount"]);
            Usage {
                input: input.saturating_sub(cached),
                cache_read: cached,
                output: count(&usage["candidatesTokenCount"]) + count(&usage["thoughtsTokenCount"]),
                ..Usage::default()
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
            ..Usage::default()
        }
    }

    #[test]
    fn streams_are_counted_in_whatever_pieces_they_come() {
        for size in [1, 7, 64, 10_000] {
            let mut meter = Meter::new(Dialect::Messages, true, 0);
            let counted = heard(&mut meter, MESSAGES, size);
            assert_eq!(counted, usage(12, 300, 4000, 88), "{size}");
        }
        let last = "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":60,\"cache_write_tokens\":10},\"output_tokens\":7}}}";
        let mut meter = Meter::new(Dialect::Responses, true, 0);
        assert_eq!(heard(&mut meter, last, 9), usage(30, 10, 60, 7));
        let chat = "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n";
        let mut meter = Meter::new(Dialect::Chat, true, 0);
        assert_eq!(heard(&mut meter, chat, 5), usage(9, 0, 0, 4));
    }

    #[test]
    fn whole_answers_are_counted_at_their_end() {
        let one = r#"{"usage":{"input_tokens":5,"output_tokens":6}}"#;
        let mut meter = Meter::new(Dialect::Messages, false, 0);
        assert_eq!(heard(&mut meter, one, 10), usage(5, 0, 0, 6));
        let array = r#"[{"usageMetadata":{"promptTokenCount":5}},
            {"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4}}]"#;
        let mut meter = Meter::new(Dialect::Gemini, false, 0);
        assert_eq!(heard(&mut meter, array, 10), usage(3, 0, 2, 7));
    }

    #[test]
    fn an_answer_without_end_is_not_kept() {
        let mut meter = Meter::new(Dialect::Chat, true, 0);
        let piece = vec![b'x'; LONGEST_BYTES];
        assert_eq!(meter.hear(&piece), Ok(None));
        assert_eq!(meter.hear(b"x"), Err(TooLong));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_estimated_until_the_vendor_reports() {
        let delta = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n";
        let mut meter = Meter::new(Dialect::Responses, true, 500);
        let told = meter.hear(delta.repeat(7).as_bytes()).unwrap();
        assert_eq!(told, Some(usage(500, 0, 0, 7)));
        let last =
            "data: {\"response\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":6}}}\n\n";
        meter.hear(last.as_bytes()).unwrap();
        assert_eq!(meter.end(), Some(usage(100, 0, 0, 6)));

        let mut meter = Meter::new(Dialect::Chat, false, 500);
        let told = meter.hear(&[b'x'; 40]).unwrap();
        assert_eq!(told, Some(usage(500, 0, 0, 10)));

        // Anthropic reports the prompt first and the answer last.
        let start = "data: {\"message\":{\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n";
        let mut meter = Meter::new(Dialect::Messages, true, 500);
        let told = meter.hear(format!("{start}{}", delta.repeat(3)).as_bytes());
        assert_eq!(told, Ok(Some(usage(12, 0, 0, 3))));
    }

    #[test]
    fn summaries_and_caches_of_an_hour_count() {
        let one = r#"{"usage":{"input_tokens":5,"output_tokens":6,"cache_creation_input_tokens":9,
            "cache_creation":{"ephemeral_1h_input_tokens":9},
            "iterations":[{"type":"compaction","input_tokens":100,"output_tokens":10}]}}"#;
        let mut meter = Meter::new(Dialect::Messages, false, 0);
        let expected = Usage {
            cache_write_hour: 9,
            longest_prompt: Some(100),
            ..usage(105, 9, 0, 16)
        };
        assert_eq!(heard(&mut meter, one, 1000), expected);
    }
}
