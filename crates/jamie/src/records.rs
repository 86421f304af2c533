//! The port to the records of streams and to the state of their deployment, for those who administer a server.

use async_trait::async_trait;
use deskhand_core::id::{SessionId, UserId};
use uuid::Uuid;

use crate::{
    contract::{SessionMetrics, SessionView},
    controller::{Controller, ControllerError},
};

/// A controller that also knows its past and its settings.
#[async_trait]
pub trait StreamRecords: Controller {
    async fn figures(&self) -> Result<SessionMetrics, ControllerError>;

    /// Returns the streams that were asked for before the one called `before`, newest first.
    async fn history(
        &self,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<RecordPage, ControllerError>;

    /// Returns the streams that have not ended, oldest first.
    async fn active(&self) -> Result<Vec<StreamRecord>, ControllerError>;

    /// Checks the settings, in the order in which somebody who sets up the bot needs them.
    async fn checks(&self) -> Vec<SetupCheck>;
}

/// A stream as it is recorded.
#[derive(Debug, Clone)]
pub struct StreamRecord {
    pub view: SessionView,
    /// The session that shows it, from its start on.
    pub session: Option<SessionId>,
    /// The owner of that session.
    pub owner: UserId,
}

/// A page of records, newest first.
#[derive(Debug, Clone, Default)]
pub struct RecordPage {
    pub records: Vec<StreamRecord>,
    /// The last of them, if there are older ones.
    pub next: Option<Uuid>,
}

/// The finding about one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupCheck {
    /// A stable name.
    pub name: &'static str,
    pub finding: Finding,
    /// A sentence without its full stop. It has no secret in it.
    pub message: String,
    /// The way out, if there is one to go.
    pub remedy: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    Ok,
    /// Streams run, but not all that people may expect works.
    Warning,
    /// Streams do not run.
    Failed,
}

impl SetupCheck {
    pub fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            finding: Finding::Ok,
            message: message.into(),
            remedy: None,
        }
    }

    pub fn warning(
        name: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            finding: Finding::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(name, message)
        }
    }

    pub fn failed(
        name: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            finding: Finding::Failed,
            ..Self::warning(name, message, remedy)
        }
    }
}
