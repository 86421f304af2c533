//! Sets up a turn, runs it, and tells what happened.

use std::sync::{Arc, Mutex};

use deskhand_agent::{
    Briefing, ChosenModel, Originals, SystemPrompt, Turn, TurnEnd, TurnLimits, TurnReport, tools,
};
use deskhand_core::{
    action::ScreenSize,
    clock::Clock,
    event::{Complete, Event, EventBody, Failure, MessageSaid, NotDone, Outcome},
    id::{MessageId, TurnId},
    message::{Delivery, Role},
    model::{Chunk, End, ModelError, RequestOptions, ToolCall},
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::fakes::{
    Beat, FakeBlobs, FakeBudgets, FakeDesk, FakeLog, FakeModel, FakePeople, FakeRemote,
    FakeSandbox, FixedClock,
};

/// Everything a turn needs, for the test to set and to look at.
pub(crate) struct Stage {
    pub(crate) model: Arc<FakeModel>,
    pub(crate) fallback: Option<Arc<FakeModel>>,
    pub(crate) desk: Arc<FakeDesk>,
    pub(crate) log: Arc<FakeLog>,
    pub(crate) blobs: Arc<FakeBlobs>,
    pub(crate) history: Vec<EventBody>,
    pub(crate) limits: TurnLimits,
    pub(crate) stop: CancellationToken,
    pub(crate) parking: CancellationToken,
    pub(crate) people: Arc<FakePeople>,
    pub(crate) remote: Arc<FakeRemote>,
    pub(crate) tools: tools::ToolSet,
    pub(crate) briefing: Briefing,
    pub(crate) prompt: SystemPrompt,
}

impl Stage {
    /// A model with these answers and one computer that does everything.
    pub(crate) fn new(answers: Vec<Vec<Beat>>) -> Self {
        Self::with_computers(answers, vec![FakeSandbox::new(Vec::new())])
    }

    pub(crate) fn with_computers(
        answers: Vec<Vec<Beat>>,
        computers: Vec<Arc<FakeSandbox>>,
    ) -> Self {
        Self {
            model: FakeModel::new(answers),
            fallback: None,
            desk: Arc::new(FakeDesk {
                computers: Mutex::new(computers.into()),
                n_asked: Mutex::default(),
                runs_out: false,
                is_taken: watch::Sender::new(false),
                places: Mutex::default(),
            }),
            log: Arc::default(),
            blobs: Arc::default(),
            history: vec![prompt("do it")],
            limits: TurnLimits::default(),
            stop: CancellationToken::new(),
            parking: CancellationToken::new(),
            people: Arc::default(),
            remote: Arc::default(),
            tools: tools::all(),
            briefing: Briefing::new(&SystemPrompt::default(), &tools::all(), FixedClock.now()),
            prompt: SystemPrompt::default(),
        }
    }

    pub(crate) async fn run(&self) -> TurnReport {
        self.turn(TurnId::new()).run().await
    }

    pub(crate) fn turn(&self, id: TurnId) -> Turn {
        let events = self.history.iter().zip(1..).map(|(body, seq)| Event {
            seq,
            at: "2026-07-03T12:00:00Z".parse().unwrap(),
            body: body.clone(),
        });
        Turn {
            id,
            model: ChosenModel {
                name: "fake/model".to_owned(),
                model: Arc::clone(&self.model) as _,
            },
            tools: self.tools.clone(),
            fallback: self.fallback.as_ref().map(|model| ChosenModel {
                name: "fake/other".to_owned(),
                model: Arc::clone(model) as _,
            }),
            desk: Arc::clone(&self.desk) as _,
            log: Arc::clone(&self.log) as _,
            decisions: Arc::clone(&self.people) as _,
            budgets: Arc::new(FakeBudgets {
                accounts: self.people.accounts.clone(),
                log: Arc::clone(&self.log),
            }),
            remote: Arc::clone(&self.remote) as _,
            blobs: Arc::clone(&self.blobs) as _,
            history: events.collect(),
            originals: Originals::new(),
            briefing: self.briefing.clone(),
            prompt: self.prompt.clone(),
            screen: ScreenSize::default(),
            options: RequestOptions::default(),
            limits: self.limits.clone(),
            clock: Arc::new(FixedClock),
            stop: self.stop.clone(),
            parking: self.parking.clone(),
        }
    }

    /// The log, an event per line and a line between transactions.
    pub(crate) fn story(&self) -> String {
        let appended = self.log.appended.borrow();
        let transactions = appended.iter().map(|bodies| {
            let lines: Vec<String> = bodies.iter().map(line).collect();
            lines.join("\n")
        });
        transactions.collect::<Vec<_>>().join("\n-\n")
    }

    /// The calls that were not done, with the reasons.
    pub(crate) fn not_done(&self) -> Vec<(String, NotDone)> {
        let appended = self.log.appended.borrow();
        let results = appended.iter().flatten().filter_map(|body| {
            let EventBody::ToolResult(result) = body else {
                return None;
            };
            Some((result.call.clone(), result.not_done?))
        });
        results.collect()
    }

    /// The text and the picture of every result that the model was shown last.
    pub(crate) fn shown(&self) -> Vec<deskhand_core::model::Item> {
        let requests = self.model.requests.lock().unwrap();
        requests.last().unwrap().items.clone()
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the agent logs no other kind of event by itself"
)]
fn line(body: &EventBody) -> String {
    match body {
        EventBody::Thinking(said) => format!("thinking {} {:?}", said.block, said.text),
        EventBody::Text(said) => format!("text {} {:?}", said.block, said.text),
        EventBody::ToolUse(tool_use) => {
            format!("use {} {} {}", tool_use.call, tool_use.tool, tool_use.input)
        }
        EventBody::ToolResult(result) => format!(
            "{}{} {} {:?}",
            if result.partial { "partial " } else { "" },
            if result.is_error { "error" } else { "result" },
            result.call,
            result.text
        ),
        EventBody::Screenshot(screenshot) => {
            format!("screenshot {}", screenshot.call.as_deref().unwrap_or("-"))
        }
        EventBody::Cost(cost) if cost.broken_off => {
            format!("broken off {} {} tokens", cost.step, cost.usage.tokens())
        }
        EventBody::Cost(cost) => format!("whole {}", cost.step),
        EventBody::Retry(retry) => format!(
            "retry {} {:?}{}",
            retry.attempt,
            retry.message,
            retry
                .model
                .as_deref()
                .map(|model| format!(" with {model}"))
                .unwrap_or_default()
        ),
        EventBody::Notice(notice) => format!("notice {:?} {:?}", notice.bound, notice.message),
        EventBody::Told(told) => format!("told {:?}", told.text),
        _ => format!("unexpected {body:?}"),
    }
}

/// How a turn ended, in one line.
pub(crate) fn ending(report: &TurnReport) -> String {
    let end = match &report.end {
        TurnEnd::Done { answer } => format!("done: {answer}"),
        TurnEnd::Stopped => "stopped".to_owned(),
        TurnEnd::Enough { bound } => format!("enough: {bound:?}"),
        TurnEnd::Failed(failure) => format!("{}: {}", failure.code, failure.message),
        TurnEnd::LogLost(error) => format!("log lost: {error}"),
    };
    format!("{end} (steps: {})", report.n_steps)
}

pub(crate) fn prompt(content: &str) -> EventBody {
    EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::User,
        content: content.to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::default(),
        model: None,
        effort: None,
        turn: None,
        attachments: Vec::new(),
        start_url: None,
    })
}

