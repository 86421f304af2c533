//! Puts sessions to sleep, and ends them.

use std::sync::Arc;

use deskhand_core::{
    id::SessionId,
    session::{SandboxState, Signal},
};
use deskhand_store::{PhaseMove, StoreError, Transition};
use tokio::time::Instant;

use super::{AwakeGuard, LiveSessions, session::LiveSession};

impl LiveSessions {
    /// Records that a visible page shows a session.
    pub(crate) fn note_visible(&self, session: SessionId) {
        if let Some(live) = self.get(session) {
            live.activity.note_visible();
        }
    }

    /// Puts a session to sleep, unless it was used since `since`.
    pub(crate) async fn put_to_sleep(&self, live: &Arc<LiveSession>, since: Instant, reason: &str) {
        if !live.activity.close_idle(since) {
            return;
        }
        let (lives, live, reason) = (self.clone(), Arc::clone(live), reason.to_owned());
        // This runs as its own task, since the caller may go away before its end.
        let sleeping = self.0.parts.tasks.spawn("put to sleep", async move {
            live.end().await;
            live.desk.park(&reason).await;
            lives.0.registry.remove(&live);
            tracing::info!(session.id = %live.id, "a session was put to sleep");
        });
        if let Err(error) = sleeping.await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "could not put a session to sleep"
            );
        }
    }

    /// Ends the turn and the sandbox of a session, even while it is used. The session can be woken again.
    pub(crate) async fn put_away(&self, session: SessionId, reason: &str) {
        let Some(live) = self.get(session) else {
            return;
        };
        if !live.activity.close() {
            // It is going to sleep already.
            return live.gone.cancelled().await;
        }
        live.end().await;
        live.desk.park(reason).await;
        self.0.registry.remove(&live);
        tracing::info!(session.id = %session, "a session was put away");
    }

    /// Starts the sandbox of a session in the background.
    pub(crate) fn start_sandbox(&self, guard: AwakeGuard) {
        self.0.parts.tasks.spawn("first sandbox", async move {
            // A failure is already in the log, and the next prompt tries again.
            let _ = guard.desk.computer().await;
        });
    }

    /// Ends a session for good: its turn, its sandbox and its files.
    pub(crate) async fn terminate(&self, guard: AwakeGuard) -> Result<(), StoreError> {
        let lives = self.clone();
        // This runs as its own task, since the caller may go away before its end.
        let ending = self.0.parts.tasks.spawn("terminate", async move {
            let id = guard.id;
            let ended = lives.end(&guard).await;
            if ended.is_ok()
                && let Err(error) = lives.0.parts.computers.sandboxes.remove_files(id).await
            {
                tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "could not remove \
                                                                                            the files of a \
                                                                                            session; a \
                                                                                            background job \
                                                                                            tries again");
            }
            lives.forget(guard).await;
            ended
        });
        ending.await.map_err(StoreError::Interrupted)?
    }

    /// Ends the worker, the sandbox and the session.
    async fn end(&self, live: &LiveSession) -> Result<(), StoreError> {
        live.end().await;
        live.desk.close(SandboxState::None).await?;
        let transition = Transition {
            phase: PhaseMove::Must(Signal::Terminated),
            sandbox: Some(SandboxState::None),
            ..Transition::default()
        };
        let attendance = self.attendance(live.id);
        let _change = attendance.change.lock().await;
        // A session that has already ended stays so.
        let _ = self.0.parts.log.commit(live.id, transition).await?;
        attendance.clear();
        Ok(())
    }

    /// Removes a session that has ended or was never stored.
    pub(crate) async fn forget(&self, guard: AwakeGuard) {
        guard.activity.close();
        let lives = self.clone();
        let forgetting = self.0.parts.tasks.spawn("forget", async move {
            guard.end().await;
            lives.0.registry.remove(&guard);
        });
        if let Err(error) = forgetting.await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "could not release a session"
            );
        }
    }

    /// Ends all workers and sandboxes at shutdown. The sessions resume at the next start.
    pub(crate) async fn close_all(&self) {
        let lives = self.all();
        let ends = lives.iter().map(|live| async {
            live.end().await;
            if let Err(error) = live.desk.close(SandboxState::Stopped).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "could not log the end of a sandbox"
                );
            }
        });
        futures::future::join_all(ends).await;
    }
}
