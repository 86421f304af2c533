//! Turns: prepares their inputs, has the harness carry them out, and logs their ends.

pub(crate) mod budgets;
mod close;
pub(crate) mod decisions;
pub(crate) mod history;
mod prepare;
pub(crate) mod turn_log;

use std::{sync::Arc, time::Duration};

use deskhand_agent::{Harness, TurnEnd, TurnReport};
use deskhand_core::{
    action::ScreenSize,
    blob::Blobs,
    clock::Clock,
    computer::ComputerKind,
    id::{MessageId, SessionId, TurnId},
    message::Message,
    tasks::Tasks,
};
use deskhand_store::{Store, StoreError, TakePrompt};
use tokio_util::sync::CancellationToken;

pub(crate) use self::close::Closing;
use crate::{
    Settings,
    catalog::Catalog,
    database_retry::until_answered,
    decisions::Decisions,
    feed::log::Log,
    live::desk::SessionDesk,
    metrics::{count_turn, turn_outcome},
    money::spending::Spending,
    session_computer::ComputerStarter,
    signals::Signals,
};

/// Runs turns. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<TurnParts>);

/// The parts that turns are made of.
#[derive(Debug)]
pub(crate) struct TurnParts {
    pub(crate) harness: Arc<dyn Harness>,
    /// Returns the secrets that programs of a session can use.
    pub(crate) computers: ComputerStarter,
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) catalog: Catalog,
    pub(crate) decisions: Decisions,
    pub(crate) spending: Spending,
    pub(crate) signals: Signals,
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
    /// Fires first of all at shutdown: from then on turns are left for the next start instead of being ended.
    pub(crate) parking: CancellationToken,
}

/// A turn to run.
#[derive(Debug)]
pub(crate) struct TurnOrder {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) prompt: MessageId,
    pub(crate) desk: Arc<SessionDesk>,
    /// Ends the turn early.
    pub(crate) stop: CancellationToken,
    /// Fires when the session or the server ends.
    pub(crate) ending: CancellationToken,
}

impl Turns {
    pub(crate) fn new(parts: TurnParts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }

    /// Returns the size of the screen, or of a page where there is none.
    pub(crate) fn size_of(&self, computer: ComputerKind) -> ScreenSize {
        self.0.settings.size_of(computer)
    }

    /// Leaves turns for the next start from now on, instead of ending them.
    pub(crate) fn park(&self) {
        self.0.parking.cancel();
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.0.parking.is_cancelled()
    }

    /// Notifies the harness that a message arrived to steer a running turn.
    pub(crate) fn steer(&self, turn: TurnId) {
        self.0.harness.steer(turn);
    }

    /// Takes the oldest waiting prompt for `turn`.
    pub(crate) async fn take_prompt(
        &self,
        session: SessionId,
        turn: TurnId,
        ending: &CancellationToken,
    ) -> Result<Option<MessageId>, StoreError> {
        let TurnParts { store, log, .. } = &*self.0;
        let take = TakePrompt { turn };
        let taken = until_answered(ending, || log.commit(session, take));
        if let Ok(prompt) = taken.await? {
            return Ok(Some(prompt));
        }
        // An attempt whose response was lost may have taken it.
        let open = until_answered(ending, || store.open_turn(session));
        if open.await? != Some(turn) {
            return Ok(None);
        }
        let log = until_answered(ending, || history::read(store, session));
        Ok(history::prompt_of(&log.await?, turn))
    }

    /// Returns the waiting messages, or none if they cannot be read now.
    pub(crate) async fn waiting(&self, session: SessionId) -> Vec<Message> {
        self.0.store.waiting(session).await.unwrap_or_default()
    }

    /// Runs a turn to its end, whatever the end is.
    pub(crate) async fn run(&self, order: TurnOrder) -> TurnReport {
        let (session, turn) = (order.session, order.turn);
        tracing::info!(session.id = %session, turn.id = %turn, message.id = %order.prompt, "a turn began");
        let report = match self.prepare(order).await {
            Ok(turn) => self.0.harness.run(turn).await,
            Err(failure) => TurnReport {
                end: TurnEnd::Failed(failure),
                n_steps: 0,
                duration: Duration::ZERO,
            },
        };
        tracing::info!(session.id = %session, turn.id = %turn, outcome = turn_outcome(&report), n_steps = report.n_steps, duration_ms = millis(report.duration), "a turn ended");
        count_turn(&report);
        report
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
