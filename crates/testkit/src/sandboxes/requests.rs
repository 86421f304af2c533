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
    /// The streams that only those may use whom the holder admits.
    streams: Vec<(Actor, CancellationToken)>,
}

/// One request, running or answered.
#[derive(Debug, Clone)]
pub(super) struct RequestEntry {
    /// Absent if the lease does not matter for the request.
    actor: Option<Actor>,
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
    /// Returns the request with this id, and true if it is new and has to be carried out. Without an actor, the lease
    /// does not matter for it.
    pub(super) fn admit(&mut self, id: RequestId, actor: Option<Actor>) -> (RequestEntry, bool) {
        if let Some(known) = self.by_id.get(&id) {
            return (known.clone(), false);
        }
        let entry = RequestEntry {
            actor,
            cancel: CancellationToken::new(),
            result: watch::Sender::new(None),
        };
        self.by_id.insert(id, entry.clone());
        let is_admitted = actor.is_none_or(|actor| self.holder.admits(actor));
        if !is_admitted {
            entry.answer(Err(ComputerError::Refused { was_begun: false }));
        }
        (entry, is_admitted)
    }

    /// Returns true if the lease holder admits this actor.
    pub(super) fn admits(&self, actor: Actor) -> bool {
        self.holder.admits(actor)
    }

    /// Obeys only this holder from now on: the running requests of others are refused at once.
    pub(super) fn set_holder(&mut self, holder: LeaseHolder) {
        self.holder = holder;
        for entry in self.by_id.values() {
            if entry.actor.is_some_and(|actor| !holder.admits(actor)) {
                entry.answer(Err(ComputerError::Refused { was_begun: true }));
                entry.cancel.cancel();
            }
        }
        for (actor, ended) in &self.streams {
            if !holder.admits(*actor) {
                ended.cancel();
            }
        }
    }

    /// Admits a stream, unless another actor holds the lease. The token fires when one takes it.
    pub(super) fn admit_stream(&mut self, actor: Actor) -> Option<CancellationToken> {
        let admitted = self.holder.admits(actor).then(CancellationToken::new);
        self.streams
            .extend(admitted.clone().map(|ended| (actor, ended)));
        admitted
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
