//! Requests on their way: asked, perhaps sent, not yet answered.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, ComputerError, ComputerReply, ComputerRequest, Driver, Progress},
};
use deskhand_runner_protocol::{LONGEST_MESSAGE_BYTES, ToRunner, codec};
use tokio::{sync::oneshot, time::timeout};

use super::{Link, RECONNECT_PATIENCE, Status};

/// How many requests may be on their way at once.
const MOST_REQUESTS: usize = 256;
/// How many answers are remembered for ids that are asked again. Pictures make them large.
const REMEMBERED_ANSWERS: usize = 8;

/// What came of a request.
pub(super) type Answer = Result<ComputerReply, ComputerError>;

/// All requests on their way, in the order in which they were asked: the runner acts in the
/// order in which it hears.
#[derive(Default)]
pub(super) struct Requests {
    pending: Vec<Pending>,
    answered: VecDeque<(RequestId, Answer)>,
}

struct Pending {
    id: RequestId,
    actor: Actor,
    message: Bytes,
    /// The control link on which it went out last.
    sent_on: Option<u64>,
    /// Everybody who asked with this id.
    callers: Vec<oneshot::Sender<Answer>>,
    progress: Option<Progress>,
}

impl Pending {
    fn answer(self, answer: &Answer) {
        for caller in self.callers {
            // A caller that went away does not want the answer.
            let _ = caller.send(answer.clone());
        }
    }

    fn lose(self) {
        let answer = Err(match self.sent_on {
            Some(_) => ComputerError::FateUnknown,
            None => ComputerError::Gone,
        });
        self.answer(&answer);
    }
}

impl Requests {
    /// The next request that has not gone out on this control link.
    pub(super) fn next_for(&mut self, generation: u64) -> Option<Bytes> {
        let pending = self
            .pending
            .iter_mut()
            .find(|pending| pending.sent_on != Some(generation))?;
        pending.sent_on = Some(generation);
        Some(pending.message.clone())
    }

    /// Hands a result to those who asked.
    pub(super) fn answer(&mut self, id: RequestId, answer: Answer) {
        // A result that nobody waits for is a repetition after a reconnect.
        if let Some(pending) = self.take(id) {
            pending.answer(&answer);
            if self.answered.len() == REMEMBERED_ANSWERS {
                self.answered.pop_front();
            }
            self.answered.push_back((id, answer));
        }
    }

    /// Passes a piece of output on, if there is room for it where it goes.
    pub(super) fn progress(&mut self, id: RequestId, piece: Bytes) {
        let pending = self.pending.iter_mut().find(|pending| pending.id == id);
        if let Some(progress) = pending.and_then(|pending| pending.progress.as_mut()) {
            // The reply has everything, so a piece that finds no room may be lost.
            let _ = progress.try_send(piece);
        }
    }

    /// The requests of those whom this driver does not let act, and whether each was sent.
    pub(super) fn disobeyed_by(&self, driver: Driver) -> Vec<(RequestId, bool)> {
        let disobeyed = |pending: &&Pending| !driver.obeys(pending.actor);
        let pending = self.pending.iter().filter(disobeyed);
        pending
            .map(|pending| (pending.id, pending.sent_on.is_some()))
            .collect()
    }

    /// Nothing will be answered any more.
    pub(super) fn lose_all(&mut self) {
        for pending in self.pending.drain(..) {
            pending.lose();
        }
    }

    fn take(&mut self, id: RequestId) -> Option<Pending> {
        let index = self.pending.iter().position(|pending| pending.id == id)?;
        Some(self.pending.remove(index))
    }

    fn ask(
        &mut self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> oneshot::Receiver<Answer> {
        let (caller, answer) = oneshot::channel();
        if let Some((_, remembered)) = self.answered.iter().find(|(known, _)| *known == id) {
            // The receiver is still here.
            let _ = caller.send(remembered.clone());
        } else if let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == id) {
            pending.callers.push(caller);
            pending.progress = progress.or(pending.progress.take());
        } else {
            match self.packed(id, actor, request) {
                Ok(message) => self.pending.push(Pending {
                    id,
                    actor,
                    message,
                    sent_on: None,
                    callers: vec![caller],
                    progress,
                }),
                Err(problem) => {
                    // As above.
                    let _ = caller.send(Err(ComputerError::Failed(problem)));
                }
            }
        }
        answer
    }

    fn packed(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
    ) -> Result<Bytes, String> {
        if self.pending.len() >= MOST_REQUESTS {
            return Err(format!(
                "the computer has {MOST_REQUESTS} requests to carry out already"
            ));
        }
        let message = codec::pack(&ToRunner::Request { id, actor, request }, &[])
            .map_err(|error| format!("the request cannot be written down: {error}"))?;
        if message.len() > LONGEST_MESSAGE_BYTES {
            return Err(format!(
                "the request is longer than {} MiB",
                LONGEST_MESSAGE_BYTES / (1024 * 1024)
            ));
        }
        Ok(message)
    }
}

impl Link {
    /// Has a request carried out and waits for what comes of it.
    pub(crate) async fn perform(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> Answer {
        let answer = {
            let mut state = self.state();
            if state.has_ended {
                return Err(ComputerError::Gone);
            }
            state.requests.ask(id, actor, request, progress)
        };
        self.wake.notify_waiters();
        tokio::select! {
            biased;
            // The other end is dropped only with the link itself.
            answer = answer => answer.unwrap_or(Err(ComputerError::Gone)),
            () = self.broken_for(RECONNECT_PATIENCE) => {
                if let Some(pending) = self.state().requests.take(id) {
                    let was_sent = pending.sent_on.is_some();
                    pending.lose();
                    if !was_sent {
                        return Err(ComputerError::Gone);
                    }
                }
                Err(ComputerError::FateUnknown)
            }
        }
    }

    /// Ends a request early. One that has not left yet is simply not sent.
    pub(crate) fn cancel(&self, id: RequestId) {
        let mut state = self.state();
        let is_unsent = |pending: &Pending| pending.id == id && pending.sent_on.is_none();
        if state.requests.pending.iter().any(is_unsent) {
            state.requests.answer(id, Err(ComputerError::Cancelled));
        } else if state
            .requests
            .pending
            .iter()
            .any(|pending| pending.id == id)
        {
            state.notes.push_back(ToRunner::Cancel { id });
        }
        drop(state);
        self.wake.notify_waiters();
    }

    /// Returns when the runner has been away for this long at a stretch.
    async fn broken_for(&self, patience: Duration) {
        let mut status = self.status.subscribe();
        let is_ready = |status: &Status| matches!(status, Status::Ready(_));
        loop {
            let is_broken = status.wait_for(|status| !is_ready(status)).await.is_ok();
            let is_back = timeout(patience, status.wait_for(is_ready)).await;
            if !is_broken || is_back.is_err() {
                return;
            }
        }
    }
}
