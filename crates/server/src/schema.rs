//! How the types of `core` look on the wire, for the OpenAPI document.
//!
//! Nothing here is ever made. A test holds real answers and events against these descriptions.

#![expect(dead_code, reason = "these types only describe")]

pub(crate) mod budget;
pub(crate) mod decision;
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

/// What somebody may do in a session. Each right includes those before it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Right {
    /// Read everything and watch the screen.
    View,
    /// Also send messages.
    Suggest,
    /// Also stop the agent and take control.
    Drive,
    /// Also name, share and end the session.
    Owner,
}

/// A right that the owner can give.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GivenRight {
    View,
    Suggest,
    Drive,
}

/// What a user is to the server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UserRole {
    /// Also manages users. Sees no more of other people's sessions than anybody else.
    Admin,
    Member,
}

/// What a token is good for. Each scope but `metrics` includes those before it; `admin` includes all.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Only `/metrics`, for an administrator's monitoring.
    Metrics,
    /// Reading and watching.
    Read,
    /// Also everything else with sessions.
    Write,
    /// Also the account: tokens, sign-in links and, for an administrator, users.
    Admin,
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

/// A decision, and its session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DecisionPath {
    /// The session.
    id: Uuid,
    /// The decision.
    decision: Uuid,
}

/// A person in a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct PersonPath {
    /// The session.
    id: Uuid,
    /// The user, by id or name.
    user: String,
}

/// A link into a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SharePath {
    /// The session.
    id: Uuid,
    /// The link.
    share: Uuid,
}

/// The user that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct UserPath {
    /// The user.
    id: Uuid,
}

/// The token that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TokenPath {
    /// The token.
    id: Uuid,
}

/// The secret that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SecretPath {
    /// The secret.
    #[param(pattern = "^[a-z0-9_-]{1,64}$")]
    name: String,
}

/// The session that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SessionPath {
    /// The session.
    id: Uuid,
}
