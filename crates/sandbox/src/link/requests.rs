//! Pending requests, which may have been sent but are not answered yet.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, Call, ComputerError, LeaseHolder, Progress, RunnerReply, RunnerRequest},
};
use deskhand_runner_protocol::{LONGEST_MESSAGE_BYTES, ToRunner};
use tokio::{sync::oneshot, time::timeout};

use super::{Link, RECONNECT_TIMEOUT, Status};

/// The most requests that may be pending at once.
const MOST_REQUESTS: usize = 256;
/// The number of results kept for requests that are repeated with the same id. It is small because pictures are
/// large.
const REMEMBERED_RESULTS: usize = 8;

pub(super) type RequestResult = Result<RunnerReply, ComputerError>;

/// All pending requests in the order in which they were made, which is the order in which the runner acts.
#[derive(Default)]
pub(super) struct Requests {
    pending: Vec<Pending>,
    answered: VecDeque<(RequestId, RequestResult)>,
}

struct Pending {
    id: RequestId,
    actor: Actor,
    message: Bytes,
    /// The control link on which it was last sent.
    sent_on: Option<u64>,
    /// All callers that made a request with this id.
    callers: Vec<oneshot::Sender<RequestResult>>,
    progress: Option<Progress>,
}

impl Pending {
    fn answer(self, answer: &RequestResult) {
        for caller in self.callers {
            // A caller that is gone does not want the result.
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
    /// Returns the next request that has not been sent on this control link.
    pub(super) fn next_for(&mut self, generation: u64) -> Option<Bytes> {
        let pending = self
            .pending
            .iter_mut()
            .find(|pending| pending.sent_on != Some(generation))?;
        pending.sent_on = Some(generation);
        Some(pending.message.clone())
    }

    /// Hands a result to the callers.
    pub(super) fn answer(&mut self, id: RequestId, answer: RequestResult) {
        // A result without a pending request is a repetition after a reconnect.
        if let Some(pending) = self.take(id) {
            pending.answer(&answer);
            if self.answered.len() == REMEMBERED_RESULTS {
                self.answered.pop_front();
            }
            self.answered.push_back((id, answer));
        }
    }

    /// Forwards a piece of output, if the receiver has room for it.
    pub(super) fn progress(&mut self, id: RequestId, piece: Bytes) {
        let pending = self.pending.iter_mut().find(|pending| pending.id == id);
        if let Some(progress) = pending.and_then(|pending| pending.progress.as_mut()) {
            // The reply contains all output, so a piece may be dropped.
            let _ = progress.try_send(piece);
        }
    }

    /// Returns the requests of actors that this holder does not admit, each with true if it was sent.
    pub(super) fn barred_by(&self, holder: LeaseHolder) -> Vec<(RequestId, bool)> {
        let is_barred = |pending: &&Pending| !holder.admits(pending.actor);
        let pending = self.pending.iter().filter(is_barred);
        pending
            .map(|pending| (pending.id, pending.sent_on.is_some()))
            .collect()
    }

    /// Fails all pending requests, since no result will come.
    pub(super) fn lose_all(&mut self) {
        for pending in self.pending.drain(..) {
            pending.lose();
        }
    }

    fn take(&mut self, id: RequestId) -> Option<Pending> {
        let index = self.pending.iter().position(|pending| pending.id == id)?;
        Some(self.pending.remove(index))
    }

    fn ask(&mut self, call: Call, request: RunnerRequest) -> oneshot::Receiver<RequestResult> {
        let Call {
            id,
            actor,
            progress,
        } = call;
        let (caller, answer) = oneshot::channel();
        if let Some((_, remembered)) = self.answered.iter().find(|(known, _)| *known == id) {
            // The receiver still exists.
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
                    // The receiver still exists.
                    let _ = caller.send(Err(ComputerError::Failed(problem)));
                }
            }
        }
        answer
    }

    fn packed(&self, id: RequestId, actor: Actor, request: RunnerRequest) -> Result<Bytes, String> {
        if self.pending.len() >= MOST_REQUESTS {
            return Err(format!(
                "the computer already has {MOST_REQUESTS} requests in progress"
            ));
        }
        let message = ToRunner::Request { id, actor, request };
        let message = message
            .pack()
            .map_err(|error| format!("could not encode the request: {error}"))?;
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
    /// Sends a request to the runner and waits for its result.
    pub(crate) async fn carry_out(&self, call: Call, request: RunnerRequest) -> RequestResult {
        let id = call.id;
        let answer = {
            let mut state = self.state();
            if state.has_ended {
                return Err(ComputerError::Gone);
            }
            state.requests.ask(call, request)
        };
        self.wake.notify_waiters();
        tokio::select! {
            biased;
            // The sender is dropped only with the link itself.
            answer = answer => answer.unwrap_or(Err(ComputerError::Gone)),
            () = self.broken_for(RECONNECT_TIMEOUT) => {
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

    /// Cancels a request. A request that has not been sent yet is never sent.
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

    /// Waits until the runner has been disconnected for this long without interruption.
    async fn broken_for(&self, longest: Duration) {
        let mut status = self.status.subscribe();
        let is_ready = |status: &Status| matches!(status, Status::Ready(_));
        loop {
            let is_broken = status.wait_for(|status| !is_ready(status)).await.is_ok();
            let is_back = timeout(longest, status.wait_for(is_ready)).await;
            if !is_broken || is_back.is_err() {
                return;
            }
        }
    }
}
