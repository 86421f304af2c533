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

use super::{NetworkAccess, guard::failed, questions::Asking, traffic::SessionTraffic};
use crate::signals::{Topic, Waiter};

/// The grace period for a question to expire. After it, a connection stops waiting in any case.
const SETTLING_TIME: Duration = Duration::from_secs(30);

impl NetworkAccess {
    /// Asks people whether a program may contact a host, and waits for the answer. Connections to the same host share
    /// one question.
    pub(super) async fn ask(
        &self,
        traffic: &Arc<SessionTraffic>,
        question: &NetworkQuestion,
    ) -> Result<(), BlockReason> {
        let live = self.0.parts.live.get(traffic.session);
        let live = live.ok_or(BlockReason::Idle)?;
        // A question belongs to a turn. Without a turn, the person who has control can change the policy instead.
        let (turn, _) = live.at_work().ok_or(BlockReason::NotListed)?;
        drop(live);
        let waiter = self.waiter(traffic.session);
        let id = match traffic.asking(question, turn) {
            Asking::Answered(answer) => return answer,
            Asking::Full => return Err(BlockReason::NotListed),
            Asking::Asked(id) => id,
            Asking::New(id) => {
                let ask = question.ask(self.expiry());
                let raised = self.raise(traffic.session, turn, id, &ask).await;
                let raised = raised.map_err(|error| failed(traffic.session, &error));
                if let Err(reason) =
                    raised.and_then(|raised| raised.then_some(()).ok_or(BlockReason::Idle))
                {
                    traffic.settled(question, id, None);
                    self.wake(traffic.session);
                    return Err(reason);
                }
                id
            }
        };
        let answered = self.settled(traffic.session, id, waiter, || {
            traffic.is_asked(question, id)
        });
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
            Err(error) => Err(failed(traffic.session, &error)),
        };
        match answered {
            // The next connection to this host waits for the same question.
            Err(BlockReason::Failed) => {}
            Err(reason) => traffic.settled(question, id, Some(Err(reason))),
            Ok(NetworkPermission::Once) => traffic.settled(question, id, Some(Ok(()))),
            // A stored rule allows the host from now on, so nothing is remembered here.
            Ok(_listed) => traffic.settled(question, id, None),
        }
        answered.map(drop)
    }

    /// Returns a waiter for answers. Subscribe before asking, so that no answer is missed.
    pub(super) fn waiter(&self, session: SessionId) -> Waiter {
        self.0.parts.signals.subscribe(Topic::Decisions(session))
    }

    /// Wakes everything that waits for answers in a session.
    pub(super) fn wake(&self, session: SessionId) {
        self.0.parts.signals.send(Topic::Decisions(session));
    }

    /// Returns the expiry of a question that is asked now.
    pub(super) fn expiry(&self) -> Timestamp {
        let parts = &self.0.parts;
        parts.clock.now() + parts.settings.ask_timeout
    }

    /// Stores a question and shows it to people. Returns `false` if the turn has just ended.
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

    /// Waits until a question is settled. Returns `None` if it could not be stored, or was not settled in time.
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
                    // It is about to be stored.
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
