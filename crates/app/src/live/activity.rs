//! Tracks why a session must stay awake, and since when it has been idle.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// The time for which a page counts as visible after its last sign of life.
const VISIBLE_FOR: Duration = Duration::from_secs(75);
/// The time for which a person counts as working after their last command in a terminal or their last use of VS Code. A
/// long download should not need a key press in between.
const DIRECTED_FOR: Duration = Duration::from_mins(15);

/// The reasons for which one session stays awake.
///
/// A session can be closed only while there is no reason, and a closed one takes no new reason. So a
/// session never goes to sleep while it is used.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<State>,
    /// Notifies the keeper that there may be an idle session.
    idle: Arc<Notify>,
    /// Notifies waiters that the worker rests, or that a turn began.
    progress: Notify,
}

#[derive(Debug)]
struct State {
    n_guards: usize,
    worker: Worker,
    is_in_turn: bool,
    is_closed: bool,
    used_at: Instant,
    seen_at: Option<Instant>,
    /// The time at which a person last gave the sandbox something to do.
    directed_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    Rests,
    Works,
    /// The worker is busy, and a prompt arrived that it may not have seen.
    IsNudged,
}

impl Activity {
    pub(crate) fn new(idle: Arc<Notify>) -> Self {
        Self {
            state: Mutex::new(State {
                n_guards: 0,
                worker: Worker::Rests,
                is_in_turn: false,
                is_closed: false,
                used_at: Instant::now(),
                seen_at: None,
                directed_at: None,
            }),
            idle,
            progress: Notify::new(),
        }
    }

    /// Adds a reason to stay awake. Returns `false` if the session is going to sleep already.
    pub(crate) fn acquire(&self) -> bool {
        let mut state = self.state();
        if !state.is_closed {
            state.n_guards += 1;
        }
        !state.is_closed
    }

    /// Removes one reason that [`Activity::acquire`] added.
    pub(crate) fn release(&self) {
        let mut state = self.state();
        state.n_guards -= 1;
        state.used_at = Instant::now();
        let is_idle = state.is_idle();
        drop(state);
        if is_idle {
            self.idle.notify_one();
        }
    }

    /// Records that the session is used at this moment.
    pub(crate) fn touch(&self) {
        self.state().used_at = Instant::now();
    }

    /// Records that a person gave the sandbox something to do without having control: in a terminal or in VS Code.
    pub(crate) fn note_directed(&self) {
        let mut state = self.state();
        state.used_at = Instant::now();
        state.directed_at = Some(state.used_at);
    }

    /// Returns `true` if a person gave the sandbox something to do recently.
    pub(crate) fn is_directed(&self) -> bool {
        let at = self.state().directed_at;
        at.is_some_and(|at| at.elapsed() < DIRECTED_FOR)
    }

    /// Records that a person stopped the agent, so earlier commands no longer count.
    pub(crate) fn end_directed(&self) {
        self.state().directed_at = None;
    }

    /// Records that a visible page shows the session.
    pub(crate) fn note_visible(&self) {
        let mut state = self.state();
        state.used_at = Instant::now();
        state.seen_at = Some(state.used_at);
    }

    /// Returns the time since which the session has been idle. Returns `None` while it is used or once it is closed.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.is_idle() && !state.is_closed).then_some(state.used_at)
    }

    /// Returns `true` while a visible page shows the session.
    pub(crate) fn is_visible(&self) -> bool {
        self.state()
            .seen_at
            .is_some_and(|at| at.elapsed() < VISIBLE_FOR)
    }

    /// Closes the session if it has been idle since `since`.
    pub(crate) fn close_idle(&self, since: Instant) -> bool {
        let mut state = self.state();
        let closes = state.is_idle() && !state.is_closed && state.used_at <= since;
        state.is_closed |= closes;
        closes
    }

    /// Closes the session, even if it is in use. Returns `false` if it was closed already.
    pub(crate) fn close(&self) -> bool {
        !std::mem::replace(&mut self.state().is_closed, true)
    }

    /// Records that there is work. Returns `true` if the caller has to start a worker.
    pub(crate) fn begin_work(&self) -> bool {
        let mut state = self.state();
        let rests = state.worker == Worker::Rests;
        state.worker = if rests {
            Worker::Works
        } else {
            Worker::IsNudged
        };
        rests
    }

    /// Records that the worker found no prompt. Returns `true` if it may end.
    pub(crate) fn end_work(&self) -> bool {
        let mut state = self.state();
        state.used_at = Instant::now();
        if state.worker == Worker::IsNudged {
            state.worker = Worker::Works;
            return false;
        }
        state.worker = Worker::Rests;
        drop(state);
        self.progress.notify_waiters();
        self.idle.notify_one();
        true
    }

    /// Records that the worker ends, even if prompts wait.
    pub(crate) fn give_up_work(&self) {
        let mut state = self.state();
        state.worker = Worker::Rests;
        state.is_in_turn = false;
        drop(state);
        self.progress.notify_waiters();
    }

    /// Records that the worker has a prompt to work on.
    pub(crate) fn begin_turn(&self) {
        self.state().is_in_turn = true;
        self.progress.notify_waiters();
    }

    /// Records that a turn is over. Called before the log says so: a reader who sees there that the agent is done
    /// finds the session between turns here, or idle.
    pub(crate) fn end_turn(&self) {
        self.state().is_in_turn = false;
    }

    /// Returns `true` while the worker looks for its next prompt.
    pub(crate) fn is_between_turns(&self) -> bool {
        self.state().is_between_turns()
    }

    /// Waits until the worker has found its next prompt, or rests.
    pub(crate) async fn settled(&self) {
        self.wait_until(|state| !state.is_between_turns()).await;
    }

    /// Waits until the worker rests.
    pub(crate) async fn rested(&self) {
        self.wait_until(|state| state.worker == Worker::Rests).await;
    }

    async fn wait_until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            // Created before the check, so that no change is missed.
            let progress = self.progress.notified();
            if condition(&self.state()) {
                return;
            }
            progress.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.n_guards == 0 && self.worker == Worker::Rests
    }

    fn is_between_turns(&self) -> bool {
        self.worker != Worker::Rests && !self.is_in_turn
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn activity() -> Activity {
        Activity::new(Arc::default())
    }

    #[test]
    fn a_session_in_use_is_not_closed() {
        let activity = activity();
        assert!(activity.acquire());
        assert!(!activity.close_idle(Instant::now()));
        activity.release();
        assert!(activity.begin_work());
        assert!(!activity.close_idle(Instant::now()));
        assert!(activity.end_work());
        assert!(activity.close_idle(Instant::now()));
        assert!(!activity.acquire(), "and then it stays closed");
    }

    #[test]
    fn work_that_comes_while_the_worker_ends_is_not_forgotten() {
        let activity = activity();
        assert!(activity.begin_work());
        assert!(!activity.begin_work(), "one worker is enough");
        assert!(!activity.end_work(), "it has to look again");
        assert!(activity.end_work());
        assert!(activity.begin_work());
    }

    #[test]
    fn a_worker_settles_with_its_next_prompt_or_at_rest() {
        let activity = activity();
        assert!(activity.settled().now_or_never().is_some(), "it rests");
        activity.begin_work();
        assert!(activity.settled().now_or_never().is_none(), "it looks");
        activity.begin_turn();
        assert!(activity.settled().now_or_never().is_some(), "it has one");
        activity.end_turn();
        assert!(activity.is_between_turns());
        activity.end_work();
        assert!(activity.settled().now_or_never().is_some(), "it rests");
    }
}
