//! Background tasks that have names and that shutdown waits for.
//!
//! This is in `core` because every crate starts tasks and `clippy.toml` bans the other ways.

use std::{future::Future, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// All background tasks of one process. Clones share the same set.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

impl Tasks {
    /// Starts a task. It should end soon after [`Tasks::shutdown`] fires.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that starts tasks"
    )]
    pub fn spawn<F>(&self, name: &'static str, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        use tracing::Instrument;
        tokio::spawn(
            self.tracker
                .track_future(task.instrument(tracing::debug_span!("task", name))),
        )
    }

    /// Returns the token that is cancelled when the process is asked to end.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Asks all tasks to end, and waits for them until the timeout. Returns `false` if some did not end.
    pub async fn end(&self, at_most: Duration) -> bool {
        self.shutdown.cancel();
        self.tracker.close();
        tokio::time::timeout(at_most, self.tracker.wait())
            .await
            .is_ok()
    }
}
