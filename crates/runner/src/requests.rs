//! The table of requests by id. The runner carries out each request at most once and keeps its result until the
//! server has acknowledged it.

pub(crate) mod work;

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, LeaseHolder},
};
use tokio_util::sync::CancellationToken;

/// The most requests that may be running or have an unacknowledged result.
pub(crate) const MOST_OPEN: usize = 256;
/// The most acknowledged ids that are remembered, so that a late repeat is not taken for a new request.
const MOST_CLOSED: usize = 1024;

/// All requests that are running, waiting for an acknowledgement, or remembered.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    holder: LeaseHolder,
    open: HashMap<RequestId, Open>,
    /// Ids of requests with a result, in the order in which they finished.
    done_in_order: VecDeque<RequestId>,
    closed: HashSet<RequestId>,
    closed_in_order: VecDeque<RequestId>,
}

#[derive(Debug)]
enum Open {
    Running(Running),
    /// The packed result message.
    Done(Bytes),
}

#[derive(Debug)]
struct Running {
    /// Absent if the request is allowed regardless of the lease.
    actor: Option<Actor>,
    cancel: CancellationToken,
    /// True if the lease holder does not admit this actor, or did not at some point while the request ran.
    is_barred: bool,
}

/// The decision about a request that has arrived.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Carry it out, and stop when the token is cancelled.
    New(CancellationToken),
    /// Another actor holds the lease.
    Refused,
    /// It is already running, and its result will be sent.
    Running,
    /// It was carried out. This is the result.
    Done(Bytes),
    /// It was carried out, and the server acknowledged its result.
    Closed,
    /// There are too many open requests.
    Full,
}

impl Requests {
    /// Decides about a request. Without an actor, it is allowed regardless of the lease.
    pub(crate) fn admit(&mut self, id: RequestId, actor: Option<Actor>) -> Admission {
        match self.open.get(&id) {
            Some(Open::Running(_)) => return Admission::Running,
            Some(Open::Done(result)) => return Admission::Done(result.clone()),
            None if self.closed.contains(&id) => return Admission::Closed,
            None if self.open.len() >= MOST_OPEN => return Admission::Full,
            None => {}
        }
        let is_barred = actor.is_some_and(|actor| !self.holder.admits(actor));
        let cancel = CancellationToken::new();
        let running = Running {
            actor,
            cancel: cancel.clone(),
            is_barred,
        };
        self.open.insert(id, Open::Running(running));
        if is_barred {
            return Admission::Refused;
        }
        Admission::New(cancel)
    }

    /// Obeys only this lease holder from now on, and cancels the running requests of other actors.
    ///
    /// Returns true if the holder changed.
    pub(crate) fn set_lease_holder(&mut self, holder: LeaseHolder) -> bool {
        let is_another = holder != std::mem::replace(&mut self.holder, holder);
        for open in self.open.values_mut() {
            if let Open::Running(running) = open
                && running.actor.is_some_and(|actor| !holder.admits(actor))
            {
                running.is_barred = true;
                running.cancel.cancel();
            }
        }
        is_another
    }

    /// Returns true if the result of a running request must not be sent.
    pub(crate) fn is_barred(&self, id: RequestId) -> bool {
        matches!(self.open.get(&id), Some(Open::Running(running)) if running.is_barred)
    }

    /// Keeps the result until it is acknowledged.
    pub(crate) fn finish(&mut self, id: RequestId, result: Bytes) {
        self.open.insert(id, Open::Done(result));
        self.done_in_order.push_back(id);
    }

