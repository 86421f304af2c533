//! Requests to Gemini's `generateContent`.

use deskhand_core::{
    model::{CallResult, Effort, Image, Item, ModelRequest, ShownFile},
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{VENDOR, calls, offer::GeminiOffer};
use crate::{
    call_ids,
    exchange::{self, ConversationPart, Exchange},
    images, retell,
    settings::BrowserTool,
    space::Space,
    surface::Surface,
    tool_input::function_name,
};

/// The models with the first set of actions, whose only computer is a browser.
const BROWSER_ONLY: [&str; 3] = [
    "gemini-2.5-computer-use",
    "gemini-3-flash",
    "gemini-3.1-pro",
];
/// Actions that our computer does not support: it holds a key for a given time, not until it is released.
const EXCLUDED: [&str; 2] = ["key_down", "key_up"];

/// Writes the body of a request.
pub(super) fn body(model: &str, offer: GeminiOffer, request: &ModelRequest) -> Value {
    let surface = surface(request);
    let is_first = is_browser_only(model);
    let writer = ContentsWriter {
        model,
        has_url: is_first || surface == Surface::Page,
        space: space(request),
        contents: Vec::new(),
    };
    let mut body = json!({
        "systemInstruction": {"parts": [words(&request.system)]},
        "contents": writer.write(&request.items),
        "tools": tools(offer, request, surface, is_first),
    });
    let thinking = &mut body["generationConfig"]["thinkingConfig"];
    if offer.thoughts {
        thinking["includeThoughts"] = true.into();
    }
    if let Some(effort) = request.options.effort.filter(|_| offer.effort) {
        if model.starts_with("gemini-2") {
            thinking["thinkingBudget"] = thinking_tokens(effort).into();
        } else {
            thinking["thinkingLevel"] = effort.as_str().to_ascii_uppercase().into();
        }
    }
    if thinking.is_null() {
        body["generationConfig"] = json!({});
    }
    body
}

/// Returns the thinking budget of models that take one instead of a level.
fn thinking_tokens(effort: Effort) -> u32 {
    match effort {
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
    }
}

/// Returns the coordinates of a request's pictures.
pub(super) fn space(request: &ModelRequest) -> Space {
    Space::thousandths(request.screen).over_page(request.page)
}

/// Returns the tool of ours that the vendor's computer stands for.
pub(super) fn surface(request: &ModelRequest) -> Surface {
    Surface::of(&request.tools, BrowserTool::Vendor)
}

fn is_browser_only(model: &str) -> bool {
    BROWSER_ONLY.iter().any(|name| model.starts_with(name))
}

/// Writes the tools: the computer, or a browser that stands for it, as the vendor's own tool, and the rest as functions.
fn tools(
    offer: GeminiOffer,
    request: &ModelRequest,
    surface: Surface,
    is_first: bool,
) -> Vec<Value> {
    let native = match surface {
        Surface::Screen => NativeTool::Computer,
        Surface::Page | Surface::PageFunction => NativeTool::Browser,
    };
    let is_computer = |tool: &&ToolSpec| tool.native == Some(native);
    let (computer, functions): (Vec<_>, Vec<_>) = request.tools.iter().partition(is_computer);
    let mut tools = Vec::new();
    if !computer.is_empty() {
        tools.push(json!({"computerUse": computer_use(offer, surface, is_first)}));
    }
    if !functions.is_empty() {
        let functions: Vec<Value> = functions.into_iter().map(declaration).collect();
        tools.push(json!({"functionDeclarations": functions}));
    }
    tools
}

fn computer_use(offer: GeminiOffer, surface: Surface, is_first: bool) -> Value {
    if is_first {
        return json!({"environment": "ENVIRONMENT_BROWSER"});
    }
    let environment = match surface {
        Surface::Screen if offer.desktop => "ENVIRONMENT_DESKTOP",
        Surface::Screen | Surface::Page | Surface::PageFunction => "ENVIRONMENT_BROWSER",
    };
    let mut computer = json!({"environment": environment});
    if offer.exclusion {
        computer["excludedPredefinedFunctions"] = json!(EXCLUDED);
    }
    if offer.detection {
        computer["enablePromptInjectionDetection"] = true.into();
    }
    computer
}

fn declaration(tool: &ToolSpec) -> Value {
    json!({
        "name": function_name(tool),
        "description": tool.description,
        "parametersJsonSchema": tool.parameters,
    })
}

/// Writes the conversation.
struct ContentsWriter<'a> {
    model: &'a str,
    /// Every response has the address of the page.
    has_url: bool,
    space: Space,
    contents: Vec<Value>,
}

