//! The people's side of a session: the connected people, and the holder of the lease on the mouse and keyboard.
//!
//! The store decides whose lease it is. This is its copy in memory, changed only by [`crate::Control`] under
//! [`Attendance::change`], so that store, runner and screens agree.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use deskhand_core::{
    id::{SessionId, UserId},
    lease::Lease,
    sandbox::LeaseHolder,
};
use tokio::sync::watch;

use super::presence::Presence;

/// The time for which a holder may be disconnected before the lease ends.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The attendance of all sessions that have some.
///
/// A sleeping session may have people who look at its log, or a lease that has not ended. So this map is separate
/// from the awake sessions. An entry is kept by its users (an awake session, a connection, the watch over a lease)
/// and goes with the last of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attendances(Arc<AttendanceMap>);

type AttendanceMap = Mutex<HashMap<SessionId, Weak<Attendance>>>;

/// The people's side of one session.
#[derive(Debug)]
pub(crate) struct Attendance {
    /// Held while the lease changes hands or a sandbox is told who has it.
    pub(crate) change: tokio::sync::Mutex<()>,
    pub(crate) presence: Presence,
    lease: watch::Sender<LeaseState>,
    /// The number of connections of each person. It is 0 for a holder who has lost all.
    connections: watch::Sender<HashMap<UserId, usize>>,
    session: SessionId,
    map: Weak<AttendanceMap>,
}

#[derive(Debug, Clone, Default)]
struct LeaseState {
    lease: Option<Lease>,
    /// The number of leases so far, to tell a later lease of the same person from this one.
    number: u64,
    /// True if the holder's input is let through: only while the sandbox obeys them.
    is_open: bool,
}

/// A lease that is held, distinct from a later one of the same person.
#[derive(Debug, Clone)]
pub(crate) struct HeldLease {
    pub(crate) lease: Lease,
    pub(crate) number: u64,
}

/// One connection of a person to a session, until it is dropped.
#[derive(Debug)]
pub struct Connection {
    attendance: Arc<Attendance>,
    user: UserId,
    lease: watch::Receiver<LeaseState>,
}

/// Tells whether a person has control of a session's computer.
#[derive(Debug)]
pub(crate) struct ControlState {
    /// Keeps the record of the session.
    _attendance: Arc<Attendance>,
    lease: watch::Receiver<LeaseState>,
}

impl Attendances {
    /// Returns the attendance of a session, and creates it if there is none.
    pub(crate) fn of(&self, session: SessionId) -> Arc<Attendance> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = map.get(&session).and_then(Weak::upgrade) {
            return known;
        }
        let attendance = Arc::new(Attendance {
            change: tokio::sync::Mutex::default(),
            presence: Presence::default(),
            lease: watch::Sender::default(),
            connections: watch::Sender::default(),
            session,
            map: Arc::downgrade(&self.0),
        });
        map.insert(session, Arc::downgrade(&attendance));
        attendance
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        let Some(map) = self.map.upgrade() else {
            return;
        };
        let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
        // A new person may have connected in the meantime, and created another entry.
        if map
            .get(&self.session)
            .is_some_and(|entry| entry.strong_count() == 0)
        {
            map.remove(&self.session);
        }
    }
}

impl Attendance {
    /// Returns the lease that a person has.
    pub(crate) fn held(&self) -> Option<HeldLease> {
        let state = self.lease.borrow();
        let lease = state.lease.clone()?;
        Some(HeldLease {
            lease,
            number: state.number,
        })
    }

    /// Returns true if a person's input is let through. Before and after that, their lease is only about to begin or
    /// to end, and programs of the agent may run.
    pub(crate) fn is_open_for(&self, user: UserId) -> bool {
        let state = self.lease.borrow();
        let lease = state.lease.as_ref().filter(|_| state.is_open);
        lease.is_some_and(|lease| lease.user == user)
    }

    /// Returns the lease holder as a sandbox of this session has to know it.
    pub(crate) fn lease_holder(&self) -> LeaseHolder {
        match &self.lease.borrow().lease {
            Some(lease) => LeaseHolder::Person(lease.user),
            None => LeaseHolder::Nobody,
        }
    }

    /// Records a lease that is in the store. Returns it if it is a new one; its input is let through after
    /// [`Attendance::open`].
    pub(crate) fn note(&self, lease: Lease) -> Option<HeldLease> {
        self.connections
            .send_modify(|people| people.retain(|_, n_connections| *n_connections > 0));
        let mut is_new = false;
        self.lease.send_modify(|state| {
            is_new = state
                .lease
                .as_ref()
                .is_none_or(|held| held.user != lease.user);
            state.lease = Some(lease);
            if is_new {
                state.number += 1;
                state.is_open = false;
            }
        });
        self.held().filter(|_| is_new)
    }

