//! Requests to Anthropic's Messages API.

use deskhand_core::model::{CallResult, Image, Item, ModelRequest, Original};
use serde_json::{Value, json};

use super::{
    VENDOR,
    generation::{Generation, Thinking, ToolVersion},
    tools,
};
use crate::{images, retell};

/// How many places may be marked for the vendor's cache, besides the system prompt.
const MOST_CACHED_TURNS: usize = 3;
/// How many tokens a model may think that wants a number.
const THINKING_TOKENS: u32 = 4_096;

/// The body of a request. `said` is the beginning of the answer, from before the model paused.
pub(super) fn body(
    model: &str,
    version: ToolVersion,
    request: &ModelRequest,
    said: &[Value],
) -> Value {
    let generation = Generation::of(model);
    let mut body = json!({
        "model": model,
        "max_tokens": generation.longest_answer(),
        "stream": true,
        "tools": tools::entries(version, generation, request.shown),
        "system": [{
            "type": "text",
            "text": request.system,
            "cache_control": {"type": "ephemeral"},
        }],
        "messages": messages(&request.items, said),
    });
    match generation.thinking() {
        Thinking::None => {}
        Thinking::Budget => {
            body["thinking"] = json!({"type": "enabled", "budget_tokens": THINKING_TOKENS});
        }
        Thinking::Adaptive => {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            body["output_config"] = json!({"effort": "medium"});
        }
    }
    body
}

fn messages(items: &[Item], said: &[Value]) -> Vec<Value> {
    let mut messages = Messages::default();
    let mut answer: Option<&Item> = None;
    for item in items {
        match item {
            Item::Prompt { text } | Item::Steering { text } => messages.say(vec![words(text)]),
            Item::Answer { .. } => {
                answer = Some(item);
                messages.answer(item);
            }
            Item::HandedBack { text, image } => {
                let picture = image.as_ref().map(picture);
                messages.say(std::iter::once(words(text)).chain(picture).collect());
            }
            Item::Results(results) => messages.say(answer_to(answer, results)),
            Item::CutOff { text } => {
                if !text.trim().is_empty() {
                    messages.add("assistant", vec![words(text)]);
                }
                messages.say(vec![words(retell::GO_ON)]);
            }
        }
    }
    messages.mark_for_cache();
    if !said.is_empty() {
        messages.add("assistant", said.to_vec());
    }
    messages.0
}

#[derive(Debug, Default)]
struct Messages(Vec<Value>);

impl Messages {
    /// Adds what people or tools say. Whoever spoke last goes on.
    fn say(&mut self, blocks: Vec<Value>) {
        self.add("user", blocks);
    }

    fn answer(&mut self, item: &Item) {
        if let Item::Answer {
            text,
            calls,
            original,
            ..
        } = item
        {
            let blocks = match content(original.as_ref()) {
                Some(blocks) => blocks.clone(),
                None => vec![words(&retell::answer(text, calls))],
            };
            self.add("assistant", blocks);
        }
    }

    fn add(&mut self, role: &str, blocks: Vec<Value>) {
        if let Some(last) = self.0.last_mut().filter(|last| last["role"] == role)
            && let Some(content) = last["content"].as_array_mut()
        {
            content.extend(blocks);
        } else {
            self.0.push(json!({"role": role, "content": blocks}));
        }
    }

    /// Marks the ends of the newest turns, so that the next request finds what came before them in the cache.
    fn mark_for_cache(&mut self) {
        let of_people = self
            .0
            .iter_mut()
            .rev()
            .filter(|message| message["role"] == "user");
        for message in of_people.take(MOST_CACHED_TURNS) {
            if let Some(last) = message["content"]
                .as_array_mut()
                .and_then(|blocks| blocks.last_mut())
            {
                last["cache_control"] = json!({"type": "ephemeral"});
            }
        }
    }
}

/// The blocks of an answer as Anthropic sent them.
fn content(original: Option<&Original>) -> Option<&Vec<Value>> {
    let original = original.filter(|original| original.vendor == VENDOR)?;
    original.data["content"]
        .as_array()
        .filter(|blocks| !blocks.is_empty())
}

/// What came of an answer's calls.
fn answer_to(answer: Option<&Item>, results: &[CallResult]) -> Vec<Value> {
    let original = match answer {
        Some(Item::Answer { original, .. }) => content(original.as_ref()),
        _ => None,
    };
    let Some(blocks) = original else {
        return results.iter().flat_map(retold_result).collect();
    };
    // All results stand before anything else.
    let mut told = Vec::new();
    let mut pictures = Vec::new();
    for result in results {
        let call = blocks
            .iter()
            .find(|block| block["id"] == result.call.as_str());
        let mut content = vec![words(&result.text)];
        match &result.image {
            // A result that is an error takes no picture.
            Some(image) if result.is_error => pictures.push(picture(image)),
            Some(image) => content.push(picture(image)),
            None => {}
        }
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": result.call,
            "content": content,
        });
        if result.is_error {
            block["is_error"] = true.into();
        }
        if let Some(toolset) = call.and_then(|call| call.get("toolset_name")) {
            block["toolset_name"] = toolset.clone();
        }
        told.push(block);
    }
    told.extend(pictures);
    told
}

fn retold_result(result: &CallResult) -> Vec<Value> {
    let picture = result.image.as_ref().map(picture);
    std::iter::once(words(&retell::result(result)))
        .chain(picture)
        .collect()
}

/// A block of text. An empty one would be refused.
fn words(text: &str) -> Value {
    let text = if text.trim().is_empty() {
        retell::NOTHING
    } else {
        text
    };
    json!({"type": "text", "text": text})
}

fn picture(image: &Image) -> Value {
    json!({
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": images::media_type(image),
            "data": images::base64(image),
        },
    })
}
