//! How the types of `core` look on the wire, for the OpenAPI document.
//!
//! Nothing here is ever made. A test holds real answers and events against these descriptions.

#![expect(dead_code, reason = "these types only describe")]

pub(crate) mod event;
pub(crate) mod tool;

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// What a session is doing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionState {
    Initializing,
    Idle,
    Running,
    Waiting,
    Error,
    Terminated,
}

/// What a session's sandbox is doing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SandboxState {
    None,
    Starting,
    Ready,
    Paused,
    Stopped,
    Lost,
}

/// Who said a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

/// How a message reaches an agent that is at work. One that is not takes any message at once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Delivery {
    /// It waits for its turn.
    Queue,
    /// The agent is shown it at its next step.
    Steer,
    /// It ends the turn that runs and begins the next one.
    Interrupt,
}

/// The name of a picture: the SHA-256 of its bytes and its format.
#[derive(Serialize, ToSchema)]
#[schema(value_type = String, pattern = "^[0-9a-f]{64}\\.(png|jpg)$")]
pub(crate) struct BlobName(String);

/// The message that waits, and its session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WaitingPath {
    /// The session.
    id: Uuid,
    /// The message.
    message: Uuid,
}

/// The session that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SessionPath {
    /// The session.
    id: Uuid,
}
