//! What the runner has to say, kept across links.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, Driver},
};
use deskhand_runner_protocol::{FromRunner, Outcome, codec};
use tokio::sync::mpsc;

use crate::requests::{Admission, MOST_OPEN, Requests};

/// Messages that may wait to be written. Every open request can have its result here twice.
const MOST_WAITING: usize = 3 * MOST_OPEN;

/// Where messages to the server are left. Clones lead to the same one.
///
/// Results wait for the next link when there is none. Progress is worth nothing later, and is
/// dropped; notices and failed streams are told to the link of the moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    requests: Requests,
    /// The way to the present link, if there is one.
    link: Option<mpsc::Sender<Bytes>>,
}

impl Outbox {
    /// Begins a link with these words and all results that the server may lack. Messages for the
    /// link come from the receiver; when it ends, the link has to be given up.
    pub(crate) fn join(&self, first: &FromRunner) -> mpsc::Receiver<Bytes> {
        let (sender, waiting) = mpsc::channel(MOST_WAITING);
        let mut inner = self.lock();
        for message in packed(first, &[])
            .into_iter()
            .chain(inner.requests.unacknowledged())
        {
            // There is room for one message and all open requests.
            let _ = sender.try_send(message);
        }
        inner.link = Some(sender);
        waiting
    }

    pub(crate) fn leave(&self) {
        self.lock().link = None;
    }

    pub(crate) fn admit(&self, id: RequestId, actor: Actor) -> Admission {
        self.lock().requests.admit(id, actor)
    }

    /// Obeys only this driver from now on. Tells whether it was another one before.
    pub(crate) fn set_driver(&self, driver: Driver) -> bool {
        self.lock().requests.set_driver(driver)
    }

    pub(crate) fn acknowledge(&self, id: RequestId) {
        self.lock().requests.acknowledge(id);
    }

    pub(crate) fn cancel(&self, id: RequestId) {
        self.lock().requests.cancel(id);
    }

    /// Keeps and sends a result, unless somebody took over while it came about.
    pub(crate) fn finish(&self, id: RequestId, outcome: Outcome, body: &[u8]) {
        let mut inner = self.lock();
        if inner.requests.is_barred(id) {
            inner.keep_and_send(id, Outcome::Refused { was_begun: true }, &[]);
        } else {
            inner.keep_and_send(id, outcome, body);
        }
    }

    /// The same for a request that was not begun.
    pub(crate) fn skip(&self, id: RequestId) {
        let mut inner = self.lock();
        let outcome = if inner.requests.is_barred(id) {
            Outcome::Refused { was_begun: false }
        } else {
            Outcome::Cancelled
        };
        inner.keep_and_send(id, outcome, &[]);
    }

    /// Sends a result once more.
    pub(crate) fn repeat(&self, result: Bytes) {
        self.lock().send(result);
    }

    /// Answers a request that is not carried out. The answer is not kept.
    pub(crate) fn refuse(&self, id: RequestId, problem: String) {
        self.tell(&FromRunner::Result {
            id,
            outcome: Outcome::Failed { problem },
        });
    }

    /// Sends a message that means something only now.
    pub(crate) fn tell(&self, message: &FromRunner) {
        if let Some(message) = packed(message, &[]) {
            self.lock().send(message);
        }
    }

    /// Sends a piece of output, unless there is a crowd already.
    pub(crate) fn progress(&self, id: RequestId, bytes: &[u8]) {
        let Some(message) = packed(&FromRunner::Progress { id }, bytes) else {
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
            // A link that has just ended loses it, as it should.
            let _ = link.try_send(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics half way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn keep_and_send(&mut self, id: RequestId, outcome: Outcome, body: &[u8]) {
        let Some(message) = packed(&FromRunner::Result { id, outcome }, body) else {
            return;
        };
        self.requests.finish(id, message.clone());
        self.send(message);
    }

    /// Hands a message to the link. One that does not keep up is given up: results are sent
    /// again on the next.
    fn send(&mut self, message: Bytes) {
        if let Some(link) = &self.link
            && link.try_send(message).is_err()
        {
            self.link = None;
        }
    }
}

/// Our own heads can always be packed; should one not, the log has to say why.
fn packed(head: &FromRunner, body: &[u8]) -> Option<Bytes> {
    codec::pack(head, body)
        .inspect_err(|error| tracing::error!(%error, "a message could not be packed"))
        .ok()
}
