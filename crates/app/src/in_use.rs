//! What a session that is awake is needed for, and since when it is not.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// How long a page counts as looking after its last sign of life.
const LOOKS_ON: Duration = Duration::from_secs(75);

/// The needs of one session.
///
/// Once it is closed nobody can need it any more, and it is closed only while nobody does: so a
/// session never goes to sleep under somebody's hands.
#[derive(Debug)]
pub(crate) struct InUse {
    now: Mutex<Needs>,
    /// Tells that there may be a session that nobody needs.
    rest: Arc<Notify>,
    /// Tells that the worker has ended.
    worked: Notify,
}

#[derive(Debug)]
struct Needs {
    n_holds: usize,
    work: Work,
    is_closed: bool,
    used_at: Instant,
    looked_at: Option<Instant>,
}

/// What the session's worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Rests,
    Works,
    /// It works, and there is more to do than it knows.
    IsNudged,
}

/// Keeps a session awake until it is dropped.
#[derive(Debug)]
pub(crate) struct Hold(Arc<InUse>);

impl InUse {
    pub(crate) fn new(rest: Arc<Notify>) -> Arc<Self> {
        let needs = Needs {
            n_holds: 0,
            work: Work::Rests,
            is_closed: false,
            used_at: Instant::now(),
            looked_at: None,
        };
        Arc::new(Self {
            now: Mutex::new(needs),
            rest,
            worked: Notify::new(),
        })
    }

    /// `None` when it is too late.
    pub(crate) fn hold(self: &Arc<Self>) -> Option<Hold> {
        let mut now = self.now();
        if now.is_closed {
            return None;
        }
        now.n_holds += 1;
        Some(Hold(Arc::clone(self)))
    }

    /// Somebody needs it right now.
    pub(crate) fn touch(&self) {
        self.now().used_at = Instant::now();
    }

    /// Somebody looks at it on a visible page.
    pub(crate) fn look_on(&self) {
        let mut now = self.now();
        now.used_at = Instant::now();
        now.looked_at = Some(now.used_at);
    }

    /// Since when nobody needs it. `None` while somebody does, or when it is closed.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let now = self.now();
        (now.is_needless() && !now.is_closed).then_some(now.used_at)
    }

    /// Whether somebody looks at it on a visible page.
    pub(crate) fn is_looked_at(&self) -> bool {
        self.now()
            .looked_at
            .is_some_and(|at| at.elapsed() < LOOKS_ON)
    }

    /// Closes it, if nobody has needed it since `since`.
    pub(crate) fn close_unused(&self, since: Instant) -> bool {
        let mut now = self.now();
        let closes = now.is_needless() && !now.is_closed && now.used_at <= since;
        now.is_closed |= closes;
        closes
    }

    /// Closes it, whoever needs it; tells whether it was open.
    pub(crate) fn close(&self) -> bool {
        !std::mem::replace(&mut self.now().is_closed, true)
    }

    /// There is work to do. Tells whether a worker has to be started for it.
    pub(crate) fn begin_work(&self) -> bool {
        let mut now = self.now();
        let rests = now.work == Work::Rests;
        now.work = if rests { Work::Works } else { Work::IsNudged };
        rests
    }

    /// The worker found nothing to do. Tells whether it may end.
    pub(crate) fn end_work(&self) -> bool {
        let mut now = self.now();
        now.used_at = Instant::now();
        if now.work == Work::IsNudged {
            now.work = Work::Works;
            return false;
        }
        now.work = Work::Rests;
        drop(now);
        self.worked.notify_waiters();
        self.rest.notify_one();
        true
    }

    /// The worker ends, whatever there is to do.
    pub(crate) fn give_up_work(&self) {
        self.now().work = Work::Rests;
        self.worked.notify_waiters();
    }

    /// Waits until the worker has ended.
    pub(crate) async fn worked(&self) {
        loop {
            // Made before looking, so that no end is missed.
            let worked = self.worked.notified();
            if self.now().work == Work::Rests {
                return;
            }
            worked.await;
        }
    }

    fn now(&self) -> MutexGuard<'_, Needs> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Needs {
    fn is_needless(&self) -> bool {
        self.n_holds == 0 && self.work == Work::Rests
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut now = self.0.now();
        now.n_holds -= 1;
        now.used_at = Instant::now();
        let is_needless = now.is_needless();
        drop(now);
        if is_needless {
            self.0.rest.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_needs_is_not_closed() {
        let in_use = InUse::new(Arc::default());
        let hold = in_use.hold().unwrap();
        assert!(!in_use.close_unused(Instant::now()));
        drop(hold);
        assert!(in_use.begin_work());
        assert!(!in_use.close_unused(Instant::now()));
        assert!(in_use.end_work());
        assert!(in_use.close_unused(Instant::now()));
        assert!(in_use.hold().is_none(), "and then it stays closed");
    }

    #[test]
    fn work_that_comes_while_the_worker_ends_is_not_forgotten() {
        let in_use = InUse::new(Arc::default());
        assert!(in_use.begin_work());
        assert!(!in_use.begin_work(), "one worker is enough");
        assert!(!in_use.end_work(), "it has to look again");
        assert!(in_use.end_work());
        assert!(in_use.begin_work());
    }
}
