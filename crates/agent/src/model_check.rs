//! Checks a model with two or three calls: it is shown a test card and told to click on it.

mod card;
mod trouble;

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{
        CallResult, Chunk, Item, Model, ModelError, ModelRequest, Original, RequestOptions,
        ToolCall, Usage,
    },
    model_check::{CheckVerdict, CheckedPoint, Finding, ModelReport},
    tool::{NativeTool, ToolSpecs},
};
use futures::StreamExt;

use self::card::{SCREEN, TARGET};
use crate::tools;

/// The maximum number of calls. Some models look at the screen before they click.
const MOST_CALLS: u32 = 4;
/// The timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The lines that make the beginning long enough for every vendor's cache.
const N_PADDING_LINES: u32 = 420;

const SYSTEM: &str = "You are being tested. You have a computer. Do exactly what you are told, with as few words as \
                      possible.";
const TASK: &str = "The screen shows one green disc. Click on its middle once with the tool `computer`, then say \
                    “done”.";
const SHOWN: &str = "[This is the screen:]";

/// Returns the approximate cost of a check, in US dollars. Returns `None` if the model has no known price.
pub fn estimate(model: &dyn Model) -> Option<f64> {
    let usage = Usage {
        input: 3_000,
        cache_write: 8_000,
        cache_read: 16_000,
        output: 600,
        ..Usage::default()
    };
    model.price().map(|price| price.of(&usage))
}

/// Checks the model called `name`.
pub async fn check(name: &str, model: &dyn Model) -> ModelReport {
    let mut check = Check::new(name, model);
    if let Err(finding) = check.run().await {
        check.findings.push(finding);
    }
    check.report()
}

/// A check under way.
#[derive(Debug)]
struct Check<'a> {
    name: &'a str,
    model: &'a dyn Model,
    shown: ScreenSize,
    items: Vec<Item>,
    findings: Vec<Finding>,
    n_calls: u32,
    usage: Usage,
}

/// An answer of the model.
#[derive(Debug, Default)]
struct HeardAnswer {
    thinking: String,
    text: String,
    calls: Vec<ToolCall>,
    original: Option<Original>,
    usage: Usage,
}

impl<'a> Check<'a> {
    fn new(name: &'a str, model: &'a dyn Model) -> Self {
        let shown = model.shown(SCREEN);
        let items = vec![
            Item::Prompt {
                text: TASK.to_owned(),
            },
            Item::HandedBack {
                text: SHOWN.to_owned(),
                image: card::with_target(shown),
            },
        ];
        Self {
            name,
            model,
            shown,
            items,
            findings: Vec::new(),
            n_calls: 0,
            usage: Usage::default(),
        }
    }

    /// Calls the model until it has clicked, and once more.
    async fn run(&mut self) -> Result<(), Finding> {
        loop {
            let heard = self.call().await.map_err(|error| match self.n_calls {
                1 => trouble::of_first(&error, self.shown),
                _ => trouble::of_second(&error),
            })?;
            if self.n_calls == 1 {
                let shown = self.shown;
                self.pass(
                    CheckedPoint::Answer,
                    "The vendor accepts the key and the model's name.".to_owned(),
                );
                self.pass(
                    CheckedPoint::Picture,
                    format!("The vendor accepts pictures of {shown}."),
                );
            }
            let clicked = heard.calls.iter().find_map(clicked_at);
            if clicked.is_none() && (heard.calls.is_empty() || self.n_calls + 1 >= MOST_CALLS) {
                return Err(trouble::no_click(&heard.text, &heard.calls));
            }
            self.answer(heard);
            if let Some(at) = clicked {
                self.pass(
                    CheckedPoint::Tools,
                    "The model calls the computer.".to_owned(),
                );
                self.findings.push(trouble::of_click(at, self.name));
                break;
            }
        }
        let second = self
            .call()
            .await
            .map_err(|error| trouble::of_second(&error))?;
        self.pass(
            CheckedPoint::SecondStep,
            "The vendor accepts its own first answer in the next call.".to_owned(),
        );
        if self.has_padding() {
            self.findings.push(trouble::of_cache(second.usage));
        }
        Ok(())
    }

