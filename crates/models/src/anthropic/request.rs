//! Requests to Anthropic's Messages API.

use deskhand_core::model::{Effort, ModelRequest};
use serde_json::{Value, json};

use super::{
    EarlierThinking,
    generation::{Generation, Thinking},
    messages::{self, MessagesWriter},
    offer::AnthropicOffer,
    tools,
    trim::{self, Limits},
};
use crate::space::Space;

/// The length of a conversation, in tokens, from which the vendor clears results of old calls.
const CLEAR_FROM_TOKENS: u32 = 100_000;
/// The number of calls that keep their results when the vendor clears.
const KEPT_CALLS: u32 = 12;
/// The least that clearing must free, in tokens, because everything after it drops out of the cache.
const CLEAR_AT_LEAST_TOKENS: u32 = 30_000;
/// The length of a conversation, in tokens, from which the vendor summarizes it.
const SUMMARIZE_FROM_TOKENS: u32 = 180_000;

/// Writes the body of a request, without the model, which the sender adds.
///
/// `said` is the beginning of the answer, from before the model paused.
pub(super) fn body(
    model: &str,
    offer: AnthropicOffer,
    thinking: EarlierThinking,
    largest_body: usize,
    request: &ModelRequest,
    said: &[Value],
) -> Value {
    let generation = Generation::of(model);
    let space = space(request);
    // The conversation, cut to the vendor's limits.
    let writer = MessagesWriter::new(generation, offer, space, thinking);
    let mut messages = writer.write(&request.items, said);
    let limits = Limits {
        n_pictures: generation.most_pictures(),
        body_bytes: largest_body,
        is_bound: generation.binds_thinking(),
    };
    trim::trim(&mut messages, limits);
    messages::mark_for_cache(&mut messages);
    let mut body = json!({
        "max_tokens": generation.longest_answer(),
        "stream": true,
        "tools": tools::entries(offer, generation, request),
        "system": [{
            "type": "text",
            "text": request.system,
            "cache_control": {"type": "ephemeral"},
        }],
        "messages": messages,
    });
    // The options that only some models accept.
    match generation.thinking() {
        Thinking::None => {}
        _ if !offer.thinks => {}
        Thinking::Budget => {
            let tokens = thinking_tokens(request.options.effort);
            body["thinking"] = json!({"type": "enabled", "budget_tokens": tokens});
        }
        Thinking::Adaptive => {
            body["thinking"] = json!({"type": "adaptive"});
            if generation.hides_thinking() && offer.displays {
                body["thinking"]["display"] = "summarized".into();
            }
            if offer.effort {
                let effort = request.options.effort;
                let effort = effort.map_or_else(|| generation.effort(), Effort::as_str);
                body["output_config"] = json!({"effort": effort});
            }
        }
    }
    if offer.clears {
        body["context_management"] = context_management();
    }
    body
}

/// Returns the thinking budget of models that need one, in tokens.
fn thinking_tokens(effort: Option<Effort>) -> u32 {
    match effort {
        Some(Effort::Low) => 1_024,
        Some(Effort::Medium) | None => 4_096,
        Some(Effort::High) => 12_288,
    }
}

/// Returns the coordinates of a request's pictures.
pub(super) fn space(request: &ModelRequest) -> Space {
    Space::picture(request.screen, request.shown).over_page(request.page)
}

/// Returns the rules by which the vendor shortens long conversations, because we may not change them ourselves.
fn context_management() -> Value {
    let tokens = |value: u32| json!({"type": "input_tokens", "value": value});
    json!({"edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": tokens(CLEAR_FROM_TOKENS),
            "keep": {"type": "tool_uses", "value": KEPT_CALLS},
            "clear_at_least": tokens(CLEAR_AT_LEAST_TOKENS),
        },
        {"type": "compact_20260112", "trigger": tokens(SUMMARIZE_FROM_TOKENS)},
    ]})
}
