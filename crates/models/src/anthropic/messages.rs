//! The conversation in the format of Anthropic's Messages API.

use deskhand_core::model::{CallResult, Image, Item, REFUSED_BECAUSE, ShownFile};
use serde_json::{Value, json};

use super::{
    EarlierThinking, VENDOR, browser, browser_results, forms,
    generation::Generation,
    offer::{AnthropicOffer, BrowserForm},
};
use crate::{
    browser_input,
    exchange::{self, ConversationPart, Exchange},
    images, retell,
    space::Space,
};

/// The number of places that may be marked for the vendor's cache, besides the system prompt.
const MOST_CACHED_TURNS: usize = 3;

/// Writes the messages of a request.
#[derive(Debug)]
pub(super) struct MessagesWriter {
    generation: Generation,
    offer: AnthropicOffer,
    space: Space,
    thinking: EarlierThinking,
    messages: Vec<Value>,
}

impl MessagesWriter {
    pub(super) fn new(
        generation: Generation,
        offer: AnthropicOffer,
        space: Space,
        thinking: EarlierThinking,
    ) -> Self {
        Self {
            generation,
            offer,
            space,
            thinking,
            messages: Vec::new(),
        }
    }

    /// Returns the messages of the conversation, and the beginning of the requested answer.
    pub(super) fn write(mut self, items: &[Item], said: &[Value]) -> Vec<Value> {
        let parts = exchange::parts(items);
        let n_unthought = self.n_without_thinking(&parts);
        for (index, part) in parts.into_iter().enumerate() {
            match part {
                ConversationPart::Said(text) => self.say(vec![words(text)]),
                ConversationPart::Shown { text, image } => self.tell((text.to_owned(), image)),
                ConversationPart::Files(files) => {
                    let blocks = files.iter().flat_map(|file| self.file(file)).collect();
                    self.say(blocks);
                }
                ConversationPart::Exchange(exchange) => {
                    let thinking = if index < n_unthought {
                        EarlierThinking::Dropped
                    } else {
                        EarlierThinking::Kept
                    };
                    self.exchange(&exchange, thinking);
                }
                ConversationPart::Stray(results) => {
                    for result in results {
                        self.tell(retell::stray(result));
                    }
                }
                ConversationPart::CutOff(text) => {
                    if retell::is_something(text) {
                        self.add("assistant", vec![words(text)]);
                    }
                    self.say(vec![words(retell::GO_ON)]);
                }
            }
        }
        let is_sent =
            |block: &&Value| self.thinking == EarlierThinking::Kept || !forms::is_thinking(block);
        let said: Vec<Value> = said.iter().filter(is_sent).cloned().collect();
        if !said.is_empty() {
            self.add("assistant", said);
        }
        self.messages
    }

    /// Returns the number of parts at the beginning whose thinking is not sent.
    ///
    /// Once the vendor has refused the thinking of a conversation, none from before the next answer is sent again:
    /// later thinking is bound to a conversation without it.
    fn n_without_thinking(&self, parts: &[ConversationPart<'_>]) -> usize {
        if self.thinking == EarlierThinking::Dropped {
            return parts.len();
        }
        let is_fresh = |part: &ConversationPart<'_>| {
            let ConversationPart::Exchange(exchange) = part else {
                return false;
            };
            let original = exchange.original(VENDOR);
            original.is_some_and(|original| forms::begins_anew(original, self.generation))
        };
        parts.iter().rposition(is_fresh).unwrap_or(0)
    }

    fn exchange(&mut self, exchange: &Exchange<'_>, thinking: EarlierThinking) {
        let original = exchange.original(VENDOR);
        let blocks = original.and_then(|original| {
            forms::blocks(original, self.generation, self.offer.tools, thinking)
        });
        let Some(mut blocks) = blocks else {
            if retell::is_something(exchange.text) {
                self.add("assistant", vec![words(exchange.text)]);
            }
            for told in retell::done(exchange, &self.space) {
                self.tell(told);
            }
            return;
        };
        if self.offer.browser == BrowserForm::Function {
            self.browser_as_function(exchange, &mut blocks);
        }
        let results = self.results(exchange, &blocks);
        self.add("assistant", blocks);
        if !results.is_empty() {
            self.say(results);
        }
    }

    /// Converts calls of the browser toolset to calls of the function that is offered instead.
    fn browser_as_function(&self, exchange: &Exchange<'_>, blocks: &mut [Value]) {
        for block in blocks {
            let call = exchange.calls.iter().find(|call| block["id"] == call.id);
            if let Some(call) = call.filter(|_| block["toolset_name"] == browser::TOOLSET) {
                *block = json!({
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.tool,
                    "input": browser_input::shown(&call.input, &self.space),
                });
            }
        }
    }

