//! A sandbox that may live for so long, and tells whoever uses it then why it is gone.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use deskhand_core::{
    action::ScreenSize,
    id::RequestId,
    sandbox::{
        Actor, ByteStream, ComputerError, ComputerReply, ComputerRequest, Driver, Progress,
        Sandbox, SandboxEnd,
    },
};
use tokio::time::Instant;

const STARTED_AGAIN: &str =
    "It is started again for the next action: files are kept, open programs are gone.";

/// A sandbox whose end may be asked for while it is used.
#[derive(Debug)]
pub(crate) struct Retiring {
    sandbox: Arc<dyn Sandbox>,
    why: Arc<OnceLock<String>>,
}

/// When a sandbox has to end, and the way to say that it did.
#[derive(Debug)]
pub(crate) struct Retirement {
    pub(crate) due_at: Instant,
    why: Arc<OnceLock<String>>,
}

impl Retiring {
    pub(crate) fn new(sandbox: Arc<dyn Sandbox>, due_at: Instant) -> (Self, Retirement) {
        let why = Arc::<OnceLock<_>>::default();
        let retirement = Retirement {
            due_at,
            why: Arc::clone(&why),
        };
        (Self { sandbox, why }, retirement)
    }
}

impl Retirement {
    /// Says why it ends, before it does.
    pub(crate) fn tell(&self, why: &str) {
        // The first word counts.
        let _ = self.why.set(why.to_owned());
    }
}

#[async_trait]
impl Sandbox for Retiring {
    fn screen(&self) -> ScreenSize {
        self.sandbox.screen()
    }

    async fn perform(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> Result<ComputerReply, ComputerError> {
        let reply = self.sandbox.perform(id, actor, request, progress).await;
        let Some(why) = self.why.get() else {
            return reply;
        };
        match reply {
            Err(ComputerError::FateUnknown) => Err(ComputerError::Ended(format!(
                "{why} It is not known whether this action was done. {STARTED_AGAIN}"
            ))),
            Err(ComputerError::Gone) => Err(ComputerError::Ended(format!(
                "Not executed: {why} {STARTED_AGAIN}"
            ))),
            reply => reply,
        }
    }

    async fn cancel(&self, id: RequestId) {
        self.sandbox.cancel(id).await;
    }

    async fn set_driver(&self, driver: Driver) {
        self.sandbox.set_driver(driver).await;
    }

    async fn open_screen(&self) -> Result<ByteStream, ComputerError> {
        self.sandbox.open_screen().await
    }

    async fn ended(&self) -> SandboxEnd {
        self.sandbox.ended().await
    }

    async fn stop(&self) {
        self.sandbox.stop().await;
    }
}
