//! Starting, finding and ending sandboxes.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{Computer, DoctorCheck, ForRunner, ListeningPort, SandboxSpec, Streams};
use crate::id::SessionId;

/// The reason why a sandbox could not be started. The text names the problem and the way out.
#[derive(Debug, thiserror::Error)]
pub enum StartSandboxError {
    /// The machine lacks something.
    #[error("{what}: {remedy}")]
    Missing { what: String, remedy: String },
    /// The provider does not support a field of the spec.
    #[error("the provider {provider} does not support {what}")]
    Unsupported {
        provider: &'static str,
        what: String,
    },
    /// It was started but is not ready.
    #[error("the sandbox did not start: {0}")]
    Failed(String),
    #[error("could not prepare the sandbox")]
    Io(#[from] std::io::Error),
}

/// The way in which a sandbox ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxEnd {
    /// It was stopped on request.
    Stopped,
    /// It died. The text gives the cause, for people.
    Died(String),
}

/// The resources that all sandboxes of a server use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxUsage {
    pub n_running: u64,
    /// The memory of the running sandboxes, if the provider can measure it.
    pub memory_bytes: Option<u64>,
    /// The processor time of all sandboxes since the server started, including ended ones, if the provider can
    /// measure it.
    pub cpu: Option<Duration>,
}

/// A provider of sandboxes.
#[async_trait]
pub trait Lifecycle: Send + Sync + std::fmt::Debug {
    /// Starts a sandbox and waits until its desktop responds.
    ///
    /// With a session in the spec, the sandbox has the files of the session's earlier sandboxes, and it replaces the
    /// session's running sandbox if there is one. Without a session, it waits to be claimed.
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError>;

    /// Gives a session a sandbox of this spec: one that was started ahead of time, or a new one.
    async fn claim(
        &self,
        session: SessionId,
        spec: SandboxSpec,
    ) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        self.start(spec.for_session(session)).await
    }

    /// Ends all sandboxes and returns when they are gone. None can be started afterwards.
    async fn stop_all(&self);

    /// Removes everything that a killed server left behind, and prepares the first start. Called once, before the
    /// first sandbox.
    async fn sweep(&self);

    /// Ends the session's sandbox if it is running, and removes its files.
    async fn remove_files(&self, session: SessionId) -> std::io::Result<()>;

    /// Lists the sessions that have files here.
    async fn sessions_with_files(&self) -> std::io::Result<Vec<SessionId>>;

    /// Checks quickly that a sandbox could be started, without starting one.
    async fn check(&self) -> Result<(), StartSandboxError>;

    /// Checks everything that sandboxes need, part by part. Changes nothing.
    async fn doctor(&self) -> Vec<DoctorCheck>;

    /// Measures all sandboxes together.
    async fn usage(&self) -> SandboxUsage;
}

/// A running sandbox.
#[async_trait]
pub trait Sandbox: Computer<ForRunner> + Streams + std::fmt::Debug {
    /// Returns the ports on which programs listen, in order, as far as the sandbox has reported them.
    fn ports(&self) -> Vec<ListeningPort>;

    /// Waits for the end of the sandbox.
    async fn ended(&self) -> SandboxEnd;

    /// Ends the sandbox and everything in it, and returns when it is gone. Files stay.
    async fn stop(&self);
}
