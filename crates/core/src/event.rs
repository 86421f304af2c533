//! Events: the numbered, append-only facts of a session's log.
//!
//! Everything people see is a view of the log. An event that was stored once stays readable, so fields are only ever
//! added, and [`EVENT_VERSION`] grows when a meaning changes.
//!
//! The serde representation of these types is both the stored format and the wire format. A new kind needs its struct
//! and one line in [`events!`]; a new field needs `#[serde(default)]`.

mod decisions;
mod ends;
mod files;
mod models;
mod network;
mod pages;
mod people;
mod queue;
mod settings;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    decisions::{DecisionRaised, DecisionSettled},
    ends::{Complete, Failure, Outcome},
    files::{Artifact, FilesPlaced, PlacedFile},
    models::{Cost, GatewayUse, ModelChanged, ModelTold, Retry, Summarized, ToldFacts},
    network::HostContacted,
    pages::PageOpened,
    people::HandedOver,
    queue::{QueueChange, QueueChanged},
    settings::SessionChanged,
};
use crate::{
    attachment::Attachment,
    blob::BlobName,
    browser::WebUrl,
    budget::Bound,
    id::{MessageId, TurnId, UserId},
    lease::LeaseChanged,
    message::{Delivery, Role},
    model::{Check, Effort},
    session::{Phase, SandboxState},
    tool::ResultPart,
};

/// The version written with every event.
pub const EVENT_VERSION: u16 = 1;

/// One fact of a session's log. A newer server may send other types too: ignore them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = SessionEvent)]
pub struct Event {
    /// Counted from 1 in each session, without gaps.
    #[schema(minimum = 1)]
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub body: EventBody,
}

/// An event as it is stored and sent. Its data is serialized to JSON once for all readers.
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
    /// Writes `{"seq":…,"type":…,"at":…,"data":…}`.
    pub fn wire(&self) -> String {
        let Self {
            seq,
            at,
            kind,
            data,
        } = self;
        format!(r#"{{"seq":{seq},"type":"{kind}","at":"{at}","data":{data}}}"#)
    }

    /// Parses the data.
    pub fn read(&self) -> Result<Event, serde_json::Error> {
        serde_json::from_str(&self.wire())
    }
}

/// Declares the kinds of events: the variant, its `type` on the wire and the struct of its `data`.
macro_rules! events {
    // The name is a `tt`: derive macros cannot read a `literal` that has passed through a macro.
    ($($kind:ident($name:tt): $data:ident,)+) => {
        /// The kind of an event and its data.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
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
    Network("network"): HostContacted,
    Model("model"): ModelChanged,
    Changed("changed"): SessionChanged,
    HandedOver("handed_over"): HandedOver,
    Plan("plan"): PlanChanged,
    Artifact("artifact"): Artifact,
    Placed("placed"): FilesPlaced,
    Opened("opened"): PageOpened,
    Notice("notice"): Notice,
    Told("told"): ModelTold,
    Summary("summary"): Summarized,
    Error("error"): Failure,
    Complete("complete"): Complete,
}

impl EventBody {
    /// The kinds whose newest event is a fact about the session until the next one. The session is shown with them.
    pub const STANDING: &'static [&'static str] = &["plan"];

    /// Returns the blobs that the event names.
    pub fn blobs(&self) -> Vec<&BlobName> {
        if let Self::Screenshot(Screenshot { blob, .. }) | Self::Artifact(Artifact { blob, .. }) =
            self
        {
            vec![blob]
        } else if let Self::Message(MessageSaid { attachments, .. }) = self {
            attachments.iter().map(|file| &file.blob).collect()
        } else {
            Vec::new()
        }
    }

    /// Returns true if the event changes a session's entry in lists: its state, title, model or open questions.
    pub fn changes_summary(&self) -> bool {
        matches!(
            self,
            Self::Status(_)
                | Self::Decision(_)
                | Self::Answer(_)
                | Self::Model(_)
                | Self::Changed(_)
                | Self::HandedOver(_)
        )
    }
}

/// The session or its sandbox changed state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StatusData)]
pub struct Status {
    pub state: Phase,
    pub sandbox: SandboxState,
    /// The reason, if it is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
    /// The turn that starts, takes another message, or resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// The message that the turn works on. A message that no status names is still waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub prompt: Option<MessageId>,
}

/// A message was accepted, or the agent gave its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MessageData)]
pub struct MessageSaid {
    #[schema(value_type = Uuid)]
    pub id: MessageId,
    pub role: Role,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub author: Option<UserId>,
    /// Their name at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub author_name: Option<String>,
    /// `queue` when it is absent.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub delivery: Delivery,
    /// The model that works on it, if it is not the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub model: Option<String>,
    /// The effort of the model that works on it, if it is not the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub effort: Option<Effort>,
    /// The turn that gave the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// The files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The page that the browser opens before the agent reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub start_url: Option<WebUrl>,
}

fn is_usual(delivery: &Delivery) -> bool {
    *delivery == Delivery::default()
}

/// A piece of the model's thinking or text. Pieces with the same `turn` and `block` belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SaidData)]
pub struct Said {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The number of the block in its turn, from 0. Thinking and text count together.
    pub block: u32,
    pub text: String,
}

/// A tool is about to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ToolUseData)]
pub struct ToolUse {
    /// Absent when a person did it by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// Pairs the use with its result.
    pub call: String,
    /// The tool's name, or the name that the model gave if there is no such tool.
    pub tool: String,
    /// The tool's input, or the text that the model sent if it was not valid input.
    pub input: serde_json::Value,
    /// A sentence for people: `Clicked at (783, 283)`. Absent if the tool could not read its input, and in logs of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub description: Option<String>,
    /// The person who did it by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub by: Option<UserId>,
    /// The points that a person must agree to first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// The result of a tool use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ToolResultData)]
pub struct ToolResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    pub call: String,
    pub text: String,
    #[serde(default)]
    #[schema(required)]
    pub is_error: bool,
    #[serde(default)]
    #[schema(required)]
    pub duration_ms: u64,
    /// More results of the same call follow, and `text` has only the new part. The last result has all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The text in parts, if it contains points: each model receives them in its own pixels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ResultPart>,
    /// Facts for programs, such as a command's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub state: Option<serde_json::Value>,
    /// The reason why the call was not carried out, or not to its end, if it did not fail by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub not_done: Option<NotDone>,
}

/// The reason why a call was not carried out, or not to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotDone {
    /// A person was asked and refused it.
    Refused,
    /// A person was asked, and nobody answered in time.
    Unanswered,
    /// The approval policy of the session refuses it.
    Forbidden,
    /// Something before it made it pointless: an earlier call failed, or the turn came to its end.
    Skipped,
    /// The turn was stopped. The call may have been carried out in part.
    Stopped,
}

/// The agent or a person took a screenshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ScreenshotData)]
pub struct Screenshot {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// The tool use it belongs to. Absent when the agent looks after a person had control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub call: Option<String>,
    pub blob: BlobName,
    pub width: u16,
    pub height: u16,
}

/// A turn is close to a bound. The model gets a note about it too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = NoticeData)]
pub struct Notice {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    pub bound: Bound,
    /// In the unit of the bound.
    pub used: f64,
    pub limit: f64,
    /// A sentence for people.
    pub message: String,
}

/// The agent changed its plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PlanData)]
pub struct PlanChanged {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// All steps, in order.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    pub text: String,
    pub state: StepState,
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    Doing,
    Done,
}
