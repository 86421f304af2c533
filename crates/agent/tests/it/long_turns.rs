//! Turns that are longer than the model's window.

use std::{
    collections::VecDeque,
    fmt::Write,
    sync::{Arc, Mutex},
};

use deskhand_agent::{ChosenModel, TurnEnd};
use deskhand_core::{
    decision::Reply,
    event::{EventBody, Summarized},
    id::TurnId,
    model::{
        Chunk, ContextWindow, End, Item, LongPrompts, Model, ModelError, ModelRequest, Pictures,
        Price, PriceSource, ToolCall, Usage,
    },
    sandbox::{SessionReply, SessionRequest},
    shell::ShellEnding,
};
use futures::{StreamExt, stream, stream::BoxStream};
use serde_json::json;

use crate::{
    fakes::{FakeBudgets, FakeSandbox, Reaction, printed},
    stage::{Stage, prompt},
};

const N_STEPS: usize = 400;
const TASK: &str = "Copy all 400 rows of the table by hand.";
const ANSWER: &str = "The invoice number is 7731-B.";
const SUMMARY: &str = "Rows are copied one by one with the shell and the mouse.";

/// A vendor that counts tokens and refuses what does not fit into its window.
#[derive(Debug)]
struct Vendor {
    window: u64,
    /// The window as Deskhand knows it.
    known: Option<u64>,
    pictures: Pictures,
    /// The length from which prompts cost more.
    long: Option<LongPrompts>,
    n_steps: usize,
    /// The errors that requests for a summary get, before they are answered.
    troubles: Mutex<VecDeque<ModelError>>,
    state: Mutex<VendorState>,
}

#[derive(Debug, Default)]
struct VendorState {
    n_answers: usize,
    n_summaries: usize,
    n_refused: usize,
    /// The tokens and bytes of every request that was answered with a step.
    steps: Vec<(u64, usize)>,
    last: String,
}