impl ContentsWriter<'_> {
    fn write(mut self, items: &[Item]) -> Vec<Value> {
        for part in exchange::parts(items) {
            match part {
                ConversationPart::Said(text) => self.add("user", vec![words(text)]),
                ConversationPart::Shown { text, image } => self.tell((text.to_owned(), image)),
                ConversationPart::Files(files) => {
                    self.add("user", files.iter().flat_map(attached).collect());
                }
                ConversationPart::Exchange(exchange) => self.exchange(&exchange),
                ConversationPart::Stray(results) => {
                    for result in results {
                        self.tell(retell::stray(result));
                    }
                }
                ConversationPart::CutOff(text) => {
                    if retell::is_something(text) {
                        self.add("model", vec![words(text)]);
                    }
                    self.add("user", vec![words(retell::GO_ON)]);
                }
            }
        }
        self.contents
    }

    fn exchange(&mut self, exchange: &Exchange<'_>) {
        let Some(sent) = self.sent(exchange) else {
            if retell::is_something(exchange.text) {
                self.add("model", vec![words(exchange.text)]);
            }
            for told in retell::done(exchange, &self.space) {
                self.tell(told);
            }
            return;
        };
        self.add("model", sent.parts.to_vec());
        let responses: Vec<Value> = sent
            .calls()
            .map(|(call, id)| self.response(call, &of_call(exchange.results, id)))
            .collect();
        if !responses.is_empty() {
            // Responses form a message of their own, with exactly one for each call.
            self.contents
                .push(json!({"role": "user", "parts": responses}));
        }
    }

    /// Returns an answer as this model sent it, if it can be sent back.
    ///
    /// A call that needed a person's consent and did not get it is retold in words, because its response would have
    /// to claim that consent.
    fn sent<'a>(&self, exchange: &Exchange<'a>) -> Option<Sent<'a>> {
        let original = exchange.original(VENDOR)?;
        let sent = Sent {
            parts: original["parts"].as_array()?,
            ids: original["calls"].as_array()?,
        };
        let is_own = original["model"]
            .as_str()
            .is_none_or(|model| model == self.model);
        let is_agreed = sent.calls().all(|(call, id)| {
            let first = of_call(exchange.results, id).first().copied();
            !calls::wants_confirmation(&call["args"]) || first.is_some_and(|first| !first.is_error)
        });
        (is_own && is_agreed && !sent.parts.is_empty()).then_some(sent)
    }

    fn response(&self, call: &Value, results: &[&CallResult]) -> Value {
        let texts = results.iter().map(|result| &*result.text);
        let text: Vec<&str> = texts.filter(|text| retell::is_something(text)).collect();
        let mut response = if results.is_empty() {
            json!({"error": retell::NOT_DONE})
        } else if results.iter().any(|result| result.is_error) {
            json!({"error": text.join("\n")})
        } else {
            json!({"output": text.join("\n")})
        };
        if self.has_url {
            // The first models require a URL even for a screen, where we do not know it.
            let states = results
                .iter()
                .rev()
                .filter_map(|result| result.browser.as_ref());
            let url = states.filter_map(|state| state.url()).next();
            response["url"] = url.unwrap_or_default().into();
        }
        if calls::wants_confirmation(&call["args"]) {
            response["safety_acknowledgement"] = "true".into();
        }
        let mut told = json!({"name": call["name"], "response": response});
        if call["id"].is_string() {
            told["id"] = call["id"].clone();
        }
        let pictures = results.iter().rev();
        if let Some(image) = pictures.filter_map(|result| result.image.as_ref()).next() {
            told["parts"] = json!([picture(image)]);
        }
        json!({"functionResponse": told})
    }

    fn tell(&mut self, (text, image): retell::Told<'_>) {
        let picture = image.map(picture);
        self.add(
            "user",
            std::iter::once(words(&text)).chain(picture).collect(),
        );
    }

    /// Adds parts, to the last message if it has the same role and holds no responses.
    fn add(&mut self, role: &str, parts: Vec<Value>) {
        let last = self
            .contents
            .last_mut()
            .filter(|last| last["role"] == role && last["parts"][0]["functionResponse"].is_null());
        if let Some(before) = last.and_then(|last| last["parts"].as_array_mut()) {
            before.extend(parts);
        } else {
            self.contents.push(json!({"role": role, "parts": parts}));
        }
    }
}

/// An answer as it was received.
struct Sent<'a> {
    parts: &'a [Value],
    /// Our ids of its function calls.
    ids: &'a [Value],
}

impl<'a> Sent<'a> {
    /// Returns its function calls with our ids.
    fn calls(&self) -> impl Iterator<Item = (&'a Value, &'a str)> {
        let calls = self.parts.iter().map(|part| &part["functionCall"]);
        let ids = self.ids.iter().map(|id| id.as_str().unwrap_or_default());
        calls.filter(|call| call.is_object()).zip(ids)
    }
}

fn of_call<'a>(results: &'a [CallResult], id: &str) -> Vec<&'a CallResult> {
    let is_of_call = |result: &&CallResult| call_ids::whole(&result.call) == id;
    results.iter().filter(is_of_call).collect()
}

fn words(text: &str) -> Value {
    let text = if retell::is_something(text) {
        text
    } else {
        retell::NOTHING
    };
    json!({"text": text})
}

/// Returns the parts of an attached file.
fn attached(file: &ShownFile) -> [Value; 2] {
    let data = json!({"mimeType": file.media_type, "data": images::file_base64(file)});
    [
        words(&images::file_label(file)),
        json!({"inlineData": data}),
    ]
}

fn picture(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": image.format.media_type(), "data": images::base64(image)}})
}