    /// Returns the results of an answer's calls. All results come before any other block.
    fn results(&self, exchange: &Exchange<'_>, blocks: &[Value]) -> Vec<Value> {
        let mut results = Vec::new();
        let mut pictures = Vec::new();
        let mut refusals = Vec::new();
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        for call in calls {
            let id = call["id"].as_str().unwrap_or_default();
            let result = exchange.result(id);
            results.push(self.result(call, result));
            // A result that is an error cannot contain a picture.
            let failed = result.filter(|result| result.is_error);
            pictures.extend(failed.and_then(|result| result.image.as_ref()));
            refusals.extend(failed.filter(|result| result.text.starts_with(REFUSED_BECAUSE)));
        }
        // The vendor may clear the results of old calls, and then a person's words would be gone.
        results.extend(refusals.into_iter().map(|result| words(&result.text)));
        results.extend(pictures.into_iter().map(|image| self.picture(image)));
        results
    }

    fn result(&self, call: &Value, result: Option<&CallResult>) -> Value {
        let is_browser = call["toolset_name"] == browser::TOOLSET;
        let done = result.filter(|result| !result.is_error);
        let content = done.and_then(|result| self.done(call, result, is_browser));
        let is_error = content.is_none();
        let content = content.unwrap_or_else(|| {
            let text = result.map_or(retell::NOT_DONE, |result| &result.text);
            vec![if is_browser {
                words(&browser_results::failure(text))
            } else {
                words(text)
            }]
        });
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": content,
        });
        if is_error {
            block["is_error"] = true.into();
        }
        if let Some(toolset) = call.get("toolset_name") {
            block["toolset_name"] = toolset.clone();
        }
        block
    }

    /// Returns the content of the result of a call that was carried out.
    fn done(&self, call: &Value, result: &CallResult, is_browser: bool) -> Option<Vec<Value>> {
        let picture = result.image.as_ref().map(|image| self.picture(image));
        if is_browser {
            let member = call["name"].as_str().unwrap_or_default();
            return browser_results::content(member, result, picture);
        }
        let mut content = Vec::new();
        if retell::is_something(&result.text) || picture.is_none() {
            content.push(words(&result.text));
        }
        content.extend(picture);
        Some(content)
    }

    fn tell(&mut self, (text, image): retell::Told<'_>) {
        let picture = image.map(|image| self.picture(image));
        self.say(std::iter::once(words(&text)).chain(picture).collect());
    }

    /// Adds blocks from people or tools.
    fn say(&mut self, blocks: Vec<Value>) {
        self.add("user", blocks);
    }

    /// Adds blocks, to the last message if it has the same role.
    fn add(&mut self, role: &str, blocks: Vec<Value>) {
        if let Some(last) = self.messages.last_mut().filter(|last| last["role"] == role)
            && let Some(content) = last["content"].as_array_mut()
        {
            content.extend(blocks);
        } else {
            self.messages.push(json!({"role": role, "content": blocks}));
        }
    }

    /// Returns the blocks of an attached file.
    fn file(&self, file: &ShownFile) -> [Value; 2] {
        let data = images::file_base64(file);
        let block = if file.is_picture() {
            self.image_block(file.media_type, &data)
        } else {
            let source = json!({"type": "base64", "media_type": file.media_type, "data": data});
            json!({"type": "document", "source": source, "title": file.name})
        };
        [words(&images::file_label(file)), block]
    }

    fn picture(&self, image: &Image) -> Value {
        self.image_block(image.format.media_type(), &images::base64(image))
    }

    fn image_block(&self, media_type: &str, data: &str) -> Value {
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        let mut block = json!({"type": "image", "source": source});
        if self.offer.marks_pictures() {
            block["transformations"] = json!({"oversized_image": "error"});
        }
        block
    }
}

/// Drops everything before the vendor's newest summary, which the vendor would pass over.
pub(super) fn drop_compacted(messages: &mut Vec<Value>) {
    let newest = messages
        .iter_mut()
        .enumerate()
        .rev()
        .find_map(|(index, message)| {
            let blocks = message["content"].as_array_mut()?;
            let first = blocks
                .iter()
                .rposition(|block| block["type"] == "compaction")?;
            Some((index, blocks.split_off(first)))
        });
    if let Some((index, blocks)) = newest {
        messages[index]["content"] = blocks.into();
        messages.drain(..index);
    }
}

/// Marks the ends of the newest turns, so that the next request finds everything before them in the cache.
pub(super) fn mark_for_cache(messages: &mut [Value]) {
    let of_people = messages
        .iter_mut()
        .rev()
        .filter(|message| message["role"] == "user");
    for message in of_people.take(MOST_CACHED_TURNS) {
        let blocks = message["content"].as_array_mut();
        if let Some(last) = blocks.and_then(|blocks| blocks.last_mut()) {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

/// Returns a block of text. The vendor would reject an empty one.
fn words(text: &str) -> Value {
    let text = if retell::is_something(text) {
        text
    } else {
        retell::NOTHING
    };
    json!({"type": "text", "text": text})
}