impl Vendor {
    fn new(window: u64, known: Option<u64>) -> Self {
        Self {
            window,
            known,
            pictures: Pictures::Newest,
            long: None,
            n_steps: N_STEPS,
            troubles: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// A vendor whose window is full after a few steps, and which gives these errors in place of the first summary.
    fn in_trouble(troubles: impl IntoIterator<Item = ModelError>) -> Self {
        Self {
            pictures: Pictures::All,
            n_steps: 30,
            troubles: Mutex::new(troubles.into_iter().collect()),
            ..Self::new(60_000, Some(60_000))
        }
    }

    fn answer(&self, request: &ModelRequest) -> Result<Vec<Chunk>, ModelError> {
        let (text, n_pictures, n_picture_bytes) = read(request);
        let input = u64::try_from(text.len()).unwrap() / 4 + n_pictures * 1_050;
        let mut state = self.state.lock().unwrap();
        if input > self.window {
            state.n_refused += 1;
            return Err(ModelError::TooLong(format!(
                "prompt is too long: {input} tokens > {} maximum",
                self.window
            )));
        }
        let usage = Chunk::Usage(Usage {
            input,
            output: 100,
            ..Usage::default()
        });
        let asks_for_summary = matches!(request.items.last(), Some(Item::Steering { text })
            if text.contains("Write a summary"));
        let said = if asks_for_summary {
            if let Some(trouble) = self.troubles.lock().unwrap().pop_front() {
                return Err(trouble);
            }
            state.n_summaries += 1;
            vec![Chunk::Text(SUMMARY.to_owned())]
        } else {
            state.steps.push((input, text.len() + n_picture_bytes));
            state.last = text;
            state.n_answers += 1;
            self.step(state.n_answers)
        };
        Ok([usage]
            .into_iter()
            .chain(said)
            .chain([Chunk::End(End::Done)])
            .collect())
    }

    /// Returns the answer of one step: a plan and a question, then commands and clicks.
    fn step(&self, number: usize) -> Vec<Chunk> {
        let call = |tool: &str, input| {
            Chunk::Call(ToolCall {
                id: format!("call_{number}_{tool}"),
                tool: tool.to_owned(),
                input,
                checks: Vec::new(),
                problem: None,
            })
        };
        match number {
            1 => vec![
                call(
                    "update_plan",
                    json!({"steps": [{"text": "Copy the rows", "state": "doing"}]}),
                ),
                call("ask_user", json!({"question": "Which invoice?"})),
            ],
            number if number == self.n_steps => {
                vec![Chunk::Text("All rows are copied.".to_owned())]
            }
            number if number.is_multiple_of(2) => {
                vec![call(
                    "bash",
                    json!({"shell": "run", "command": format!("./copy {number}")}),
                )]
            }
            number => vec![call(
                "computer",
                json!({"action": "click", "at": {"x": number, "y": 20}}),
            )],
        }
    }
}

/// Returns all text of a request, and the number and size of its pictures.
fn read(request: &ModelRequest) -> (String, u64, usize) {
    let mut text = request.system.clone();
    let (mut n_pictures, mut n_bytes) = (0, 0);
    for item in &request.items {
        let mut images = Vec::new();
        if let Item::HandedBack { image, .. } = item {
            images.extend(image);
        }
        if let Item::Results(results) = item {
            images.extend(results.iter().filter_map(|one| one.image.as_ref()));
        }
        for image in images {
            n_pictures += 1;
            n_bytes += image.bytes.len();
        }
        match item {
            Item::Prompt { text: words }
            | Item::Steering { text: words }
            | Item::Note { text: words }
            | Item::CutOff { text: words }
            | Item::HandedBack { text: words, .. } => text.push_str(words),
            Item::Answer {
                text: words, calls, ..
            } => {
                text.push_str(words);
                for call in calls {
                    write!(text, "{}", call.input).unwrap();
                }
            }
            Item::Results(results) => results.iter().for_each(|one| text.push_str(&one.text)),
            Item::Files(_) => {}
        }
    }
    (text, n_pictures, n_bytes)
}

impl Model for Vendor {
    fn pictures(&self) -> Pictures {
        self.pictures
    }

    fn window(&self) -> ContextWindow {
        ContextWindow {
            tokens: self.known,
            vendor_summarizes: false,
        }
    }

    fn price(&self) -> Option<Price> {
        Some(Price {
            input: 1.0,
            cache_write: 1.0,
            cache_read: 1.0,
            output: 1.0,
            long: self.long,
            source: PriceSource::Listed,
        })
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let beats: VecDeque<_> = match self.answer(&request) {
            Ok(chunks) => chunks.into_iter().map(Ok).collect(),
            Err(error) => [Err(error)].into(),
        };
        stream::iter(beats).boxed()
    }
}

/// Every command prints as much as the model is shown of one.
fn computer() -> Arc<FakeSandbox> {
    let output = printed(&"row ".repeat(5_000), ShellEnding::Exited { code: 0 });
    let print = Reaction::Answer(Ok(SessionReply::Shell(output)));
    FakeSandbox::reacting(move |request| {
        if matches!(request, SessionRequest::Shell(_)) {
            print.clone()
        } else {
            Reaction::Do
        }
    })
}

async fn work(vendor: Vendor) -> (Arc<Vendor>, Stage, TurnEnd) {
    work_on(TASK, vendor, None).await
}

async fn work_on(
    task: &str,
    vendor: Vendor,
    fallback: Option<Arc<Vendor>>,
) -> (Arc<Vendor>, Stage, TurnEnd) {
    let vendor = Arc::new(vendor);
    let mut stage = Stage::with_computers(Vec::new(), vec![computer()]);
    stage.history = vec![prompt(task)];
    stage.limits.max_steps = 1_000;
    *stage.people.replies.lock().unwrap() = [Reply::Text(ANSWER.to_owned())].into();
    let mut turn = stage.turn(TurnId::new());
    turn.model = ChosenModel {
        name: "fake/long".to_owned(),
        model: Arc::clone(&vendor) as _,
    };
    turn.fallback = fallback.map(|model| ChosenModel {
        name: "fake/other".to_owned(),
        model,
    });
    // No money is limited, and counting it would read the whole log at every step.
    turn.budgets = Arc::new(FakeBudgets::default());
    let end = turn.run().await.end;
    (vendor, stage, end)
}

fn assert_done_within(vendor: &Vendor, stage: &Stage, end: &TurnEnd) {
    let state = vendor.state.lock().unwrap();
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    assert_eq!(state.n_answers, vendor.n_steps);
    for kept in [TASK, ANSWER, "Copy the rows"] {
        assert!(state.last.contains(kept), "{kept:?} is gone");
    }
    // The last quarter costs no more than the second one.
    let quarter = |number: usize| {
        let size = state.steps.len() / 4;
        &state.steps[number * size..(number + 1) * size]
    };
    let tokens = |number: usize| quarter(number).iter().map(|step| step.0).sum::<u64>();
    let bytes = |number: usize| quarter(number).iter().map(|step| step.1).sum::<usize>();
    assert!(
        tokens(3) <= tokens(1) * 12 / 10,
        "{} {}",
        tokens(1),
        tokens(3)
    );
    assert!(bytes(3) <= bytes(1) * 12 / 10, "{} {}", bytes(1), bytes(3));
    let usd = |body: &EventBody| {
        let EventBody::Cost(cost) = body else {
            return None;
        };
        Some(cost.usd)
    };
    let costs: Vec<f64> = stage.log.bodies().iter().filter_map(usd).collect();
    let dollars = |costs: &[f64]| costs.iter().sum::<f64>();
    let size = costs.len() / 4;
    assert!(dollars(&costs[3 * size..]) <= dollars(&costs[size..2 * size]) * 1.3);
}

#[tokio::test]
async fn a_turn_of_400_steps_ends_well_on_a_window_of_200_000_tokens() {
    let (vendor, stage, end) = work(Vendor::new(200_000, Some(200_000))).await;
    assert_done_within(&vendor, &stage, &end);
    let state = vendor.state.lock().unwrap();
    assert_eq!(state.n_refused, 0);
    let is_summary = |body: &EventBody| matches!(body, EventBody::Summary(_));
    assert!(stage.log.bodies().iter().any(is_summary));
}

#[tokio::test]
async fn a_turn_of_400_steps_ends_well_on_a_local_window_of_32_000_tokens() {
    let (vendor, stage, end) = work(Vendor::new(32_000, Some(32_000))).await;
    assert_done_within(&vendor, &stage, &end);
    let state = vendor.state.lock().unwrap();
    assert_eq!(state.n_refused, 0);
    assert!(state.n_summaries > 0 && state.last.contains(SUMMARY));
}

#[tokio::test]
async fn a_conversation_that_the_vendor_finds_too_long_is_shortened_and_sent_again() {
    let (vendor, stage, end) = work(Vendor::new(32_000, None)).await;
    assert_done_within(&vendor, &stage, &end);
    assert!(vendor.state.lock().unwrap().n_refused > 0);
}

#[tokio::test]
async fn a_model_whose_history_may_not_change_is_summarized_at_once() {
    let vendor = Vendor {
        pictures: Pictures::All,
        n_steps: 60,
        ..Vendor::new(60_000, Some(60_000))
    };
    let (vendor, stage, end) = work(vendor).await;
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    assert_eq!(vendor.state.lock().unwrap().n_refused, 0);
    let is_summary =
        |body: &EventBody| matches!(body, EventBody::Summary(Summarized { text: Some(_), .. }));
    let is_short =
        |body: &EventBody| matches!(body, EventBody::Summary(Summarized { text: None, .. }));
    let bodies = stage.log.bodies();
    assert!(bodies.iter().any(is_summary) && !bodies.iter().any(is_short));
}

#[tokio::test]
async fn a_conversation_is_shortened_before_its_prompts_cost_more() {
    let vendor = Vendor {
        n_steps: 60,
        long: Some(LongPrompts {
            over_tokens: 32_000,
            input_factor: 2.0,
            output_factor: 1.5,
        }),
        ..Vendor::new(200_000, Some(200_000))
    };
    let (vendor, _, end) = work(vendor).await;
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    let state = vendor.state.lock().unwrap();
    let longest = state.steps.iter().map(|(tokens, _)| *tokens).max();
    assert!(longest.unwrap() < 32_000, "{longest:?}");
}

fn summaries(stage: &Stage) -> Vec<String> {
    let text = |body: EventBody| {
        let EventBody::Summary(summary) = body else {
            return None;
        };
        summary.text
    };
    stage.log.bodies().into_iter().filter_map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_summary_waits_for_a_vendor_that_is_away() {
    let away = || ModelError::unavailable("it is overloaded");
    let (vendor, stage, end) = work(Vendor::in_trouble((0..6).map(|_| away()))).await;
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    assert!(vendor.troubles.lock().unwrap().is_empty());
    let summaries = summaries(&stage);
    assert!(!summaries.is_empty());
    assert!(
        summaries.iter().all(|text| text == SUMMARY),
        "{summaries:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_is_away_for_long_or_rejects_the_key_takes_nothing_from_the_conversation() {
    let away = |_| ModelError::unavailable("it is overloaded");
    let rejected = ModelError::Rejected("invalid x-api-key".to_owned());
    for (troubles, told) in [
        (
            (0..200).map(away).collect(),
            "not available: it is overloaded",
        ),
        (vec![rejected], "invalid x-api-key"),
    ] {
        let (_, stage, end) = work(Vendor::in_trouble(troubles)).await;
        let TurnEnd::Failed(failure) = end else {
            panic!("{end:?}")
        };
        assert_eq!(failure.code, "model_failed");
        assert!(failure.message.contains(told), "{failure:?}");
        assert_eq!(summaries(&stage), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_calls_stands_for_a_summary_that_the_model_will_never_write() {
    let refused = ModelError::Refused("no".to_owned());
    let too_long = ModelError::TooLong("prompt is too long".to_owned());
    for trouble in [refused, too_long] {
        let (_, stage, end) = work(Vendor::in_trouble([trouble])).await;
        assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
        let summaries = summaries(&stage);
        assert!(
            summaries[0].contains("You could not write"),
            "{summaries:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn another_model_takes_over_from_one_that_is_away_when_a_summary_is_due() {
    let away = |_| ModelError::unavailable("it is overloaded");
    let vendor = Vendor::in_trouble((0..200).map(away));
    let other = Arc::new(Vendor {
        pictures: Pictures::All,
        n_steps: 15,
        // The people have answered the question of the first step.
        state: Mutex::new(VendorState {
            n_answers: 10,
            ..VendorState::default()
        }),
        ..Vendor::new(500_000, Some(500_000))
    });
    let (_, stage, end) = work_on(TASK, vendor, Some(Arc::clone(&other))).await;
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    assert_eq!(other.state.lock().unwrap().n_answers, 15);
    assert_eq!(summaries(&stage), Vec::<String>::new(), "it has more room");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_nearly_fills_the_window_is_not_summarized_again_and_again() {
    let vendor = Vendor {
        n_steps: 3,
        ..Vendor::new(32_000, Some(32_000))
    };
    let message = "A word. ".repeat(14_000);
    let (_, stage, end) = work_on(&message, vendor, None).await;
    assert!(matches!(end, TurnEnd::Done { .. }), "{end:?}");
    assert!(summaries(&stage).len() <= 2, "{}", summaries(&stage).len());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_fit_ends_the_turn_after_one_summary() {
    let vendor = Vendor::new(4_096, Some(4_096));
    let message = "A word. ".repeat(14_000);
    let (_, stage, end) = work_on(&message, vendor, None).await;
    let TurnEnd::Failed(failure) = end else {
        panic!("{end:?}")
    };
    assert!(
        failure.message.contains("Send a shorter message"),
        "{failure:?}"
    );
    assert_eq!(summaries(&stage).len(), 1);
}
