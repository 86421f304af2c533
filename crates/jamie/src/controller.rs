//! The port to the controller, which runs the streams that the bot asks for.

mod http;

use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

pub use self::http::{BadController, HttpController};
use crate::{
    contract::{HealthResponse, SessionView, StopRequest, StreamRequest, StreamResponse},
    error_code::ErrorCode,
};

/// Runs streams. Changes of them reach the bot as [`StatusUpdate`](crate::contract::StatusUpdate)s.
#[async_trait]
pub trait Controller: Send + Sync + fmt::Debug {
    /// Begins a stream and returns at once. A request that was accepted before is answered as being in progress.
    async fn start(&self, request: &StreamRequest) -> Result<StreamResponse, ControllerError>;

    /// Ends a stream. It counts as ended when this returns.
    async fn stop(&self, session_id: Uuid, request: &StopRequest) -> Result<(), ControllerError>;

    /// Returns a stream. Those that have ended are known for a while.
    async fn session(&self, session_id: Uuid) -> Result<SessionView, ControllerError>;

    /// Returns all streams that have not ended.
    async fn sessions(&self) -> Result<Vec<SessionView>, ControllerError>;

    /// Returns the streams that ended in the last hour, so that a bot that was away can tell about them.
    async fn ended_lately(&self) -> Result<Vec<SessionView>, ControllerError>;

    async fn health(&self) -> Result<HealthResponse, ControllerError>;
}

/// The controller's reason for not doing something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", code.name(), message.as_deref().unwrap_or(code.row().summary))]
pub struct ControllerError {
    pub code: ErrorCode,
    pub message: Option<String>,
}

impl ControllerError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: Some(message.into()),
        }
    }
}

/// The reason alone.
impl From<ErrorCode> for ControllerError {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            message: None,
        }
    }
}
