//! Wake-ups between parts of the app: "something about this changed, look again".
//!
//! A signal carries no data. Its receiver reads the truth from the store, so a signal that comes too often costs a
//! read and nothing else.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::id::{SessionId, UserId, WatchLinkId};
use tokio::sync::watch;

/// The subject of a signal. Only waiters for the same topic are woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// The rights, the tokens, the sign-ins or the account of a user changed.
    Access(UserId),
    /// A decision of a session was settled.
    Decisions(SessionId),
    /// The budget of a session changed.
    SessionBudget(SessionId),
    /// The daily budget of a user changed.
    UserBudget(UserId),
    /// A watch link was revoked.
    WatchLink(WatchLinkId),
}

/// All topics that have waiters. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals(Arc<Topics>);

type Topics = Mutex<HashMap<Topic, watch::Sender<()>>>;

/// Waits for signals on one topic, from the moment of its creation until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiter {
    topics: Arc<Topics>,
    topic: Topic,
    signals: watch::Receiver<()>,
}

impl Signals {
    /// Wakes all waiters for `topic`.
    pub(crate) fn send(&self, topic: Topic) {
        if let Some(waiters) = lock(&self.0).get(&topic) {
            waiters.send_replace(());
        }
    }

    /// Starts waiting. Subscribe before reading the state, so that no change is missed.
    pub(crate) fn subscribe(&self, topic: Topic) -> Waiter {
        let signals = lock(&self.0).entry(topic).or_default().subscribe();
        Waiter {
            topics: Arc::clone(&self.0),
            topic,
            signals,
        }
    }
}

impl Waiter {
    /// Returns the topic that this waits for.
    pub(crate) fn topic(&self) -> Topic {
        self.topic
    }

    /// Waits for the next signal. One that came since the last call counts.
    pub(crate) async fn signalled(&mut self) {
        // The sender stays in the map while this waiter exists, so waiting cannot fail.
        let _ = self.signals.changed().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut topics = lock(&self.topics);
        // This waiter's own receiver is still counted.
        if topics
            .get(&self.topic)
            .is_some_and(|waiters| waiters.receiver_count() <= 1)
        {
            topics.remove(&self.topic);
        }
    }
}

fn lock(topics: &Topics) -> MutexGuard<'_, HashMap<Topic, watch::Sender<()>>> {
    topics.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn only_those_who_wait_for_the_topic_are_woken() {
        let signals = Signals::default();
        let (ada, bob) = (UserId::new(), UserId::new());
        let mut for_ada = signals.subscribe(Topic::Access(ada));
        let mut for_bob = signals.subscribe(Topic::Access(bob));
        signals.send(Topic::Access(ada));
        assert!(for_ada.signalled().now_or_never().is_some());
        assert!(for_ada.signalled().now_or_never().is_none(), "once");
        assert!(for_bob.signalled().now_or_never().is_none());
    }

    #[test]
    fn a_topic_goes_with_its_last_waiter() {
        let signals = Signals::default();
        let topic = Topic::UserBudget(UserId::new());
        let (first, second) = (signals.subscribe(topic), signals.subscribe(topic));
        drop(first);
        assert_eq!(lock(&signals.0).len(), 1);
        drop(second);
        assert_eq!(lock(&signals.0).len(), 0);
    }
}
