//! A fake vendor that does a task on web pages, through any vendor's way to drive a browser.

mod streams;

use std::sync::{Arc, Mutex};

use deskhand_core::browser::page_elements;
use serde_json::{Value, json};

use self::streams::{anthropic, chat, gemini, openai, picture_size};
use crate::elsewhere::{Elsewhere, Line};

/// A vendor's way to drive a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserWire {
    /// Anthropic's browser toolset.
    Anthropic,
    /// OpenAI's computer, beside the function `browser`.
    OpenAi,
    /// Its first form, with one action in each answer.
    OpenAiPreview,
    /// Gemini's actions for browsers.
    Gemini,
    /// The first set of them.
    FirstGemini,
    /// The function `browser`, over chat completions.
    Function,
    /// The function `computer` with an action, over chat completions.
    ComputerFunction,
}

/// One step of a task. Places are CSS pixels of the page.
#[derive(Debug, Clone)]
pub enum PageStep {
    Open(String),
    /// Clicks into a field and types.
    Fill {
        at: (u32, u32),
        text: &'static str,
    },
    Click {
        at: (u32, u32),
        /// The name by which wires with references find the element instead.
        name: Option<&'static str>,
    },
    Press(&'static str),
}

/// One call.
#[derive(Debug, Clone)]
enum Deed {
    Open(String),
    Click((u32, u32)),
    /// Clicks the element that was found.
    ClickFound,
    Find(&'static str),
    Type(&'static str),
    /// Clicks, clears and types at once.
    TypeAt((u32, u32), &'static str),
    Press(&'static str),
}

impl BrowserWire {
    pub const ALL: [Self; 7] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiPreview,
        Self::Gemini,
        Self::FirstGemini,
        Self::Function,
        Self::ComputerFunction,
    ];

    /// Returns a model that speaks it. That of [`Self::ComputerFunction`] needs the setting `browser_tool`.
    pub fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic/claude-opus-5",
            Self::OpenAi => "openai/gpt-6-sol",
            Self::OpenAiPreview => "openai/computer-use-preview",
            Self::Gemini => "gemini/gemini-3.6-flash",
            Self::FirstGemini => "gemini/gemini-2.5-computer-use-preview-10-2025",
            Self::Function => "vllm/some/model",
            Self::ComputerFunction => "ollama/some/model",
        }
    }

    /// Returns parts of every request in which this wire was used.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &[
                r#""type":"browser_toolset_20260801""#,
                r#""type":"browser_state""#,
                r#""toolset_name":"browser""#,
            ],
            Self::OpenAi => &[r#"{"type":"computer"}"#, r#""type":"computer_screenshot""#],
            Self::OpenAiPreview => &[r#""environment":"browser""#, r#""current_url":"http"#],
            Self::Gemini | Self::FirstGemini => {
                &[r#""environment":"ENVIRONMENT_BROWSER""#, r#""url":"http"#]
            }
            Self::Function => &[r#""name":"browser""#],
            Self::ComputerFunction => &[r#"{\"browser\":{\"current_url\":\"http"#],
        }
    }

    /// Returns the calls of each answer.
    fn answers(self, steps: &[PageStep]) -> Vec<Vec<Deed>> {
        let has_references = matches!(self, Self::Anthropic | Self::Function);
        let mut answers = Vec::new();
        for step in steps {
            match step {
                PageStep::Open(url) => answers.push(vec![Deed::Open(url.clone())]),
                PageStep::Fill { at, text } if self == Self::FirstGemini => {
                    answers.push(vec![Deed::TypeAt(*at, text)]);
                }
                PageStep::Fill { at, text } if self == Self::OpenAiPreview => {
                    answers.extend([vec![Deed::Click(*at)], vec![Deed::Type(text)]]);
                }
                PageStep::Fill { at, text } => {
                    answers.push(vec![Deed::Click(*at), Deed::Type(text)]);
                }
                PageStep::Click {
                    name: Some(name), ..
                } if has_references => {
                    answers.extend([vec![Deed::Find(name)], vec![Deed::ClickFound]]);
                }
                PageStep::Click { at, .. } => answers.push(vec![Deed::Click(*at)]),
                PageStep::Press(key) => answers.push(vec![Deed::Press(key)]),
            }
        }
        answers
    }
}

/// The vendors' server. It listens until it is dropped.
#[derive(Debug)]
pub struct PagePlayer {
    part: Arc<Mutex<Part>>,
    at: Elsewhere,
}

/// The part that is being played.
#[derive(Debug)]
struct Part {
    wire: BrowserWire,
    answers: Vec<Vec<Deed>>,
    n_played: usize,
    n_calls: usize,
    asked: Vec<Value>,
}

impl PagePlayer {
    pub async fn start() -> Self {
        let part = Arc::new(Mutex::new(Part {
            wire: BrowserWire::Anthropic,
            answers: Vec::new(),
            n_played: 0,
            n_calls: 0,
            asked: Vec::new(),
        }));
        let playing = Arc::clone(&part);
        let at = Elsewhere::start(move |asked, line| {
            let events = playing.lock().unwrap().play(asked.body);
            send(line, events)
        })
        .await;
        Self { part, at }
    }

    /// Does this task next, through this wire.
    pub fn prepare(&self, wire: BrowserWire, steps: &[PageStep]) {
        let mut part = self.part.lock().unwrap();
        part.wire = wire;
        part.answers = wire.answers(steps);
        part.n_played = 0;
        part.asked.clear();
    }

    /// Returns the requests of the present task.
    pub fn asked(&self) -> Vec<Value> {
        self.part.lock().unwrap().asked.clone()
    }

    /// Checks that the last request offers the browser in the wire's own form, and that results have it too.
    pub fn check_form(&self) {
        let part = self.part.lock().unwrap();
        let last = part.asked.last().unwrap().to_string();
        for mark in part.wire.marks() {
            let wire = part.wire;
            assert!(
                last.contains(mark),
                "{wire:?}: {mark} is not in the last request"
            );
        }
    }

    /// Returns the settings of a server that uses it for every vendor.
    pub fn variables(&self) -> Vec<(String, String)> {
        let (url, versioned) = (self.at.url.clone(), format!("{}/v1", self.at.url));
        let pairs = [
            ("ANTHROPIC_API_KEY", "sk-test".to_owned()),
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("OPENAI_API_KEY", "sk-test".to_owned()),
            ("OPENAI_BASE_URL", versioned.clone()),
            ("GEMINI_API_KEY", "sk-test".to_owned()),
            ("GEMINI_BASE_URL", url),
            ("VLLM_BASE_URL", versioned.clone()),
            ("OLLAMA_BASE_URL", versioned),
            ("DESKHAND_MODELS_OLLAMA_BROWSER_TOOL", "computer".to_owned()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

async fn send(mut line: Line, events: Vec<Value>) -> std::io::Result<()> {
    line.begin().await?;
    for event in events {
        line.event(&event).await?;
    }
    Ok(())
}

impl Part {
    /// Returns the next answer as events.
    fn play(&mut self, body: Value) -> Vec<Value> {
        let deeds = self.answers.get(self.n_played).cloned().unwrap_or_default();
        self.n_played += 1;
        let calls: Vec<(String, Value)> = deeds
            .iter()
            .map(|deed| {
                self.n_calls += 1;
                (format!("call_{}", self.n_calls), self.call(deed, &body))
            })
            .collect();
        self.asked.push(body);
        match self.wire {
            BrowserWire::Anthropic => anthropic(&calls),
            BrowserWire::OpenAi | BrowserWire::OpenAiPreview => openai(&calls),
            BrowserWire::Gemini | BrowserWire::FirstGemini => gemini(&calls),
            BrowserWire::Function | BrowserWire::ComputerFunction => chat(&calls),
        }
    }

    /// Writes a call as this wire does.
    fn call(&self, deed: &Deed, body: &Value) -> Value {
        match self.wire {
            BrowserWire::Anthropic => {
                let (name, input) = member(deed, &found_by_vendor(body));
                json!({"name": name, "input": input})
            }
            BrowserWire::OpenAi | BrowserWire::OpenAiPreview => openai_call(deed),
            BrowserWire::Gemini | BrowserWire::FirstGemini => {
                let (name, args) = predefined(deed, self.wire, picture_size(body));
                json!({"name": name, "args": args})
            }
            BrowserWire::Function => {
                json!({"name": "browser", "input": function(deed, &found(body))})
            }
            BrowserWire::ComputerFunction => {
                json!({"name": "computer", "input": {"action": computer(deed)}})
            }
        }
    }
}

/// Returns the last reference in the messages of a request.
fn found(body: &Value) -> String {
    let elements = page_elements(&body["messages"].to_string());
    let last = elements.last().map(|element| element.reference.to_string());
    last.unwrap_or_default()
}

/// Returns the last reference in Anthropic's spelling, without `ref_`.
fn found_by_vendor(body: &Value) -> String {
    let text = body["messages"].to_string();
    let last = text.rsplit_once(" ref_").map_or("", |(_, after)| after);
    let end = last.find(|one: char| !one.is_ascii_alphanumeric());
    last[..end.unwrap_or_default()].to_owned()
}

fn member(deed: &Deed, found: &str) -> (&'static str, Value) {
    let target = |(x, y): &(u32, u32)| json!({"type": "coordinate", "x": x, "y": y});
    match deed {
        Deed::Open(url) => ("navigate", json!({"url": url})),
        Deed::Click(at) | Deed::TypeAt(at, _) => ("left_click", json!({"target": target(at)})),
        Deed::ClickFound => {
            let target = json!({"type": "ref", "ref": format!("ref_{found}")});
            ("left_click", json!({"target": target}))
        }
        Deed::Find(name) => ("find", json!({"query": name})),
        Deed::Type(text) => ("type", json!({"text": text})),
        Deed::Press(key) => ("key", json!({"text": key})),
    }
}

fn openai_call(deed: &Deed) -> Value {
    let browser = |input: Value| json!({"name": "browser", "input": input});
    match deed {
        Deed::Open(url) => browser(json!({"action": "navigate", "url": url, "look": true})),
        Deed::Click((x, y)) | Deed::TypeAt((x, y), _) => {
            json!({"action": {"type": "click", "button": "left", "x": x, "y": y}})
        }
        Deed::Type(text) => json!({"action": {"type": "type", "text": text}}),
        Deed::Press(key) => json!({"action": {"type": "keypress", "keys": [key.to_uppercase()]}}),
        Deed::Find(_) | Deed::ClickFound => browser(json!({"action": "read_page"})),
    }
}

fn predefined(
    deed: &Deed,
    wire: BrowserWire,
    (width, height): (u32, u32),
) -> (&'static str, Value) {
    let at = |(x, y): &(u32, u32)| ((2 * x + 1) * 500 / width, (2 * y + 1) * 500 / height);
    let is_first = wire == BrowserWire::FirstGemini;
    match deed {
        Deed::Open(url) => ("navigate", json!({"url": url})),
        Deed::Click(place) => {
            let (x, y) = at(place);
            let name = if is_first { "click_at" } else { "click" };
            (name, json!({"x": x, "y": y}))
        }
        Deed::TypeAt(place, text) => {
            let (x, y) = at(place);
            let args = json!({"x": x, "y": y, "text": text, "press_enter": false});
            ("type_text_at", args)
        }
        Deed::Type(text) => ("type", json!({"text": text})),
        Deed::Press(key) if is_first => ("key_combination", json!({"keys": key})),
        Deed::Press(key) => ("press_key", json!({"key": key})),
        Deed::Find(_) | Deed::ClickFound => ("take_screenshot", json!({})),
    }
}

fn function(deed: &Deed, found: &str) -> Value {
    match deed {
        Deed::Open(url) => json!({"action": "navigate", "url": url}),
        Deed::Click((x, y)) | Deed::TypeAt((x, y), _) => json!({"action": "click", "x": x, "y": y}),
        Deed::ClickFound => json!({"action": "click", "ref": found, "look": true}),
        Deed::Find(name) => json!({"action": "find", "text": name}),
        Deed::Type(text) => json!({"action": "type", "text": text}),
        Deed::Press(_) => json!({"action": "dialog", "accept": true}),
    }
}

fn computer(deed: &Deed) -> Value {
    match deed {
        Deed::Open(url) => json!({"type": "navigate", "url": url}),
        Deed::Click((x, y)) | Deed::TypeAt((x, y), _) => json!({"type": "click", "x": x, "y": y}),
        Deed::Type(text) => json!({"type": "type", "text": text}),
        Deed::Press(key) => json!({"type": "press", "key": key}),
        Deed::Find(_) | Deed::ClickFound => json!({"type": "wait", "ms": 1}),
    }
}