    async fn call(&mut self) -> Result<HeardAnswer, ModelError> {
        self.n_calls += 1;
        let request = ModelRequest {
            system: self.system(),
            screen: SCREEN,
            shown: self.shown,
            page: None,
            tools: computer(self.shown),
            items: self.items.clone(),
            options: RequestOptions {
                cache_key: Some("deskhand-models-check".to_owned()),
                effort: None,
            },
        };
        let listening = listen(self.model, request);
        let heard = tokio::time::timeout(CALL_TIMEOUT, listening)
            .await
            .unwrap_or_else(|_| Err(ModelError::unavailable("it did not answer in time")))?;
        self.usage = self.usage.plus(heard.usage);
        Ok(heard)
    }

    /// Adds an answer and the results of its calls to the conversation.
    fn answer(&mut self, heard: HeardAnswer) {
        let mut has_clicked = false;
        let results = heard.calls.iter().map(|call| {
            has_clicked |= clicked_at(call).is_some();
            let image = if has_clicked {
                card::without_target(self.shown)
            } else {
                card::with_target(self.shown)
            };
            CallResult {
                call: call.id.clone(),
                text: call.problem.clone().unwrap_or_else(|| "OK".to_owned()),
                is_error: call.problem.is_some(),
                image: image.filter(|_| call.problem.is_none()),
                browser: None,
            }
        });
        let results = Item::Results(results.collect());
        self.items.push(Item::Answer {
            thinking: heard.thinking,
            text: heard.text,
            calls: heard.calls,
            original: heard.original,
        });
        self.items.push(results);
    }

    /// Returns true if the beginning is made long enough for caches. Models on a machine of one's own have none that
    /// costs money, and often little room.
    fn has_padding(&self) -> bool {
        self.model.price().is_some() || self.model.has_unknown_price()
    }

    fn system(&self) -> String {
        let mut system = SYSTEM.to_owned();
        if self.has_padding() {
            let lines = 1..=N_PADDING_LINES;
            system.extend(lines.map(|line| format!("\nLine {line} only makes this text longer.")));
        }
        system
    }

    fn pass(&mut self, point: CheckedPoint, text: String) {
        self.findings.push(Finding {
            point,
            verdict: CheckVerdict::Passed,
            text,
            remedy: None,
        });
    }

    /// Adds the price and the points that were not reached.
    fn report(mut self) -> ModelReport {
        self.findings.push(trouble::of_price(self.name, self.model));
        let points = [
            CheckedPoint::Answer,
            CheckedPoint::Picture,
            CheckedPoint::Tools,
            CheckedPoint::Click,
            CheckedPoint::SecondStep,
            CheckedPoint::Cache,
            CheckedPoint::Price,
        ];
        let mut found = self.findings;
        let findings = points.map(|point| {
            let of_point = |finding: &Finding| finding.point == point;
            let has_failed =
                |finding: &Finding| of_point(finding) && finding.verdict == CheckVerdict::Failed;
            // A failure counts, whatever passed before it.
            let at = found.iter().position(has_failed);
            let at = at.or_else(|| found.iter().position(of_point));
            at.map_or_else(|| trouble::skipped(point), |at| found.swap_remove(at))
        });
        ModelReport {
            findings: findings.into(),
            n_calls: self.n_calls,
            cost_usd: self.model.price().map(|price| price.of(&self.usage)),
        }
    }
}

/// Returns the offer of the computer alone.
fn computer(shown: ScreenSize) -> ToolSpecs {
    let all = tools::all().specs(shown);
    let computer = all
        .iter()
        .filter(|spec| spec.native == Some(NativeTool::Computer));
    Arc::from_iter(computer.cloned())
}

async fn listen(model: &dyn Model, request: ModelRequest) -> Result<HeardAnswer, ModelError> {
    let mut heard = HeardAnswer::default();
    let mut chunks = model.stream(request);
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Thinking(piece) => heard.thinking.push_str(&piece),
            Chunk::Text(piece) => heard.text.push_str(&piece),
            Chunk::Call(call) => heard.calls.push(call),
            Chunk::Original(original) => heard.original = Some(original),
            Chunk::Usage(usage) => heard.usage = usage,
            Chunk::ThinkingStart | Chunk::TextStart | Chunk::End(_) => {}
        }
    }
    Ok(heard)
}

/// Returns the place that a call clicks on, on the screen.
fn clicked_at(call: &ToolCall) -> Option<Point> {
    if call.problem.is_some() || call.input["action"] != "click" {
        return None;
    }
    serde_json::from_value(call.input["at"].clone()).ok()
}

/// Returns true if a place is on the disc, or nearly.
fn is_hit(at: Point) -> bool {
    let (dx, dy) = (at.x - TARGET.x, at.y - TARGET.y);
    dx * dx + dy * dy <= card::RADIUS * card::RADIUS
}
