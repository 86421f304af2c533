//! Requests to Anthropic's Messages API.

use deskhand_core::{
    model::{Effort, ModelRequest},
    tool::ASK_USER,
};
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
/// The same for models whose longer prompts cost more.
const CLEAR_CHEAP_FROM_TOKENS: u32 = 80_000;
/// The number of calls that keep their results when the vendor clears. The members of a toolset count one by one.
const KEPT_CALLS: u32 = 40;
/// The least that clearing must free, in tokens, because everything after it drops out of the cache.
const CLEAR_AT_LEAST_TOKENS: u32 = 30_000;
/// The length of a conversation, in tokens, from which the vendor summarizes it.
const SUMMARIZE_FROM_TOKENS: u32 = 180_000;
/// The same for models whose longer prompts cost more.
const SUMMARIZE_CHEAP_FROM_TOKENS: u32 = 95_000;
/// The instructions for a summary.
const SUMMARIZE: &str = "Write a summary with which you can go on after everything before this point is gone, inside \
                         <summary></summary>. Repeat word for word what people asked for, what they answered and \
                         what they said when they refused a call, and repeat the plan. Say how far the task is, what \
                         was done and what came of it, which files, pages, names and numbers matter, what did not \
                         work, and what comes next.";

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
    messages::drop_compacted(&mut messages);
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
    if offer.clears || offer.compacts {
        body["context_management"] = context_management(generation, offer);
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

/// Returns the rules by which the vendor shortens long conversations.
fn context_management(generation: Generation, offer: AnthropicOffer) -> Value {
    let tokens = |value: u32| json!({"type": "input_tokens", "value": value});
    let is_cheap = generation.cheap_tokens().is_some();
    let (clear_from, summarize_from) = if is_cheap {
        (CLEAR_CHEAP_FROM_TOKENS, SUMMARIZE_CHEAP_FROM_TOKENS)
    } else {
        (CLEAR_FROM_TOKENS, SUMMARIZE_FROM_TOKENS)
    };
    let clearing = offer.clears.then(|| {
        json!({
            "type": "clear_tool_uses_20250919",
            "trigger": tokens(clear_from),
            "keep": {"type": "tool_uses", "value": KEPT_CALLS},
            "clear_at_least": tokens(CLEAR_AT_LEAST_TOKENS),
            "exclude_tools": [ASK_USER],
        })
    });
    let compaction = offer.compacts.then(|| {
        json!({
            "type": "compact_20260112",
            "trigger": tokens(summarize_from),
            "instructions": SUMMARIZE,
        })
    });
    let edits: Vec<Value> = clearing.into_iter().chain(compaction).collect();
    json!({"edits": edits})
}
