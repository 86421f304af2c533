//! The controller's answers and updates.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use crate::{
    contract::{MessageRef, StreamState},
    error_code::ErrorCode,
};

/// Answers a [`StreamRequest`](super::StreamRequest).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamResponse {
    pub session_id: Uuid,
    pub status: StreamVerdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The estimated time until the stream starts, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_start_time: Option<f64>,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamVerdict {
    Accepted,
    Rejected,
    /// The same request was accepted before.
    InProgress,
}

/// Asks for the end of a stream. The session is in the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRequest {
    #[serde(default = "StopRequest::by_user")]
    pub reason: String,
}

impl StopRequest {
    fn by_user() -> String {
        "user_requested".into()
    }
}

impl Default for StopRequest {
    fn default() -> Self {
        Self {
            reason: Self::by_user(),
        }
    }
}

/// Tells the bot about a change of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusUpdate {
    pub session_id: Uuid,
    #[serde(serialize_with = "failed_as_error")]
    pub status: StreamState,
    /// The reason, or the step that is being done. It may come from a model or a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The link by which people watch. It is there from `streaming` on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_url: Option<String>,
    pub timestamp: Timestamp,
}

/// The contract calls the failed state of an update `error`.
fn failed_as_error<S: Serializer>(state: &StreamState, serializer: S) -> Result<S::Ok, S::Error> {
    match state {
        StreamState::Failed => serializer.serialize_str("error"),
        StreamState::Pending
        | StreamState::Starting
        | StreamState::Streaming
        | StreamState::Stopping
        | StreamState::Ended => state.serialize(serializer),
    }
}

/// The controller's knowledge of one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    pub session_id: Uuid,
    pub status: StreamState,
    pub url: String,
    pub guild_id: u64,
    pub channel_id: u64,
    pub channel_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<MessageRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The number of steps that the agent has taken.
    #[serde(default)]
    pub agent_iterations: u64,
    #[serde(default)]
    pub agent_cost_usd: f64,
    /// The number of people who watch by links at this moment.
    #[serde(default)]
    pub viewer_count: u64,
}

/// The figures of all streams so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionMetrics {
    pub total_sessions: u64,
    /// Streams that people could watch and that ended without an error.
    pub successful_sessions: u64,
    pub failed_sessions: u64,
    pub total_streaming_seconds: f64,
    pub total_cost_usd: f64,
    /// The average time from a request until people could watch.
    pub avg_start_time_seconds: f64,
}

/// The state of the controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthResponse {
    pub status: Health,
    pub sandbox_ready: bool,
    pub active_sessions: u64,
    pub version: String,
}

/// The health of the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Healthy,
    Degraded,
    Unhealthy,
}

/// The body of a response with an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub error: ErrorCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn updates_are_written_as_in_the_contract() {
        let json = json!({
            "session_id": "550e8400-e29b-41d4-a716-446655440000",
            "status": "streaming",
            "message": "Screen share active",
            "timestamp": "2026-02-07T12:34:56Z"
        });
        let update: StatusUpdate = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(update.status, StreamState::Streaming);
        assert_eq!(serde_json::to_value(&update).unwrap(), json);

        let failed = StatusUpdate {
            status: StreamState::Failed,
            error_code: Some(ErrorCode::Unknown),
            ..update
        };
        let json = serde_json::to_value(&failed).unwrap();
        assert_eq!(json["status"], "error");
        assert_eq!(json["error_code"], "ERR_UNKNOWN");
        assert_eq!(
            serde_json::from_value::<StatusUpdate>(json).unwrap(),
            failed
        );
    }

    #[test]
    fn the_other_bodies_are_written_as_in_the_contract() {
        let response = json!({
            "session_id": "550e8400-e29b-41d4-a716-446655440000",
            "status": "accepted",
            "message": "Stream starting",
            "estimated_start_time": 45.0
        });
        let read: StreamResponse = serde_json::from_value(response.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), response);

        let health = json!({
            "status": "healthy", "sandbox_ready": true, "active_sessions": 0, "version": "1.0.0"
        });
        let read: HealthResponse = serde_json::from_value(health.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), health);

        let stop: StopRequest = serde_json::from_value(json!({})).unwrap();
        assert_eq!(stop, StopRequest::default());
        assert_eq!(
            serde_json::to_value(stop).unwrap(),
            json!({"reason": "user_requested"})
        );
    }
}
