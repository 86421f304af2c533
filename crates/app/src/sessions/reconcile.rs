//! Start-up: resumes what an earlier server left unfinished, and logs that.

use deskhand_core::{
    event::{EventBody, Failure},
    id::TurnId,
    session::{Phase, SandboxState, Session, Signal},
};
use deskhand_store::{PhaseMove, StoreError, Transition};

use super::Sessions;
use crate::{Control, live::Unfinished, turns::history};

/// The number of interruptions after which a turn is given up.
const MOST_TRIES: usize = 10;

impl Sessions {
    /// Makes the store true again: unfinished turns resume, waiting prompts are taken, and no session claims to be at
    /// work without a worker.
    pub(crate) async fn reconcile(&self, control: &Control) -> Result<(), StoreError> {
        for unsettled in self.0.store.unsettled_sessions().await? {
            let session = &unsettled.session;
            // This comes before anything works on the session.
            if let Some(lease) = &session.lease {
                control.restore(session.id, lease.clone());
            }
            match unsettled.turn {
                Some(turn) => self.take_up(session, turn).await?,
                None => self.close(session, None).await?,
            }
            if unsettled.is_awaited {
                let kept = self.0.live.wake_anyway(session).await?;
                kept.nudge();
            }
        }
        Ok(())
    }

    /// Resumes a turn, unless it was interrupted so often that it may be the cause.
    async fn take_up(&self, session: &Session, turn: TurnId) -> Result<(), StoreError> {
        let log = history::read(&self.0.store, session.id).await?;
        // A turn that waits for a person has done nothing that could be the cause.
        let n_held_up = log.iter().filter(|event| {
            matches!(&event.body, EventBody::Status(status) if status.turn == Some(turn)
                && status.prompt.is_none() && status.state != Phase::Waiting)
        });
        let (prompt, n_held_up) = (history::prompt_of(&log, turn), n_held_up.count());
        let (Some(prompt), true) = (prompt, n_held_up < MOST_TRIES) else {
            return self.close(session, Some(turn)).await;
        };
        let transition = Transition {
            sandbox: was_alive(session).then_some(SandboxState::Lost),
            reason: Some(goes_on(session).to_owned()),
            turn: Some(turn),
            ..Transition::default()
        };
        // This is refused only if a person has ended the session in the meantime.
        let _ = self.0.log.commit(session.id, transition).await?;
        let kept = self.0.live.wake_anyway(session).await?;
        kept.take_up(Unfinished { turn, prompt });
        Ok(())
    }

    /// Moves a session to rest, and its sandbox to lost if it had one.
    async fn close(&self, session: &Session, turn: Option<TurnId>) -> Result<(), StoreError> {
        let lost = was_alive(session);
        if !lost && session.phase.after(Signal::ServerRestarted).is_none() {
            return Ok(());
        }
        let failure = turn.map(|turn| {
            EventBody::Error(Failure {
                turn: Some(turn),
                code: "server_restarted".to_owned(),
                message: "The server stopped repeatedly during this turn, so the turn was given up. The actions \
                          above were done; the last one may or may not have been. Send a new message to go on."
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
        // This is refused only if a person has ended the session in the meantime.
        let _ = self.0.log.commit(session.id, transition).await?;
        Ok(())
    }
}

/// Returns the logged reason for resuming a turn.
fn goes_on(session: &Session) -> &'static str {
    if session.phase == Phase::Waiting {
        "The server was restarted. The agent still waits for an answer."
    } else {
        "The server was restarted. The agent goes on."
    }
}

/// Returns true if the session had a sandbox, which ended with the server.
fn was_alive(session: &Session) -> bool {
    matches!(
        session.sandbox,
        SandboxState::Starting | SandboxState::Ready | SandboxState::Paused
    )
}
