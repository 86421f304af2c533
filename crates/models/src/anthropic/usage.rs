//! The usage that Anthropic reports, of the agent's own requests and of those of programs.

use deskhand_core::model::Usage;
use serde_json::Value;

/// The usage of one answer so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AnthropicUsage {
    answer: Usage,
    /// The usage of summing up the conversation before the answer, which the totals leave out.
    summaries: Usage,
}

impl AnthropicUsage {
    /// Takes in a report. Counts are totals and replace earlier ones; those that it leaves out stay.
    pub(crate) fn count(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        self.answer = read(usage, self.answer);
        if let Some(iterations) = usage["iterations"].as_array() {
            let summaries = iterations
                .iter()
                .filter(|iteration| iteration["type"] == "compaction")
                .map(|iteration| read(iteration, Usage::default()));
            self.summaries = summaries.fold(Usage::default(), Usage::plus);
        }
    }

    pub(crate) fn total(&self) -> Usage {
        self.answer.plus(self.summaries)
    }
}

fn read(usage: &Value, before: Usage) -> Usage {
    let counted = |field: &str, before: u64| usage[field].as_u64().unwrap_or(before);
    let cache_write = counted("cache_creation_input_tokens", before.cache_write);
    let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64();
    Usage {
        input: counted("input_tokens", before.input),
        cache_write,
        cache_write_hour: hour.unwrap_or(before.cache_write_hour).min(cache_write),
        cache_read: counted("cache_read_input_tokens", before.cache_read),
        output: counted("output_tokens", before.output),
        longest_prompt: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_of_the_conversation_counts_though_the_totals_leave_it_out() {
        let mut usage = AnthropicUsage::default();
        usage.count(&json!({"input_tokens": 23_000, "output_tokens": 1}));
        usage.count(&json!({"output_tokens": 1_000, "iterations": [
            {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
            {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000},
        ]}));
        let total = usage.total();
        assert_eq!((total.input, total.output), (203_000, 4_500));
    }

    #[test]
    fn what_is_cached_for_an_hour_is_a_part_of_what_is_cached() {
        let mut usage = AnthropicUsage::default();
        usage.count(
            &json!({"cache_creation_input_tokens": 300, "cache_creation": {
                "ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200,
            }}),
        );
        usage.count(&json!({"output_tokens": 5}));
        let total = usage.total();
        assert_eq!((total.cache_write, total.cache_write_hour), (300, 200));
        assert_eq!(total.tokens(), 305);
    }
}
