//! Messages of the bus, which sends a user news about all their sessions over one WebSocket.

use deskhand_core::{
    event::Event,
    id::{DecisionId, SessionId},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{problem::ErrorView, sessions::SessionView};

/// A message from the server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum BusMessage {
    /// Your newest sessions, at most 200, newest first. It is sent once, as the first message.
    Snapshot(SnapshotData),
    /// A session is new or has changed.
    Session(Box<BusSession>),
    /// You can no longer see a session.
    SessionGone(SessionData),
    /// A notice that cannot wait.
    Notice(NoticeData),
    /// The events of a session follow.
    Subscribed(SessionData),
    /// No more events of a session follow.
    Unsubscribed(SessionData),
    /// The server refuses your request, or ends it.
    Refused(RefusedData),
    /// An event of a session that you asked for.
    Event(EventData),
}

/// A message from a client.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BusRequest {
    /// Asks for the events of a session: the past ones after `after`, then new ones.
    Subscribe {
        #[schema(value_type = Uuid)]
        session: SessionId,
        /// The number of the last event that you have seen. 0 is the beginning.
        #[serde(default)]
        after: u64,
    },
    /// Ends the events of a session.
    Unsubscribe {
        #[schema(value_type = Uuid)]
        session: SessionId,
    },
}

/// The sessions at the start.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BusSnapshot)]
pub struct SnapshotData {
    pub sessions: Vec<BusSession>,
}

/// A session and the decisions in it that wait for you.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BusSession {
    #[serde(flatten)]
    pub session: SessionView,
    /// True if the agent waits for an answer that you can give.
    pub needs_me: bool,
    /// The decisions that it waits for and you can answer, oldest first.
    #[schema(value_type = Vec<Uuid>)]
    pub decisions: Vec<DecisionId>,
}

/// The id of a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BusSessionId)]
pub struct SessionData {
    #[schema(value_type = Uuid)]
    pub session: SessionId,
}

/// A notice that concerns the user rather than a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BusNotice)]
pub struct NoticeData {
    /// `too_many_awake`, `too_many_today`, `shutting_down`, `session_offered`, `offer_accepted`, `offer_declined` or
    /// `offer_withdrawn`. A newer server may send others.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// A refused request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BusRefusal)]
pub struct RefusedData {
    /// Absent if the server could not read the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    pub session: Option<SessionId>,
    pub error: ErrorView,
}

/// An event with its session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BusEvent)]
pub struct EventData {
    #[schema(value_type = Uuid)]
    pub session: SessionId,
    /// The server passes on stored JSON without parsing it.
    #[schema(value_type = Event)]
    pub event: Box<RawValue>,
}
