//! The events of a session's log.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    BlobName, Delivery, Role, SandboxState, SessionState,
    budget::{Bound, Over},
    decision::{Check, DecisionKind, Form, Reply, SettledState, Subject},
    tool::Point,
};

/// A page of events, in order.
#[derive(Serialize, ToSchema)]
#[schema(as = EventsPage)]
pub(crate) struct EventsView {
    events: Vec<Event>,
}

/// One fact of a session's log. A newer server may send other types too: pass them over.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionEvent)]
pub(crate) struct Event {
    /// Counted from 1 in each session, without gaps.
    #[schema(minimum = 1)]
    seq: u64,
    at: Timestamp,
    #[serde(flatten)]
    body: EventBody,
}

/// What an event says, by its `type`.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub(crate) enum EventBody {
    Status(StatusData),
    Message(MessageData),
    Queue(QueueData),
    Lease(LeaseData),
    Thinking(SaidData),
    Text(SaidData),
    ToolUse(ToolUseData),
    ToolResult(ToolResultData),
    Screenshot(ScreenshotData),
    Decision(DecisionData),
    Answer(AnswerData),
    Cost(CostData),
    Retry(RetryData),
    Gateway(GatewayData),
    Model(ModelData),
    Notice(NoticeData),
    Error(ErrorData),
    Complete(CompleteData),
}

/// The session or its sandbox is in another state now.
#[derive(Serialize, ToSchema)]
pub(crate) struct StatusData {
    state: SessionState,
    sandbox: SandboxState,
    /// Why, where that is not plain.
    #[schema(required = false)]
    reason: String,
    /// The turn that begins here, takes up another message, or was held up and goes on.
    #[schema(required = false)]
    turn: Uuid,
    /// The message that this turn works on. A message that no status names is still waiting.
    #[schema(required = false)]
    prompt: Uuid,
}

/// A message was accepted, or the agent gave its answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageData {
    id: Uuid,
    role: Role,
    content: String,
    /// Who wrote it, when a person did.
    #[schema(required = false)]
    author: Uuid,
    /// Their name at that time.
    #[schema(required = false)]
    author_name: String,
    /// `queue` when it is absent.
    #[schema(required = false)]
    delivery: Delivery,
    /// Which model works on it, when it is not the session's.
    #[schema(required = false)]
    model: String,
    /// The turn that gave the answer.
    #[schema(required = false)]
    turn: Uuid,
}

/// A message was changed while it waited.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueData {
    message: Uuid,
    /// Who did it.
    by: Uuid,
    #[serde(flatten)]
    change: QueueChange,
}

/// What became of a message that waits.
#[derive(Serialize, ToSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum QueueChange {
    /// It says something else now.
    Edited { content: String },
    /// It is delivered in another way.
    Redelivered { delivery: Delivery },
    /// Another model works on it; the session's without a name.
    Reassigned {
        #[schema(required = false)]
        model: String,
    },
    /// It stands before another one, or last.
    Moved {
        #[schema(required = false)]
        before: Uuid,
    },
    /// The agent will never see it.
    Removed,
}

/// Somebody's lease of mouse and keyboard began, was made longer or ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeaseData {
    /// Whose lease it is, or was.
    user: Uuid,
    /// Their name at that time.
    name: String,
    #[serde(flatten)]
    change: LeaseChange,
}

/// What became of a lease.
#[derive(Serialize, ToSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum LeaseChange {
    Taken {
        until: Timestamp,
        /// Who had it until then, when the owner took it from somebody.
        #[schema(required = false)]
        from: Uuid,
    },
    Extended {
        until: Timestamp,
    },
    Ended {
        reason: LeaseEnd,
    },
}

/// Why a lease ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeaseEnd {
    /// They gave control back.
    HandedBack,
    /// Its time was over.
    Expired,
    /// All their streams and screens were gone for 15 seconds.
    Disconnected,
    /// They may not drive any more.
    RightLost,
    SessionEnded,
}

/// A piece of what the model thought or said. Pieces with one `turn` and `block` belong together.
#[derive(Serialize, ToSchema)]
pub(crate) struct SaidData {
    turn: Uuid,
    /// Counted from 0 in each turn, over thinking and text together.
    block: u32,
    text: String,
}

/// A tool is about to be used.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolUseData {
    /// Absent when a person did it by hand.
    #[schema(required = false)]
    turn: Uuid,
    /// Pairs the use with its result.
    call: String,
    /// A `Tool`, or what the model named instead of one.
    tool: String,
    /// A `ToolInput`, or what the model sent instead of one.
    input: serde_json::Value,
    /// A sentence for people: `Clicked at (783, 283)`. Absent where the tool could not read its input, and in logs of
    /// earlier versions.
    #[schema(required = false)]
    description: String,
    /// Who did it, when a person did.
    #[schema(required = false)]
    by: Uuid,
    /// What a person must agree to first.
    #[schema(required = false)]
    checks: Vec<Check>,
}

