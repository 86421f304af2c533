//! Start-up: what an earlier server left unfinished is taken up, and said to be.

use std::collections::HashSet;

use deskhand_core::{
    event::{EventBody, Failure},
    id::{SessionId, TurnId},
    session::{Phase, SandboxState, Session, Signal},
};
use deskhand_store::{PhaseMove, StoreError, Transition};

use super::Sessions;
use crate::{
    history,
    live::{Live, Unfinished},
};

/// How often a turn may be held up before it is given up.
const MOST_TRIES: u32 = 10;

impl Sessions {
    /// Makes the store true again: turns that an earlier server was at go on, prompts that were
    /// waiting are taken up, and no session says that somebody works on it when nobody does.
    pub(crate) async fn reconcile(&self) -> Result<(), StoreError> {
        let open = self.shared.store.open_sessions().await?;
        for (session, turn) in &open {
            // Before anything works on it.
            if let Some(lease) = &session.lease {
                self.restore_lease(session.id, lease.clone());
            }
            match turn {
                Some(turn) => self.take_up(session, *turn).await?,
                None => self.close(session, None).await?,
            }
            if self.shared.store.n_waiting(session.id).await? > 0 {
                self.live(session.id).nudge();
            }
        }
        let open = open.iter().map(|(session, _)| session.id).collect();
        self.remove_leftovers(&open).await;
        Ok(())
    }

    /// Goes on with a turn, unless it was held up so often that it may be the cause.
    async fn take_up(&self, session: &Session, turn: TurnId) -> Result<(), StoreError> {
        let log = history::read(&self.shared.store, session.id).await?;
        let (mut prompt, mut n_held_up) = (None, 0);
        for event in &log {
            let EventBody::Status(status) = &event.body else {
                continue;
            };
            if status.turn == Some(turn) {
                match status.prompt {
                    Some(message) => prompt = prompt.or(Some(message)),
                    // Whoever waits for a person has done nothing that could be the cause.
                    None if status.state == Phase::Waiting => {}
                    None => n_held_up += 1,
                }
            }
        }
        let (Some(prompt), true) = (prompt, n_held_up < MOST_TRIES) else {
            return self.close(session, Some(turn)).await;
        };
        let transition = Transition {
            sandbox: was_alive(session).then_some(SandboxState::Lost),
            reason: Some(goes_on(session).to_owned()),
            turn: Some(turn),
            ..Transition::default()
        };
        self.shared.log.transition(session.id, transition).await?;
        let unfinished = Unfinished { turn, prompt };
        let live = Live::start(&self.shared, session.id, Some(unfinished));
        self.lives().insert(session.id, live);
        Ok(())
    }

    /// Says that nobody works on a session, and that its sandbox is lost if it had one.
    async fn close(&self, session: &Session, turn: Option<TurnId>) -> Result<(), StoreError> {
        let lost = was_alive(session);
        if !lost && session.phase.after(Signal::ServerRestarted).is_none() {
            return Ok(());
        }
        let failure = turn.map(|turn| {
            EventBody::Error(Failure {
                turn: Some(turn),
                code: "server_restarted".to_owned(),
                message: "The server was stopped in the middle of this turn again and again, so the turn was given up. \
                          What is above was done; the last action may or may not have been. Send a new message to go on."
                    .to_owned(),
            })
        });
        let transition = Transition {
            phase: PhaseMove::May(Signal::ServerRestarted),
            sandbox: lost.then_some(SandboxState::Lost),
            reason: lost
                .then(|| "The desktop ended with the server; its files were kept.".to_owned()),
            events: failure.into_iter().collect(),
            ..Transition::default()
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

/// What is said when a turn is taken up.
fn goes_on(session: &Session) -> &'static str {
    if session.phase == Phase::Waiting {
        "The server was started again. The agent still waits for an answer."
    } else {
        "The server was started again. The agent goes on."
    }
}

/// Whether the session had a sandbox, which ended with the server.
fn was_alive(session: &Session) -> bool {
    matches!(
        session.sandbox,
        SandboxState::Starting | SandboxState::Ready | SandboxState::Paused
    )
}