/// An answer that only speaks.
pub(crate) fn says(text: &str) -> Vec<Beat> {
    vec![
        Beat::Say(Chunk::TextStart),
        Beat::Say(Chunk::Text(text.to_owned())),
        Beat::Say(Chunk::End(End::Done)),
    ]
}

/// An answer that ends like this.
pub(crate) fn ends(mut answer: Vec<Beat>, end: End) -> Vec<Beat> {
    answer.pop();
    answer.push(Beat::Say(Chunk::End(end)));
    answer
}

/// An answer that uses tools; the calls are named a, b, c…
pub(crate) fn calls(calls: Vec<(&str, Value)>) -> Vec<Beat> {
    let ids = ('a'..='z').map(String::from);
    let calls = ids.zip(calls).map(|(id, (tool, input))| {
        Beat::Say(Chunk::Call(ToolCall {
            id,
            tool: tool.to_owned(),
            input,
            checks: Vec::new(),
            problem: None,
        }))
    });
    calls.chain([Beat::Say(Chunk::End(End::Done))]).collect()
}

pub(crate) fn fails(error: ModelError) -> Vec<Beat> {
    vec![Beat::Fail(error)]
}

pub(crate) fn click(x: i32, y: i32) -> (&'static str, Value) {
    (
        "computer",
        json!({"action": "click", "at": {"x": x, "y": y}}),
    )
}

pub(crate) fn types(text: &str) -> (&'static str, Value) {
    ("computer", json!({"action": "type", "text": text}))
}

pub(crate) fn screenshot() -> (&'static str, Value) {
    ("computer", json!({"action": "screenshot"}))
}

pub(crate) fn runs(command: &str) -> (&'static str, Value) {
    ("bash", json!({"shell": "run", "command": command}))
}

pub(crate) fn views(path: &str) -> (&'static str, Value) {
    ("editor", json!({"command": "view", "path": path}))
}

pub(crate) fn complete(turn: TurnId, outcome: Outcome) -> EventBody {
    EventBody::Complete(Complete {
        turn,
        outcome,
        n_steps: 1,
        duration_ms: 1,
        bound: None,
    })
}

pub(crate) fn failure(turn: Option<TurnId>, message: &str) -> EventBody {
    EventBody::Error(Failure {
        turn,
        code: "model_failed".to_owned(),
        message: message.to_owned(),
    })
}
