//! Asks people about hosts that a policy does not list.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    decision::{Ask, DecisionState, Reply},
    id::{DecisionId, SessionId, TurnId},
    network::{
        policy::BlockReason,
        question::{NetworkPermission, NetworkQuestion},
    },
};
use deskhand_store::{RaiseDecision, StoreError};
use jiff::Timestamp;
use tokio::time::timeout;

use super::{NetworkAccess, book::NetworkBook, guard::failed, questions::Asking};
use crate::signals::{Topic, Waiter};

/// The time after which a connection no longer waits, although its question should have expired.
const SETTLING_TIME: Duration = Duration::from_secs(30);

impl NetworkAccess {
    /// Asks people whether a program may contact a host, and waits for the answer. Connections to the same host share
    /// one question.
    pub(super) async fn ask(
        &self,
        book: &Arc<NetworkBook>,
        question: &NetworkQuestion,
    ) -> Result<(), BlockReason> {
        let live = self.0.parts.live.get(book.session);
        let live = live.ok_or(BlockReason::Idle)?;
        // A question belongs to a turn. A person who has control without one can change the policy.
        let (turn, _) = live.at_work().ok_or(BlockReason::NotListed)?;
        drop(live);
        let waiter = self.waiter(book.session);
        let id = match book.asking(question, turn) {
            Asking::Answered(answer) => return answer,
            Asking::Full => return Err(BlockReason::NotListed),
            Asking::Asked(id) => id,
            Asking::New(id) => {
                let ask = question.ask(self.expiry());
                let raised = self.raise(book.session, turn, id, &ask).await;
                let raised = raised.map_err(|error| failed(book.session, &error));
                if let Err(reason) =
                    raised.and_then(|raised| raised.then_some(()).ok_or(BlockReason::Idle))
                {
                    book.settled(question, id, None);
                    self.wake(book.session);
                    return Err(reason);
                }
                id
            }
        };
        let answered = self.settled(book.session, id, waiter, || book.is_asked(question, id));
        let answered = match answered.await {
            Ok(Some((DecisionState::Answered, reply))) => {
                match NetworkPermission::of(reply.as_ref()) {
                    NetworkPermission::No => Err(BlockReason::Denied),
                    permission @ (NetworkPermission::Once
                    | NetworkPermission::Session
                    | NetworkPermission::Always) => Ok(permission),
                }
            }
            Ok(_) => Err(BlockReason::NotListed),
            Err(error) => Err(failed(book.session, &error)),
        };
        match answered {
            // The next connection looks again.
            Err(BlockReason::Failed) => {}
            Err(reason) => book.settled(question, id, Some(Err(reason))),
            Ok(NetworkPermission::Once) => book.settled(question, id, Some(Ok(()))),
            // A rule allows it now, until the rule is removed.
            Ok(_listed) => book.settled(question, id, None),
        }
        answered.map(drop)
    }

    /// Returns a waiter for answers. It comes before the question, so that none is missed.
    pub(super) fn waiter(&self, session: SessionId) -> Waiter {
        self.0.parts.signals.subscribe(Topic::Decisions(session))
    }

    /// Lets all who wait for answers in a session look again.
    pub(super) fn wake(&self, session: SessionId) {
        self.0.parts.signals.send(Topic::Decisions(session));
    }

    /// Returns the time at which a question that is asked now expires.
    pub(super) fn expiry(&self) -> Timestamp {
        let parts = &self.0.parts;
        parts.clock.now() + parts.settings.ask_timeout
    }

    /// Asks people. Returns `false` if the turn has just ended.
    pub(super) async fn raise(
        &self,
        session: SessionId,
        turn: TurnId,
        id: DecisionId,
        ask: &Ask,
    ) -> Result<bool, StoreError> {
        let parts = &self.0.parts;
        let raise = RaiseDecision { turn, id, ask };
        let is_raised = parts.log.commit(session, raise).await?.is_ok();
        if is_raised {
            parts.decisions.nudge().notify_one();
        }
        Ok(is_raised)
    }

    /// Waits until a question is settled. Returns `None` if it could not be raised, or nobody settles it.
    pub(super) async fn settled(
        &self,
        session: SessionId,
        id: DecisionId,
        mut waiter: Waiter,
        is_asked: impl Fn() -> bool,
    ) -> Result<Option<(DecisionState, Option<Reply>)>, StoreError> {
        let parts = &self.0.parts;
        let waiting = async {
            loop {
                match parts.store.decision(session, id).await? {
                    Some(named) if named.decision.state == DecisionState::Open => {}
                    Some(named) => {
                        let decision = named.decision;
                        return Ok(Some((decision.state, decision.answer)));
                    }
                    // It is about to be raised, or could not be.
                    None if is_asked() => {}
                    None => return Ok(None),
                }
                waiter.signalled().await;
            }
        };
        let longest = parts.settings.ask_timeout + SETTLING_TIME;
        timeout(longest, waiting).await.unwrap_or(Ok(None))
    }
}