    /// Forgets a result, but remembers that its request was done.
    pub(crate) fn acknowledge(&mut self, id: RequestId) {
        if !matches!(self.open.get(&id), Some(Open::Done(_))) {
            return;
        }
        self.open.remove(&id);
        self.done_in_order.retain(|done| *done != id);
        self.closed.insert(id);
        self.closed_in_order.push_back(id);
        if self.closed_in_order.len() > MOST_CLOSED
            && let Some(oldest) = self.closed_in_order.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    /// Cancels a request, if it is running.
    pub(crate) fn cancel(&self, id: RequestId) {
        if let Some(Open::Running(running)) = self.open.get(&id) {
            running.cancel.cancel();
        }
    }

    /// Returns the results that the server has not acknowledged, oldest first.
    pub(crate) fn unacknowledged(&self) -> impl Iterator<Item = Bytes> {
        self.done_in_order
            .iter()
            .filter_map(|id| match self.open.get(id) {
                Some(Open::Done(result)) => Some(result.clone()),
                Some(Open::Running(_)) | None => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_only_once() {
        let mut requests = Requests::default();
        let id = RequestId::new();
        assert!(matches!(
            requests.admit(id, Some(Actor::Agent)),
            Admission::New(_)
        ));
        assert!(matches!(
            requests.admit(id, Some(Actor::Agent)),
            Admission::Running
        ));
        requests.finish(id, Bytes::from_static(b"result"));
        assert!(
            matches!(requests.admit(id, Some(Actor::Agent)), Admission::Done(result) if &*result == b"result")
        );
        requests.acknowledge(id);
        assert!(matches!(
            requests.admit(id, Some(Actor::Agent)),
            Admission::Closed
        ));
        assert_eq!(requests.unacknowledged().count(), 0);
    }

    #[test]
    fn an_acknowledgement_of_a_running_request_means_nothing() {
        let mut requests = Requests::default();
        let id = RequestId::new();
        requests.admit(id, Some(Actor::Agent));
        requests.acknowledge(id);
        assert!(matches!(
            requests.admit(id, Some(Actor::Agent)),
            Admission::Running
        ));
    }

    #[test]
    fn results_wait_in_the_order_in_which_they_came() {
        let mut requests = Requests::default();
        let ids = [RequestId::new(), RequestId::new(), RequestId::new()];
        for id in ids {
            requests.admit(id, Some(Actor::Agent));
        }
        requests.finish(ids[2], Bytes::from_static(b"2"));
        requests.finish(ids[0], Bytes::from_static(b"0"));
        requests.finish(ids[1], Bytes::from_static(b"1"));
        requests.acknowledge(ids[0]);
        let waiting: Vec<Bytes> = requests.unacknowledged().collect();
        assert_eq!(
            waiting,
            [Bytes::from_static(b"2"), Bytes::from_static(b"1")]
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut requests = Requests::default();
        let first = RequestId::new();
        for id in std::iter::once(first).chain((0..MOST_CLOSED).map(|_| RequestId::new())) {
            requests.admit(id, Some(Actor::Agent));
            requests.finish(id, Bytes::new());
            requests.acknowledge(id);
        }
        assert_eq!(requests.closed.len(), MOST_CLOSED);
        assert!(!requests.closed.contains(&first));
        for _ in 0..MOST_OPEN {
            assert!(matches!(
                requests.admit(RequestId::new(), Some(Actor::Agent)),
                Admission::New(_)
            ));
        }
        assert!(matches!(
            requests.admit(RequestId::new(), Some(Actor::Agent)),
            Admission::Full
        ));
    }

    #[test]
    fn the_lease_holder_bars_the_requests_of_others() {
        let user = deskhand_core::id::UserId::new();
        let mut requests = Requests::default();
        let [before, during, own, after] = [(); 4].map(|()| RequestId::new());
        let Admission::New(cancel) = requests.admit(before, Some(Actor::Agent)) else {
            panic!("it is new");
        };
        assert!(requests.set_lease_holder(LeaseHolder::Person(user)));
        assert!(!requests.set_lease_holder(LeaseHolder::Person(user)));
        assert!(cancel.is_cancelled() && requests.is_barred(before));
        assert!(matches!(
            requests.admit(during, Some(Actor::Agent)),
            Admission::Refused
        ));
        let other = Actor::Person(deskhand_core::id::UserId::new());
        assert!(matches!(
            requests.admit(RequestId::new(), Some(other)),
            Admission::Refused
        ));
        assert!(matches!(
            requests.admit(own, Some(Actor::Person(user))),
            Admission::New(_)
        ));
        assert!(matches!(
            requests.admit(RequestId::new(), None),
            Admission::New(_)
        ));
        assert!(requests.set_lease_holder(LeaseHolder::Nobody));
        // A request that was already running stays barred.
        assert!(requests.is_barred(before) && !requests.is_barred(own));
        assert!(matches!(
            requests.admit(after, Some(Actor::Agent)),
            Admission::New(_)
        ));
    }
}
