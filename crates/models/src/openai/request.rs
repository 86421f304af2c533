//! Requests to OpenAI's Responses API.

use deskhand_core::{
    action::ScreenSize,
    browser::BrowserState,
    model::{CallResult, Image, Item, ModelRequest, ShownFile},
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{VENDOR, calls::FUNCTION_ITEM, compaction, offer::OpenAiOffer};
use crate::{
    call_ids, computer_function,
    exchange::{self, ConversationPart, Exchange},
    images::{data_url, file_data_url, file_label},
    retell,
    space::Space,
    surface::Surface,
    tool_input::function_name,
};

/// The text beside a picture that a function's result came with.
const PICTURE: &str = "[The picture of that:]";

/// Writes the body of a request.
pub(super) fn body(
    model: &str,
    offer: OpenAiOffer,
    surface: Surface,
    request: &ModelRequest,
) -> Value {
    let is_preview = is_preview(model);
    let writer = InputWriter {
        model,
        surface,
        is_preview,
        has_detail: offer.detail,
        space: space(request),
    };
    let mut body = json!({
        "model": model,
        "instructions": request.system,
        "input": compaction::newest(writer.input(&request.items)),
        "tools": tools(request, surface, is_preview),
        "stream": true,
        // OpenAI stores nothing: the log is the memory.
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    if offer.summary {
        let summary = if is_preview { "concise" } else { "auto" };
        body["reasoning"]["summary"] = summary.into();
    }
    if let Some(effort) = request.options.effort.filter(|_| offer.effort) {
        body["reasoning"]["effort"] = effort.as_str().into();
    }
    if let Some(key) = request
        .options
        .cache_key
        .as_ref()
        .filter(|_| offer.cache_key)
    {
        body["prompt_cache_key"] = key.as_str().into();
    }
    if offer.compaction {
        body["context_management"] = compaction::rules();
    }
    if is_preview || surface == Surface::PageFunction {
        body["truncation"] = "auto".into();
    }
    body
}

/// Returns the coordinates of a request's pictures.
pub(super) fn space(request: &ModelRequest) -> Space {
    Space::picture(request.screen, request.shown).over_page(request.page)
}

/// Returns true if this is the model with the first form of the computer.
pub(super) fn is_preview(model: &str) -> bool {
    model.starts_with("computer-use-preview")
}

fn tools(request: &ModelRequest, surface: Surface, is_preview: bool) -> Vec<Value> {
    let computer = |size: ScreenSize, environment: &str| {
        if is_preview {
            json!({
                "type": "computer_use_preview",
                "display_width": size.width,
                "display_height": size.height,
                "environment": environment,
            })
        } else {
            json!({"type": "computer"})
        }
    };
    let page = request.page.map_or(request.shown, |page| page.shown);
    let entries = |tool: &ToolSpec| match (tool.native, surface) {
        (Some(NativeTool::Computer), _) => vec![computer(request.shown, "linux")],
        // The computer only points and types, so the function is there for addresses, tabs, files and dialogs.
        (Some(NativeTool::Browser), Surface::Page) => {
            vec![computer(page, "browser"), function(tool)]
        }
        (Some(NativeTool::Browser), Surface::PageFunction) => vec![json!({
            "type": "function",
            "name": computer_function::NAME,
            "description": computer_function::DESCRIPTION,
            "parameters": computer_function::parameters(),
            "strict": false,
        })],
        (Some(NativeTool::Browser), Surface::Screen)
        | (Some(NativeTool::Shell | NativeTool::Editor) | None, _) => vec![function(tool)],
    };
    request.tools.iter().flat_map(entries).collect()
}

fn function(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": function_name(tool),
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

/// Writes the conversation.
struct InputWriter<'a> {
    model: &'a str,
    surface: Surface,
    is_preview: bool,
    /// Screenshots are marked to be viewed without scaling.
    has_detail: bool,
    space: Space,
}

impl InputWriter<'_> {
    fn input(&self, items: &[Item]) -> Vec<Value> {
        let mut input = Vec::new();
        for part in exchange::parts(items) {
            match part {
                ConversationPart::Said(text) => input.push(said("user", text)),
                ConversationPart::Shown { text, image } => input.push(self.shown(text, image)),
                ConversationPart::Files(files) => input.push(self.attached(files)),
                ConversationPart::Exchange(exchange) => self.exchange(&exchange, &mut input),
                ConversationPart::Stray(results) => {
                    let told = results.iter().map(retell::stray);
                    input.extend(told.map(|(text, image)| self.shown(&text, image)));
                }
                ConversationPart::CutOff(text) => {
                    if retell::is_something(text) {
                        input.push(said("assistant", text));
                    }
                    input.push(said("user", retell::GO_ON));
                }
            }
        }
        input
    }

    fn exchange(&self, exchange: &Exchange<'_>, input: &mut Vec<Value>) {
        match self.sent(exchange) {
            Some(output) => {
                input.extend(output.iter().map(repeated));
                input.extend(self.outputs(output, exchange.results));
            }
            None => {
                if retell::is_something(exchange.text) {
                    input.push(said("assistant", exchange.text));
                }
                let told = retell::done(exchange, &self.space).into_iter();
                input.extend(told.map(|(text, image)| self.shown(&text, image)));
            }
        }
    }

    /// Returns the items of an answer as this model sent them, if they can be sent back.
    ///
    /// Every call of the computer needs a picture, and every safety check needs a person's consent. An answer that
    /// lacks either is retold in words.
    fn sent<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a Vec<Value>> {
        let original = exchange.original(VENDOR)?;
        let output = original["output"].as_array()?;
        let is_own = original["model"]
            .as_str()
            .is_none_or(|model| model == self.model);
        let can_be_repeated = output.iter().all(|item| {
            let mut results = results_of(item, exchange.results).peekable();
            if item["type"] != "computer_call" {
                return true;
            }
            let was_refused = has_checks(item) && results.peek().is_none_or(|first| first.is_error);
            !was_refused && results.any(|result| result.image.is_some())
        });
        (is_own && can_be_repeated && !output.is_empty()).then_some(output)
    }

    /// Returns the outputs of an answer's calls.
    ///
    /// A computer call's output can only be a picture, and a function's only text, so separate messages have the rest.
    fn outputs(&self, output: &[Value], results: &[CallResult]) -> Vec<Value> {
        let mut outputs = Vec::new();
        let mut notes = Vec::new();
        let mut pictures = Vec::new();
        for item in output {
            let of_item: Vec<&CallResult> = results_of(item, results).collect();
            match item["type"].as_str() {
                Some("computer_call") => {
                    outputs.push(self.screenshot(item, &of_item));
                    notes.extend(of_item.iter().flat_map(|result| unseen(result)));
                }
                Some("function_call") if self.is_page_function(&item["name"]) => {
                    let text = computer_function::result(of_item.last().copied());
                    outputs.push(function_output(item, &text));
                }
                Some("function_call") => {
                    let text: Vec<&str> = of_item.iter().map(|result| &*result.text).collect();
                    let text = if of_item.is_empty() {
                        retell::NOT_DONE.to_owned()
                    } else {
                        text.join("\n")
                    };
                    outputs.push(function_output(item, &text));
                    pictures.extend(of_item.iter().filter_map(|result| result.image.as_ref()));
                }
                Some(FUNCTION_ITEM) => outputs.push(json!({
                    "type": "tool_result",
                    "tool_call_id": item["id"],
                    "output": computer_function::result(of_item.last().copied()),
                })),
                _ => {}
            }
        }
        outputs.extend(
            pictures
                .into_iter()
                .map(|image| self.shown(PICTURE, Some(image))),
        );
        if !notes.is_empty() {
            let surface = match self.surface {
                Surface::Screen => "computer",
                Surface::Page | Surface::PageFunction => "browser",
            };
            let told = format!("[The {surface} reports: {}]", notes.join(" "));
            outputs.push(said("user", &told));
        }
        outputs
    }

    fn is_page_function(&self, name: &Value) -> bool {
        self.surface == Surface::PageFunction && name == computer_function::NAME
    }

    fn screenshot(&self, item: &Value, results: &[&CallResult]) -> Value {
        let pictures = results.iter().rev();
        let picture = pictures.filter_map(|result| result.image.as_ref()).next();
        let mut screenshot = json!({
            "type": "computer_screenshot",
            "image_url": picture.map(data_url),
        });
        if self.has_detail {
            screenshot["detail"] = "original".into();
        }
        if self.surface == Surface::Page && self.is_preview {
            let states = results
                .iter()
                .rev()
                .filter_map(|result| result.browser.as_ref());
            let url = states.filter_map(|state| state.url()).next();
            screenshot["current_url"] = url.unwrap_or_default().into();
        }
        let mut told = json!({
            "type": "computer_call_output",
            "call_id": item["call_id"],
            "output": screenshot,
        });
        if has_checks(item) {
            told["acknowledged_safety_checks"] = item["pending_safety_checks"].clone();
        }
        told
    }

    /// Returns text and a picture as a message from the user. All pictures are viewed in the same way, so that points on
    /// them are the same.
    fn shown(&self, text: &str, image: Option<&Image>) -> Value {
        let mut content = vec![json!({"type": "input_text", "text": text})];
        if let Some(image) = image {
            content.push(self.picture(&data_url(image)));
        }
        json!({"type": "message", "role": "user", "content": content})
    }

    /// Returns attached files as a message from the user.
    fn attached(&self, files: &[ShownFile]) -> Value {
        let content = files.iter().flat_map(|file| {
            let url = file_data_url(file);
            let block = if file.is_picture() {
                self.picture(&url)
            } else {
                json!({"type": "input_file", "filename": file.name, "file_data": url})
            };
            [
                json!({"type": "input_text", "text": file_label(file)}),
                block,
            ]
        });
        json!({"type": "message", "role": "user", "content": content.collect::<Vec<_>>()})
    }

    fn picture(&self, url: &str) -> Value {
        let detail = if self.has_detail { "original" } else { "high" };
        json!({"type": "input_image", "image_url": url, "detail": detail})
    }
}

/// Returns an item as it goes back. The API requires the list of checks, and does not always send it.
fn repeated(item: &Value) -> Value {
    let mut item = item.clone();
    if item["type"] == "computer_call" && item["pending_safety_checks"].is_null() {
        item["pending_safety_checks"] = json!([]);
    }
    item
}

/// Returns everything about a result that its picture does not show: the reason of a failure, or news of the browser.
fn unseen(result: &CallResult) -> Vec<String> {
    if result.is_error {
        return vec![result.text.clone()];
    }
    let state = result.browser.as_ref();
    state.map(BrowserState::news).unwrap_or_default()
}

fn function_output(item: &Value, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": item["call_id"], "output": text})
}

fn has_checks(item: &Value) -> bool {
    item["pending_safety_checks"]
        .as_array()
        .is_some_and(|checks| !checks.is_empty())
}

fn results_of<'a>(
    item: &'a Value,
    results: &'a [CallResult],
) -> impl Iterator<Item = &'a CallResult> {
    let id = match item["type"].as_str() {
        Some(FUNCTION_ITEM) => &item["id"],
        _ => &item["call_id"],
    };
    let call = id.as_str();
    results
        .iter()
        .filter(move |result| Some(call_ids::whole(&result.call)) == call)
}

/// Returns a message. Parts of the assistant's own messages need ids that we do not have, so it is plain text.
pub(super) fn said(role: &str, text: &str) -> Value {
    let content = if role == "assistant" {
        json!(text)
    } else {
        json!([{"type": "input_text", "text": text}])
    };
    json!({"type": "message", "role": role, "content": content})
}
