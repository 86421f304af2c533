//! Start-up: what an earlier server left unfinished is closed, and said to be.

use std::collections::HashSet;

use deskhand_core::{
    event::{EventBody, Failure},
    id::{SessionId, TurnId},
    session::{SandboxState, Session, Signal},
};
use deskhand_store::{PhaseMove, StoreError, Transition};

use super::Sessions;

impl Sessions {
    /// Makes the store true again: no session says that somebody works on it, since nobody does.
    /// Prompts that were waiting are taken up.
    pub(crate) async fn reconcile(&self) -> Result<(), StoreError> {
        let open = self.shared.store.open_sessions().await?;
        for (session, turn) in &open {
            self.close_honestly(session, *turn).await?;
            if self.shared.store.n_waiting(session.id).await? > 0 {
                self.live(session.id).nudge();
            }
        }
        let open = open.iter().map(|(session, _)| session.id).collect();
        self.remove_leftovers(&open).await;
        Ok(())
    }

    async fn close_honestly(
        &self,
        session: &Session,
        turn: Option<TurnId>,
    ) -> Result<(), StoreError> {
        let lost = matches!(
            session.sandbox,
            SandboxState::Starting | SandboxState::Ready | SandboxState::Paused
        );
        if !lost && session.phase.after(Signal::ServerRestarted).is_none() {
            return Ok(());
        }
        let failure = turn.map(|turn| {
            EventBody::Error(Failure {
                turn: Some(turn),
                code: "server_restarted".to_owned(),
                message: "The server was stopped in the middle of this turn, without warning. What is above was done; \
                          the last action may or may not have been. Send a new message to go on."
                    .to_owned(),
            })
        });
        let transition = Transition {
            phase: PhaseMove::May(Signal::ServerRestarted),
            sandbox: lost.then_some(SandboxState::Lost),
            reason: lost
                .then(|| "The desktop ended with the server; its files were kept.".to_owned()),
            events: failure.into_iter().collect(),
            answer: None,
        };
        self.shared.log.transition(session.id, transition).await?;
        Ok(())
    }

    /// Removes files of sessions that are over. A failure costs disk space, not the start.
    async fn remove_leftovers(&self, open: &HashSet<SessionId>) {
        let with_files = match self.shared.sandboxes.sessions_with_files().await {
            Ok(sessions) => sessions,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the sandboxes' files could not be listed"
                );
                return;
            }
        };
        for session in with_files
            .into_iter()
            .filter(|session| !open.contains(session))
        {
            if let Err(error) = self.shared.sandboxes.remove_files(session).await {
                tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "files of an ended session were not removed");
            }
        }
    }
}