/// What came of a tool use.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolResultData {
    #[schema(required = false)]
    turn: Uuid,
    call: String,
    text: String,
    is_error: bool,
    duration_ms: u64,
    /// More of the same call follows; `text` is only what is new. The last result has it all.
    #[schema(required = false)]
    partial: bool,
    /// The text in parts, where it has points in it.
    #[schema(required = false)]
    parts: Vec<ResultPart>,
    /// Facts for programs: for `bash`, the directory `cwd` and, if the command ended, its `exit_code`.
    #[schema(required = false)]
    state: serde_json::Value,
}

/// A part of a result's text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultPart {
    Text(String),
    /// A point on the screen, written `(x, y)`.
    Point(Point),
    /// The same, written `X=…, Y=…`.
    Coordinates(Point),
}

/// The screen was looked at.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScreenshotData {
    #[schema(required = false)]
    turn: Uuid,
    /// The tool use it belongs to. Absent when the agent looks because people had control.
    #[schema(required = false)]
    call: String,
    blob: BlobName,
    width: u16,
    height: u16,
}

/// A person is asked something.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecisionData {
    turn: Uuid,
    decision: Uuid,
    /// The tool call that waits for it.
    #[schema(required = false)]
    call: String,
    kind: DecisionKind,
    /// The question, for people.
    prompt: String,
    form: Form,
    /// Exactly what would be done, where something would be.
    #[schema(required = false)]
    subject: Subject,
    /// The bound that would be passed, where that is why.
    #[schema(required = false)]
    over: Over,
    /// What counts as the answer when nobody gave one in time.
    #[schema(required = false)]
    default: Reply,
    /// It waits for ever without it.
    #[schema(required = false)]
    expires_at: Timestamp,
}

/// A decision is settled: it cannot be answered any more.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerData {
    turn: Uuid,
    decision: Uuid,
    state: SettledState,
    /// What counts, also when it is the default that came with the expiry.
    #[schema(required = false)]
    answer: Reply,
    /// Who answered, when a person did.
    #[schema(required = false)]
    by: Uuid,
}

/// What an answer of the model took. Unless it broke off it is whole: what the model said and asked for stands before this.
#[derive(Serialize, ToSchema)]
pub(crate) struct CostData {
    turn: Uuid,
    /// Which of the turn's answers it was, counted from 1.
    step: u32,
    /// What it cost in US dollars.
    usd: f64,
    /// Which model gave it.
    #[schema(required = false)]
    model: String,
    usage: UsageData,
    /// Whether nobody knows what the model costs, so that `usd` is no more than 0.
    #[schema(required = false)]
    unpriced: bool,
    /// Whether the model wanted to say more and could not.
    #[schema(required = false)]
    unfinished: bool,
    /// Whether it only says what the model is about to do, so that it is not the end.
    #[schema(required = false)]
    aside: bool,
    /// Whether it broke off, so that it is no answer and may have cost more.
    #[schema(required = false)]
    broken_off: bool,
}

/// What an answer took, in tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsageData {
    /// Read, and neither from the vendor's cache nor into it.
    input: u64,
    cache_write: u64,
    cache_read: u64,
    output: u64,
}

/// The model could not answer and is asked again.
#[derive(Serialize, ToSchema)]
pub(crate) struct RetryData {
    turn: Uuid,
    /// Which try failed, counted from 1 for each answer.
    attempt: u32,
    /// What went wrong, for people.
    message: String,
    /// When it is asked again.
    next_at: Timestamp,
    /// Which model is asked then, when it is another one.
    #[schema(required = false)]
    model: String,
}

/// A program in the sandbox has asked a model. It is no part of the conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct GatewayData {
    /// The turn that was under way. Absent when a person had control and the agent was not at work.
    #[schema(required = false)]
    turn: Uuid,
    /// `vendor/name`.
    model: String,
    /// What it cost in US dollars.
    usd: f64,
    usage: UsageData,
    /// Whether nobody knows what the model costs, so that `usd` is no more than 0.
    #[schema(required = false)]
    unpriced: bool,
    /// Whether the answer broke off, so that it may have cost more.
    #[schema(required = false)]
    unfinished: bool,
}

/// A person gave the session another model, from its next turn on.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelData {
    /// `vendor/name`.
    model: String,
    /// Who did it.
    by: Uuid,
    /// Their name at that time.
    by_name: String,
}

/// A turn comes close to a bound. The model is told as well.
#[derive(Serialize, ToSchema)]
pub(crate) struct NoticeData {
    turn: Uuid,
    bound: Bound,
    /// In the bound's own unit.
    used: f64,
    limit: f64,
    /// A sentence for people.
    message: String,
}

/// Something failed. With a `turn` it is that turn's end.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorData {
    #[schema(required = false)]
    turn: Uuid,
    /// Stable, for programs: `server_restarted`, `model_failed`, …
    code: String,
    /// A sentence for people: what happened and what to do.
    message: String,
}

/// A turn ended as it should, or because a person stopped it.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompleteData {
    turn: Uuid,
    outcome: Outcome,
    /// How many times the model was asked.
    n_steps: u32,
    duration_ms: u64,
    /// What it came up against, when that was the end.
    #[schema(required = false)]
    bound: Bound,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The model ended its turn.
    Done,
    /// A person stopped it.
    Stopped,
    /// A message was sent that could not wait. It begins the next turn.
    Interrupted,
    /// It came up against a bound, and a person said that it was enough.
    Enough,
}
