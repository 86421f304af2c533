//! The people who have a session open.
//!
//! Presence describes open connections, so it lives in memory only: it ends with the connection, and
//! with the server.

use std::{collections::BTreeMap, sync::Arc};

use deskhand_core::id::UserId;
use tokio::sync::watch;

use super::attendance::Attendance;

/// The people who have one session open.
#[derive(Debug, Default)]
pub(crate) struct Presence(watch::Sender<Visitors>);

type Visitors = BTreeMap<UserId, Visitor>;

#[derive(Debug, Clone)]
struct Visitor {
    name: String,
    n_connections: usize,
}

/// One connection of a visitor, until it is dropped.
#[derive(Debug)]
pub struct Present {
    /// Keeps the record of the session while people are there.
    attendance: Arc<Attendance>,
    user: UserId,
    visitors: watch::Receiver<Visitors>,
    /// The people that this connection was last told about.
    announced: BTreeMap<UserId, String>,
}

/// A person came or left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresenceChange {
    pub user: UserId,
    pub name: String,
    pub is_here: bool,
}

impl Presence {
    pub(crate) fn is_here(&self, user: UserId) -> bool {
        self.0.borrow().contains_key(&user)
    }
}

impl Present {
    /// Adds a connection of `user` to a session.
    pub(crate) fn enter(attendance: Arc<Attendance>, user: UserId, name: String) -> Self {
        let Presence(visitors) = &attendance.presence;
        visitors.send_if_modified(|visitors| {
            let visitor = visitors.entry(user).or_insert(Visitor {
                name,
                n_connections: 0,
            });
            visitor.n_connections += 1;
            visitor.n_connections == 1
        });
        let visitors = visitors.subscribe();
        Self {
            attendance,
            user,
            visitors,
            announced: BTreeMap::new(),
        }
    }

    /// Waits until a person has come or left since the last call. The first call returns the people who are there.
    pub async fn next(&mut self) -> Vec<PresenceChange> {
        loop {
            let changes = self.changes();
            if !changes.is_empty() {
                return changes;
            }
            // It cannot fail: this connection keeps the sender.
            let _ = self.visitors.changed().await;
        }
    }

    fn changes(&mut self) -> Vec<PresenceChange> {
        let visitors = self.visitors.borrow_and_update();
        let here: BTreeMap<_, _> = visitors
            .iter()
            .map(|(user, visitor)| (*user, visitor.name.clone()))
            .collect();
        drop(visitors);
        let change = |is_here| {
            move |(user, name): (&UserId, &String)| PresenceChange {
                user: *user,
                name: name.clone(),
                is_here,
            }
        };
        let left = self
            .announced
            .iter()
            .filter(|(user, _)| !here.contains_key(user));
        let came = here
            .iter()
            .filter(|(user, _)| !self.announced.contains_key(user));
        let changes = left
            .map(change(false))
            .chain(came.map(change(true)))
            .collect();
        self.announced = here;
        changes
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.attendance.presence.0.send_if_modified(|visitors| {
            let Some(visitor) = visitors.get_mut(&self.user) else {
                return false;
            };
            visitor.n_connections -= 1;
            let has_left = visitor.n_connections == 0;
            if has_left {
                visitors.remove(&self.user);
            }
            has_left
        });
    }
}
