//! Ends the streams and file changes of everybody except the lease holder before control is confirmed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::sandbox::{Actor, LeaseHolder};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The timeout for streams and changes to end. Each ends when its task is next polled, or after one file operation.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The streams and file changes in progress that are subject to the lease. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barrier(Arc<Mutex<BarrierState>>);

#[derive(Debug, Default)]
struct BarrierState {
    holder: LeaseHolder,
    last: u64,
    passed: HashMap<u64, Passed>,
}

#[derive(Debug)]
struct Passed {
    actor: Actor,
    /// Fires when it must end.
    barred: CancellationToken,
    /// Fires when it has ended.
    ended: CancellationToken,
}

/// Permission for one stream or change. While it exists, control is not confirmed to anybody else.
#[derive(Debug)]
pub(crate) struct Passage {
    barrier: Barrier,
    number: u64,
    barred: CancellationToken,
    _ended: DropGuard,
}

impl Barrier {
    /// Admits a stream or a change of this actor. Returns `None` if another person holds the lease.
    pub(crate) fn pass(&self, actor: Actor) -> Option<Passage> {
        let mut state = self.lock();
        if !state.holder.admits(actor) {
            return None;
        }
        state.last += 1;
        let number = state.last;
        let (barred, ended) = (CancellationToken::new(), CancellationToken::new());
        state.passed.insert(
            number,
            Passed {
                actor,
                barred: barred.clone(),
                ended: ended.clone(),
            },
        );
        Some(Passage {
            barrier: self.clone(),
            number,
            barred,
            _ended: ended.drop_guard(),
        })
    }

    /// Admits only this holder from now on, and waits until the streams and changes of others have ended.
    pub(crate) async fn set_holder(&self, holder: LeaseHolder) {
        let ending: Vec<CancellationToken> = {
            let mut state = self.lock();
            state.holder = holder;
            let barred = state
                .passed
                .values()
                .filter(|passed| !holder.admits(passed.actor));
            barred
                .map(|passed| {
                    passed.barred.cancel();
                    passed.ended.clone()
                })
                .collect()
        };
        let all_ended = async {
            for ended in ending {
                ended.cancelled().await;
            }
        };
        if tokio::time::timeout(END_TIMEOUT, all_ended).await.is_err() {
            tracing::warn!("a stream or a change of files did not end when a person took control");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BarrierState> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passage {
    /// Returns the token that fires when the stream or change must end.
    pub(crate) fn barred(&self) -> &CancellationToken {
        &self.barred
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.barrier.lock().passed.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::id::UserId;

    use super::*;

    #[tokio::test]
    async fn only_the_holder_passes_and_others_end_first() {
        let barrier = Barrier::default();
        let (alice, bob) = (UserId::new(), UserId::new());
        let agents = barrier.pass(Actor::Agent).unwrap();
        let alices = barrier.pass(Actor::Person(alice)).unwrap();
        let barred = agents.barred().clone();
        let setting = barrier.set_holder(LeaseHolder::Person(alice));
        let mut setting = std::pin::pin!(setting);
        // The holder is not confirmed before the other stream has ended.
        assert!(futures::poll!(setting.as_mut()).is_pending());
        assert!(barred.is_cancelled() && !alices.barred().is_cancelled());
        drop(agents);
        setting.await;
        assert!(barrier.pass(Actor::Person(bob)).is_none());
        assert!(barrier.pass(Actor::Agent).is_none());
        assert!(barrier.pass(Actor::Person(alice)).is_some());
        barrier.set_holder(LeaseHolder::Nobody).await;
        assert!(barrier.pass(Actor::Person(bob)).is_some());
    }
}
