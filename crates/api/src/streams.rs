//! Streams of the Discord bot, for administrators.

use deskhand_core::{id::SessionId, stream::StreamState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A stream that somebody asked the Discord bot for. Ids of Discord are texts, since they do not fit into the numbers of
/// JavaScript.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Stream)]
pub struct StreamView {
    pub id: Uuid,
    pub state: StreamState,
    /// The link that is streamed.
    pub url: String,
    pub guild_id: String,
    #[schema(required)]
    pub guild_name: Option<String>,
    pub channel_id: String,
    pub channel_name: String,
    /// The person who asked for it.
    #[schema(required)]
    pub requester_id: Option<String>,
    /// The session that shows it. Null before there is one, and if it belongs to another user.
    #[schema(required, value_type = Option<Uuid>)]
    pub session: Option<SessionId>,
    /// The link by which people watch, while it is streaming.
    #[schema(required, format = "uri")]
    pub watch_url: Option<String>,
    /// The code of the error that ended it, such as `ERR_URL_UNREACHABLE`.
    #[schema(required)]
    pub error_code: Option<String>,
    /// A sentence about that error.
    #[schema(required)]
    pub error_message: Option<String>,
    pub created_at: Timestamp,
    /// The time from which on people could watch.
    #[schema(required)]
    pub started_at: Option<Timestamp>,
    #[schema(required)]
    pub ended_at: Option<Timestamp>,
    /// The number of answers of models.
    pub n_steps: u64,
    pub cost_usd: f64,
    /// The number of people who watch by links at this moment.
    pub n_watchers: u64,
}

/// A page of streams, newest first.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = StreamsPage)]
pub struct StreamsView {
    pub streams: Vec<StreamView>,
    /// The `before` of the next page, if there is one.
    #[schema(required)]
    pub next: Option<Uuid>,
}

/// The streams that have not ended, oldest first.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ActiveStreams)]
pub struct ActiveStreamsView {
    pub streams: Vec<StreamView>,
}

/// The figures of all streams so far.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = StreamFigures)]
pub struct StreamFiguresView {
    pub total_sessions: u64,
    /// Streams that people could watch and that ended without an error.
    pub successful_sessions: u64,
    pub failed_sessions: u64,
    pub total_streaming_seconds: f64,
    pub total_cost_usd: f64,
    /// The average time from a request until people could watch.
    pub avg_start_time_seconds: f64,
}

/// The result of one check of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamCheckState {
    Ok,
    /// Streams run, but not all that people may expect works.
    Warning,
    /// Streams do not run.
    Failed,
}

/// A check of one setting.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = StreamCheck)]
pub struct StreamCheckView {
    /// A stable name, such as `public_url`. A newer server may send others.
    pub name: String,
    pub state: StreamCheckState,
    /// A sentence for people, without its full stop.
    pub message: String,
    /// The way out, if something is to be done.
    #[schema(required)]
    pub remedy: Option<String>,
}

/// The state of the settings of streams.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = StreamSetup)]
pub struct StreamSetupView {
    /// True if this server runs streams.
    pub is_on: bool,
    pub checks: Vec<StreamCheckView>,
}
