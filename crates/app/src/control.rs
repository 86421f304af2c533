//! Control as open connections and turns see it: who has mouse and keyboard right now.
//!
//! The store says whose lease it is. This is its picture in memory, changed only by
//! [`crate::sessions`] under [`Room::change`], so that store, runner and screens agree.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_core::{
    id::{SessionId, UserId},
    lease::Lease,
    sandbox::LeaseHolder,
};
use tokio::sync::watch;

/// How long somebody may be away from a session before they lose control of it.
pub(crate) const AWAY: Duration = Duration::from_secs(15);

/// Control in all sessions that somebody used since the server started.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<HashMap<SessionId, Arc<Room>>>);

/// Control in one session.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Held while control changes hands or a sandbox is told who has it.
    pub(crate) change: tokio::sync::Mutex<()>,
    state: watch::Sender<State>,
    /// How many connections each person has; 0 when they had some and lost them.
    attendance: watch::Sender<HashMap<UserId, usize>>,
}

#[derive(Debug, Clone, Default)]
struct State {
    lease: Option<Lease>,
    /// Counts leases, so that a later one of the same person is another one.
    number: u64,
    /// Whether input of the holder is let through: only while the sandbox obeys them.
    is_open: bool,
}

/// A lease that is held, told apart from a later one of the same person.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) lease: Lease,
    pub(crate) number: u64,
}

/// A connection of somebody to a session, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    room: Arc<Room>,
    user: UserId,
    state: watch::Receiver<State>,
}

impl Rooms {
    pub(crate) fn room(&self, session: SessionId) -> Arc<Room> {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(rooms.entry(session).or_default())
    }

    pub(crate) fn forget(&self, session: SessionId) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.remove(&session);
    }
}

impl Room {
    pub(crate) fn held(&self) -> Option<Held> {
        let state = self.state.borrow();
        let lease = state.lease.clone()?;
        Some(Held {
            lease,
            number: state.number,
        })
    }

    /// Returns the lease holder as a sandbox of this session has to know it.
    pub(crate) fn lease_holder(&self) -> LeaseHolder {
        match &self.state.borrow().lease {
            Some(lease) => LeaseHolder::Person(lease.user),
            None => LeaseHolder::Nobody,
        }
    }

    /// Notes a lease that is in the store; answers it if it is a new one. Its input is let through
    /// after [`Room::open`].
    pub(crate) fn note(&self, lease: Lease) -> Option<Held> {
        self.attendance
            .send_modify(|people| people.retain(|_, n_connections| *n_connections > 0));
        let mut is_new = false;
        self.state.send_modify(|state| {
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

    pub(crate) fn open(&self) {
        self.state.send_modify(|state| state.is_open = true);
    }

    pub(crate) fn shut(&self) {
        self.state.send_modify(|state| state.is_open = false);
    }

    /// Notes that nobody has a lease any more.
    pub(crate) fn clear(&self) {
        self.state.send_modify(|state| {
            state.lease = None;
            state.is_open = false;
        });
    }

    /// Waits while a person has control.
    pub(crate) async fn free(&self) {
        let mut state = self.state.subscribe();
        // The sender is part of the room, so waiting cannot fail.
        let _ = state.wait_for(|state| state.lease.is_none()).await;
    }

    /// Waits until this lease is another, or none.
    pub(crate) async fn changed_from(&self, held: &Held) {
        let mut state = self.state.subscribe();
        let same = |state: &State| {
            state.number == held.number && state.lease.as_ref() == Some(&held.lease)
        };
        // As above.
        let _ = state.wait_for(|state| !same(state)).await;
    }

    /// Waits until somebody who was here has been away for [`AWAY`].
    pub(crate) async fn left_by(&self, user: UserId) {
        let mut attendance = self.attendance.subscribe();
        let is_gone = |people: &HashMap<UserId, usize>| people.get(&user) == Some(&0);
        loop {
            // As above, also below.
            let _ = attendance.wait_for(is_gone).await;
            let back = attendance.wait_for(|people| !is_gone(people));
            if tokio::time::timeout(AWAY, back).await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn seat(self: Arc<Self>, user: UserId) -> Seat {
        self.attendance
            .send_modify(|people| *people.entry(user).or_default() += 1);
        let state = self.state.subscribe();
        Seat {
            room: self,
            user,
            state,
        }
    }
}

impl Seat {
    /// Whether mouse and keyboard are theirs now.
    pub fn drives(&self) -> bool {
        let state = self.state.borrow();
        let lease = state.lease.as_ref().filter(|_| state.is_open);
        lease.is_some_and(|lease| lease.user == self.user)
    }

    /// Waits until control may be another's.
    pub async fn changed(&mut self) {
        // The room is kept by this seat, so waiting cannot fail.
        let _ = self.state.changed().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let holder = self.state.borrow().lease.as_ref().map(|lease| lease.user);
        self.room.attendance.send_modify(|people| {
            let Some(n_connections) = people.get_mut(&self.user) else {
                return;
            };
            *n_connections -= 1;
            // That somebody is gone matters only while they have control.
            if *n_connections == 0 && holder != Some(self.user) {
                people.remove(&self.user);
            }
        });
    }
}
