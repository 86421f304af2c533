//! The context windows of models, and the messages of vendors about conversations that do not fit into them.

/// The windows of vendors' models by the beginning of their names, in tokens. The first that fits counts.
const WINDOWS: &[(&str, &str, u64)] = &[
    ("openai", "computer-use-preview", 128_000),
    ("openai", "gpt-5.4", 400_000),
    ("openai", "gpt-5", 400_000),
    ("openai", "gpt-", 1_050_000),
    ("gemini", "gemini-2.5-computer-use", 128_000),
    ("gemini", "gemini-", 1_048_576),
];

/// Words in the messages of vendors about a conversation that is too long, in lower case.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "exceeds the maximum number of tokens",
    "exceeds the maximum size",
    "conversation has become too long",
];

/// Returns the window of a model in tokens, if it is known.
pub(crate) fn tokens(vendor: &str, name: &str) -> Option<u64> {
    let is_it =
        |(maker, start, _): &&(&str, &str, u64)| *maker == vendor && name.starts_with(start);
    WINDOWS.iter().find(is_it).map(|(.., tokens)| *tokens)
}

/// Returns true if a vendor says that the conversation does not fit into the model's window.
pub(crate) fn is_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    TOO_LONG.iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_says_it_in_its_own_words() {
        for message in [
            "prompt is too long: 208310 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.",
            "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
            "the request exceeds the available context size, try increasing it",
            "Request exceeds the maximum size",
        ] {
            assert!(is_too_long(message), "{message}");
        }
        for other in [
            "Request too large for gpt-6-sol on tokens per min (TPM): Limit 30000, Requested 40000",
            "messages: at least one message is required",
            "Overloaded",
        ] {
            assert!(!is_too_long(other), "{other}");
        }
    }

    #[test]
    fn windows_are_found_by_the_beginning_of_a_name() {
        assert_eq!(tokens("openai", "gpt-6.1-terra"), Some(1_050_000));
        assert_eq!(tokens("openai", "computer-use-preview-2025"), Some(128_000));
        assert_eq!(tokens("ollama", "qwen3-vl"), None);
    }
}
