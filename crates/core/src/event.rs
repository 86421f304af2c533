//! Events: the numbered, append-only facts of a session's log.
//!
//! Everything people see is a view of the log. What is written once can be read for ever, so
//! fields are only ever added, and [`EVENT_VERSION`] grows when a meaning changes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    blob::BlobName,
    budget::Bound,
    decision::{Ask, DecisionState, Reply},
    id::{DecisionId, MessageId, TurnId, UserId},
    lease::LeaseChanged,
    message::{Delivery, Role},
    model::{Check, Usage},
    session::{Phase, SandboxState},
};

/// The version written with every event.
pub const EVENT_VERSION: u16 = 1;

/// One fact of a session's log. On the wire: `{"seq", "at", "type", "data"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counted from 1 in each session, without gaps.
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub body: EventBody,
}

/// An event as it is stored and sent: its data already written as JSON, once for everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEvent {
    pub seq: u64,
    pub at: Timestamp,
    /// [`EventBody::kind`].
    pub kind: String,
    /// JSON.
    pub data: String,
}

impl LoggedEvent {
    /// `{"seq":…,"type":…,"at":…,"data":…}`.
    pub fn wire(&self) -> String {
        let Self {
            seq,
            at,
            kind,
            data,
        } = self;
        format!(r#"{{"seq":{seq},"type":"{kind}","at":"{at}","data":{data}}}"#)
    }

    /// The event with its data read.
    pub fn read(&self) -> Result<Event, serde_json::Error> {
        serde_json::from_str(&self.wire())
    }
}

/// Declares the kinds of events: the variant, its `type` on the wire and the struct of its `data`.
macro_rules! events {
    ($($kind:ident($name:literal): $data:ident,)+) => {
        /// The kind of an event and its data.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "data")]
        pub enum EventBody {
            $(#[serde(rename = $name)] $kind($data),)+
        }

        impl EventBody {
            /// The `type` of every kind, in the order of their declaration.
            pub const KINDS: &'static [&'static str] = &[$($name),+];

            /// Returns the `type` on the wire.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)+
                }
            }

            /// Writes the `data` on the wire.
            pub fn data(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$kind(data) => serde_json::to_string(data),)+
                }
            }
        }
    };
}

events! {
    Status("status"): Status,
    Message("message"): MessageSaid,
    Queue("queue"): QueueChanged,
    Lease("lease"): LeaseChanged,
    Thinking("thinking"): Said,
    Text("text"): Said,
    ToolUse("tool_use"): ToolUse,
    ToolResult("tool_result"): ToolResult,
    Screenshot("screenshot"): Screenshot,
    Decision("decision"): DecisionRaised,
    Answer("answer"): DecisionSettled,
    Cost("cost"): Cost,
    Retry("retry"): Retry,
    Gateway("gateway"): GatewayUse,
    Model("model"): ModelChanged,
    Notice("notice"): Notice,
    Error("error"): Failure,
    Complete("complete"): Complete,
}

/// The session or its sandbox is in another state now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub state: Phase,
    pub sandbox: SandboxState,
    /// Why, where that is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The turn that begins here, takes up another message, or was held up and goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The message that this turn works on. A message that no status names is still waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<MessageId>,
}

/// A message was accepted, or the agent gave its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSaid {
    pub id: MessageId,
    pub role: Role,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// Their name at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    /// How it was sent.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub delivery: Delivery,
    /// Which model works on it, when it is not the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The turn that gave the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
}

fn is_usual(delivery: &Delivery) -> bool {
    *delivery == Delivery::default()
}

/// A message was changed while it waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueChanged {
    pub message: MessageId,
    pub by: UserId,
    #[serde(flatten)]
    pub change: QueueChange,
}

/// What became of a message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum QueueChange {
    /// It says something else now.
    Edited { content: String },
    /// It is delivered in another way.
    Redelivered { delivery: Delivery },
    /// Another model works on it; the session's without a name.
    Reassigned {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// It stands before another one, or last.
    Moved {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<MessageId>,
    },
    /// The agent will never see it.
    Removed,
}

