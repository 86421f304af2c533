//! Messages to the server, some of which outlive a link.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, LeaseHolder},
};
use deskhand_runner_protocol::{
    FromRunner, Outcome,
    codec::{self, BadEnvelope},
};
use tokio::sync::mpsc;

use crate::requests::{Admission, MOST_OPEN, Requests};

/// The most messages that may wait to be written. Every open request can have its result here twice.
const MOST_WAITING: usize = 3 * MOST_OPEN;

/// The queue of messages to the server. Clones share it.
///
/// Results wait for the next link if there is none. Output of running commands is worthless later, so it is
/// dropped. Notices and failed streams go to the current link only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox(Arc<Mutex<OutboxState>>);

#[derive(Debug, Default)]
struct OutboxState {
    requests: Requests,
    /// The queue of the current link, if there is one.
    link: Option<mpsc::Sender<Bytes>>,
    /// True once the last message was sent.
    is_closed: bool,
}

impl Outbox {
    /// Begins a link with this message and all results that the server may lack.
    ///
    /// The receiver yields the link's messages. When it ends, the caller must close the link.
    pub(crate) fn join(&self, first: FromRunner) -> mpsc::Receiver<Bytes> {
        let (sender, waiting) = mpsc::channel(MOST_WAITING);
        let mut inner = self.lock();
        for message in packed(first)
            .into_iter()
            .chain(inner.requests.unacknowledged())
        {
            // There is room for one message and all open requests.
            let _ = sender.try_send(message);
        }
        inner.link = Some(sender);
        waiting
    }

    /// Ends the current link with this message. No other one is made.
    pub(crate) fn close(&self, last: FromRunner) {
        self.tell(last);
        let mut inner = self.lock();
        inner.is_closed = true;
        inner.link = None;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    pub(crate) fn leave(&self) {
        self.lock().link = None;
    }

    pub(crate) fn admit(&self, id: RequestId, actor: Option<Actor>) -> Admission {
        self.lock().requests.admit(id, actor)
    }

    /// Obeys only this lease holder from now on.
    pub(crate) fn set_lease_holder(&self, holder: LeaseHolder) {
        self.lock().requests.set_lease_holder(holder);
    }

    pub(crate) fn acknowledge(&self, id: RequestId) {
        self.lock().requests.acknowledge(id);
    }

    pub(crate) fn cancel(&self, id: RequestId) {
        self.lock().requests.cancel(id);
    }

    /// Keeps and sends a result. If the request's actor lost the lease meanwhile, sends a refusal instead.
    pub(crate) fn finish(&self, id: RequestId, outcome: Outcome) {
        let mut inner = self.lock();
        if inner.requests.is_barred(id) {
            inner.keep_and_send(id, Outcome::Refused { was_begun: true });
        } else {
            inner.keep_and_send(id, outcome);
        }
    }

    /// Like [`Self::finish`], for a request that was not begun.
    pub(crate) fn skip(&self, id: RequestId) {
        let mut inner = self.lock();
        let outcome = if inner.requests.is_barred(id) {
            Outcome::Refused { was_begun: false }
        } else {
            Outcome::Cancelled
        };
        inner.keep_and_send(id, outcome);
    }

    /// Sends a result again.
    pub(crate) fn repeat(&self, result: Bytes) {
        self.lock().send(result);
    }

    /// Rejects a request without keeping the result.
    pub(crate) fn refuse(&self, id: RequestId, problem: String) {
        self.tell(FromRunner::Result {
            id,
            outcome: Outcome::Failed { problem },
        });
    }

    /// Sends a message over the current link. It is lost if there is none.
    pub(crate) fn tell(&self, message: FromRunner) {
        if let Some(message) = packed(message) {
            self.lock().send(message);
        }
    }

    /// Sends a piece of output, unless many messages are already waiting.
    pub(crate) fn progress(&self, id: RequestId, bytes: &[u8]) {
        let Some(message) = logged(codec::pack(&FromRunner::Progress { id }, bytes)) else {
            return;
        };
        let inner = self.lock();
        if inner.requests.is_barred(id) {
            return;
        }
        if let Some(link) = inner
            .link
            .as_ref()
            .filter(|link| link.capacity() > 2 * MOST_OPEN)
        {
            // If the link has just ended, the piece is lost, which is fine.
            let _ = link.try_send(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxState {
    fn keep_and_send(&mut self, id: RequestId, outcome: Outcome) {
        let Some(message) = packed(FromRunner::Result { id, outcome }) else {
            return;
        };
        self.requests.finish(id, message.clone());
        self.send(message);
    }

    /// Hands a message to the link. Drops a link that does not keep up: results are sent again on the next one.
    fn send(&mut self, message: Bytes) {
        if let Some(link) = &self.link
            && link.try_send(message).is_err()
        {
            self.link = None;
        }
    }
}

fn packed(message: FromRunner) -> Option<Bytes> {
    logged(message.pack())
}

/// Logs why a message could not be encoded, which is not expected of our own messages.
fn logged(packed: Result<Bytes, BadEnvelope>) -> Option<Bytes> {
    packed
        .inspect_err(|error| tracing::error!(%error, "could not encode a message"))
        .ok()
}
