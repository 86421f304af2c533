//! The requests of one fake sandbox by id: each is carried out once, and the lease decides which are answered.

use std::collections::HashMap;

use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, ComputerError, LeaseHolder, RunnerReply},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(super) type RequestResult = Result<RunnerReply, ComputerError>;

/// All requests so far.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    holder: LeaseHolder,
    by_id: HashMap<RequestId, RequestEntry>,
}

/// One request, running or answered.
#[derive(Debug, Clone)]
pub(super) struct RequestEntry {
    actor: Actor,
    pub(super) cancel: CancellationToken,
    pub(super) result: watch::Sender<Option<RequestResult>>,
}

impl RequestEntry {
    /// Answers the request, unless it has been answered.
    pub(super) fn answer(&self, result: RequestResult) {
        self.result.send_if_modified(|answered| {
            let is_first = answered.is_none();
            if is_first {
                *answered = Some(result);
            }
            is_first
        });
    }

    pub(super) fn is_answered(&self) -> bool {
        self.result.borrow().is_some()
    }

    /// Waits for the result.
    pub(super) async fn result(&self) -> RequestResult {
        let mut result = self.result.subscribe();
        match result.wait_for(Option::is_some).await {
            Ok(result) => result.clone().unwrap_or(Err(ComputerError::Gone)),
            Err(_) => Err(ComputerError::Gone),
        }
    }
}

impl RequestTable {
    /// Returns the request with this id, and true if it is new and has to be carried out.
    pub(super) fn admit(&mut self, id: RequestId, actor: Actor) -> (RequestEntry, bool) {
        if let Some(known) = self.by_id.get(&id) {
            return (known.clone(), false);
        }
        let entry = RequestEntry {
            actor,
            cancel: CancellationToken::new(),
            result: watch::Sender::new(None),
        };
        self.by_id.insert(id, entry.clone());
        let is_admitted = self.holder.admits(actor);
        if !is_admitted {
            entry.answer(Err(ComputerError::Refused { was_begun: false }));
        }
        (entry, is_admitted)
    }

    /// Obeys only this holder from now on: the running requests of others are refused at once.
    pub(super) fn set_holder(&mut self, holder: LeaseHolder) {
        self.holder = holder;
        for entry in self.by_id.values() {
            if !holder.admits(entry.actor) {
                entry.answer(Err(ComputerError::Refused { was_begun: true }));
                entry.cancel.cancel();
            }
        }
    }

    pub(super) fn cancel(&self, id: RequestId) {
        if let Some(entry) = self.by_id.get(&id) {
            entry.cancel.cancel();
        }
    }

    /// Leaves the fate of all running requests unknown.
    pub(super) fn lose_all(&self) {
        for entry in self.by_id.values() {
            entry.answer(Err(ComputerError::FateUnknown));
            entry.cancel.cancel();
        }
    }
}
