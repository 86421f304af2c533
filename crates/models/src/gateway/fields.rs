//! The fields of each API that programs may use, and the names of models and tools.
//!
//! A sandbox has no network of its own. Anything that a vendor would fetch, search or run for a program would be a
//! way around that, and is charged without being counted in tokens. Data that is stored in the account, such as files
//! and caches, may belong to other users. So only what is listed here passes.

use super::paths::Dialect;

/// The tools of Anthropic that the caller carries out, without the date at the end of their types.
const ANTHROPIC_TOOLS: [&str; 6] = [
    "bash_",
    "browser_toolset_",
    "computer_",
    "computer_toolset_",
    "memory_",
    "text_editor_",
];

/// The tools of OpenAI that the caller carries out.
const OPENAI_TOOLS: [&str; 6] = [
    "apply_patch",
    "computer",
    "computer_use_preview",
    "custom",
    "function",
    "local_shell",
];

/// The kinds of tools in Gemini's API that the caller carries out, in both spellings.
const GEMINI_TOOLS: [&str; 4] = [
    "functionDeclarations",
    "function_declarations",
    "computerUse",
    "computer_use",
];

const MESSAGES: &[&str] = &[
    "cache_control",
    "context_management",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

const RESPONSES: &[&str] = &[
    "client_metadata",
    "context_management",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Chat completions of OpenAI, and the sampling of servers that are compatible with it.
const CHAT: &[&str] = &[
    "chat_template_kwargs",
    "frequency_penalty",
    "function_call",
    "functions",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "min_p",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
];

const GEMINI: &[&str] = &[
    "contents",
    "generationConfig",
    "generation_config",
    "safetySettings",
    "safety_settings",
    "systemInstruction",
    "system_instruction",
    "toolConfig",
    "tool_config",
    "tools",
];

/// Words in the names of models that search the web for every answer.
const SEARCHING: [&str; 4] = ["online", "research", "search", "sonar"];

/// Returns true if this field of a request may be passed on.
pub(super) fn is_field(dialect: Dialect, key: &str) -> bool {
    let fields = match dialect {
        Dialect::Messages => MESSAGES,
        Dialect::Responses => RESPONSES,
        Dialect::Chat => CHAT,
        Dialect::Gemini => GEMINI,
    };
    fields.contains(&key)
}

/// Returns true if this is the type of a tool that the caller carries out.
pub(super) fn is_tool(dialect: Dialect, kind: &str) -> bool {
    match dialect {
        Dialect::Messages => {
            let is_dated = |tool: &&str| kind.strip_prefix(*tool).is_some_and(is_date);
            kind == "custom" || ANTHROPIC_TOOLS.iter().any(is_dated)
        }
        Dialect::Responses | Dialect::Chat => OPENAI_TOOLS.contains(&kind),
        Dialect::Gemini => GEMINI_TOOLS.contains(&kind),
    }
}

/// Returns true if this service costs no more than the usual one.
pub(super) fn is_tier(tier: &str) -> bool {
    matches!(tier, "auto" | "default" | "flex" | "standard_only")
}

/// Returns true if the name of a model asks for answers with a search on the web.
pub(super) fn is_searching(model: &str) -> bool {
    let words = model.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_it = |word: &str| SEARCHING.iter().any(|it| word.eq_ignore_ascii_case(it));
    words.into_iter().any(is_it)
}

fn is_date(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_the_caller_carries_out_are_passed_on() {
        for (dialect, kind, passes) in [
            (Dialect::Messages, "custom", true),
            (Dialect::Messages, "bash_20250124", true),
            (Dialect::Messages, "computer_toolset_20260801", true),
            (Dialect::Messages, "bash_code_execution_20250825", false),
            (Dialect::Messages, "web_fetch_20250910", false),
            (Dialect::Messages, "function", false),
            (Dialect::Responses, "function", true),
            (Dialect::Responses, "web_search_preview", false),
            (Dialect::Responses, "mcp", false),
            (Dialect::Gemini, "functionDeclarations", true),
            (Dialect::Gemini, "urlContext", false),
        ] {
            assert_eq!(is_tool(dialect, kind), passes, "{kind}");
        }
    }

    #[test]
    fn models_that_always_search_are_known_by_their_names() {
        for name in [
            "openai/gpt-6-luna:online",
            "gpt-5-search-api",
            "perplexity/sonar-pro",
            "o4-mini-deep-research",
        ] {
            assert!(is_searching(name), "{name}");
        }
        for name in ["qwen/qwen3-vl-235b:free", "researcher-7b", "gpt-6-sol"] {
            assert!(!is_searching(name), "{name}");
        }
    }
    #[test]
    fn every_field_is_in_the_documentation() {
        let page = include_str!("../../../../docs/guide/gateway.md");
        for field in [MESSAGES, RESPONSES, CHAT].concat() {
            assert!(page.contains(&format!("`{field}`")), "{field}");
        }
    }
}