    /// Lets input of the holder through.
    pub(crate) fn open(&self) {
        self.lease.send_modify(|state| state.is_open = true);
    }

    /// Blocks the holder's input. Returns true if it was open before.
    pub(crate) fn shut(&self) -> bool {
        let mut was_open = false;
        self.lease
            .send_modify(|state| was_open = std::mem::take(&mut state.is_open));
        was_open
    }

    /// Records that the lease is over.
    pub(crate) fn clear(&self) {
        self.lease.send_modify(|state| {
            state.lease = None;
            state.is_open = false;
        });
    }

    /// Waits while a person has the lease.
    pub(crate) async fn free(&self) {
        let mut state = self.lease.subscribe();
        // The sender is part of this, so waiting cannot fail.
        let _ = state.wait_for(|state| state.lease.is_none()).await;
    }

    /// Waits until this lease has ended or another one has replaced it.
    pub(crate) async fn changed_from(&self, held: &HeldLease) {
        let mut state = self.lease.subscribe();
        let is_same = |state: &LeaseState| {
            state.number == held.number && state.lease.as_ref() == Some(&held.lease)
        };
        // As above.
        let _ = state.wait_for(|state| !is_same(state)).await;
    }

    /// Waits until a person who was connected has been away for [`RECONNECT_TIMEOUT`].
    pub(crate) async fn left_by(&self, user: UserId) {
        let mut connections = self.connections.subscribe();
        let is_gone = |people: &HashMap<UserId, usize>| people.get(&user) == Some(&0);
        loop {
            // As above, also below.
            let _ = connections.wait_for(is_gone).await;
            let back = connections.wait_for(|people| !is_gone(people));
            if tokio::time::timeout(RECONNECT_TIMEOUT, back).await.is_err() {
                return;
            }
        }
    }

    /// Returns a view of who has control.
    pub(crate) fn control_state(self: Arc<Self>) -> ControlState {
        let lease = self.lease.subscribe();
        ControlState {
            _attendance: self,
            lease,
        }
    }

    /// Adds a connection of `user`.
    pub(crate) fn connect(self: Arc<Self>, user: UserId) -> Connection {
        self.connections
            .send_modify(|people| *people.entry(user).or_default() += 1);
        let lease = self.lease.subscribe();
        Connection {
            attendance: self,
            user,
            lease,
        }
    }
}

impl ControlState {
    /// Returns true from before a person's input is let through until after it no longer is.
    pub(crate) fn is_held(&self) -> bool {
        self.lease.borrow().lease.is_some()
    }

    /// Returns true if control may have changed hands since the last call.
    pub(crate) fn has_changed(&mut self) -> bool {
        // It fails only without a sender, which this view keeps.
        let has_changed = self.lease.has_changed().unwrap_or_default();
        self.lease.mark_unchanged();
        has_changed
    }

    /// Waits until control may have changed hands, which the next call of [`Self::has_changed`] tells as well.
    pub(crate) async fn changed(&mut self) {
        // This view keeps the sender, so waiting does not fail.
        if self.lease.changed().await.is_ok() {
            self.lease.mark_changed();
        }
    }
}

impl Connection {
    /// Returns `true` while the mouse and keyboard are theirs.
    pub fn drives(&self) -> bool {
        let state = self.lease.borrow();
        let lease = state.lease.as_ref().filter(|_| state.is_open);
        lease.is_some_and(|lease| lease.user == self.user)
    }

    /// Waits until control may have changed hands.
    pub async fn changed(&mut self) {
        // This connection keeps the sender, so waiting cannot fail.
        let _ = self.lease.changed().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let holder = self.lease.borrow().lease.as_ref().map(|lease| lease.user);
        self.attendance.connections.send_modify(|people| {
            let Some(n_connections) = people.get_mut(&self.user) else {
                return;
            };
            *n_connections -= 1;
            // A person's absence matters only while they have the lease.
            if *n_connections == 0 && holder != Some(self.user) {
                people.remove(&self.user);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_goes_with_its_last_user() {
        let attendances = Attendances::default();
        let session = SessionId::new();
        let n_entries = || attendances.0.lock().unwrap().len();
        let first = attendances.of(session).connect(UserId::new());
        let second = attendances.of(session);
        assert!(Arc::ptr_eq(&first.attendance, &second), "one for all");
        drop(first);
        assert_eq!(n_entries(), 1);
        drop(second);
        assert_eq!(n_entries(), 0);
    }
}