/// A piece of what the model thought or said. Pieces with one `turn` and `block` belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub turn: TurnId,
    /// Counted from 0 in each turn, over thinking and text together.
    pub block: u32,
    pub text: String,
}

/// A tool is about to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Absent when a person did it by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// Pairs the use with its result.
    pub call: String,
    /// `computer`, `bash`, `editor`, `ask_user` or `fill_secret`.
    pub tool: String,
    /// An `Action`, `ShellRequest`, `EditCommand`, `Question` or `FillSecret`, or what the model sent instead of one.
    pub input: serde_json::Value,
    /// Who did it, when a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
    /// What a person must agree to first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// What came of a tool use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    pub call: String,
    pub text: String,
    #[serde(default)]
    pub is_error: bool,
    #[serde(default)]
    pub duration_ms: u64,
    /// More of the same call follows; `text` is only what is new. The last result has it all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// The screen was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screenshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The tool use it belongs to. Absent when the agent looks because people had control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub blob: BlobName,
    pub width: u16,
    pub height: u16,
}

/// A person is asked something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRaised {
    pub turn: TurnId,
    pub decision: DecisionId,
    #[serde(flatten)]
    pub ask: Ask,
}

/// A decision is settled: it cannot be answered any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionSettled {
    pub turn: TurnId,
    pub decision: DecisionId,
    /// Never `open`.
    pub state: DecisionState,
    /// What counts, also when it is the default that came with the expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Reply>,
    /// Who answered, when a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
}

/// What an answer of the model took. Unless it broke off it is whole: what the model said and asked for stands before this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub turn: TurnId,
    /// Which of the turn's answers it was, counted from 1.
    pub step: u32,
    /// What it cost in US dollars.
    pub usd: f64,
    /// Which model gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// What it took.
    #[serde(default)]
    pub usage: Usage,
    /// Whether nobody knows what the model costs, so that `usd` is no more than 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Whether the model wanted to say more and could not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Whether it only says what the model is about to do, so that it is not the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
    /// Whether it broke off, so that it is no answer and may have cost more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken_off: bool,
}

/// The model could not answer and is asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    pub turn: TurnId,
    /// Which try failed, counted from 1 for each answer.
    pub attempt: u32,
    /// What went wrong, for people.
    pub message: String,
    /// When it is asked again.
    pub next_at: Timestamp,
    /// Which model is asked then, when it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A program in the sandbox has asked a model. It is no part of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GatewayUse {
    /// The turn that was under way. Absent when a person had control and the agent was not at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// `vendor/name`.
    pub model: String,
    /// What it cost in US dollars.
    pub usd: f64,
    pub usage: Usage,
    /// Whether nobody knows what the model costs, so that `usd` is no more than 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Whether the answer broke off, so that it may have cost more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// A person gave the session another model, from its next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChanged {
    /// `vendor/name`.
    pub model: String,
    pub by: UserId,
    /// Their name at that time.
    pub by_name: String,
}

/// A turn comes close to a bound. The model is told as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub turn: TurnId,
    pub bound: Bound,
    /// In the bound's own unit.
    pub used: f64,
    pub limit: f64,
    /// A sentence for people.
    pub message: String,
}

/// Something failed. With a `turn` it is that turn's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// Stable, for programs: `server_restarted`, `model_failed`, …
    pub code: String,
    /// A sentence for people: what happened and what to do.
    pub message: String,
}

/// A turn ended as it should, or because a person stopped it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    pub turn: TurnId,
    pub outcome: Outcome,
    /// How many times the model was asked.
    pub n_steps: u32,
    pub duration_ms: u64,
    /// What it came up against, when that was the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The model ended its turn.
    Done,
    /// A person stopped it.
    Stopped,
    /// A message was sent that could not wait. It begins the next turn.
    Interrupted,
    /// It came up against a bound, and a person said that it was enough.
    Enough,
}
