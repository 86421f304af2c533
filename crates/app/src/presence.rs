//! Who looks at which session right now.
//!
//! Presence is what is true of open connections, so it is kept with them and nowhere else: it
//! ends with the connection, and with the server.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::id::{SessionId, UserId};
use tokio::sync::watch;

/// Everybody who is in some session. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence {
    rooms: Arc<Mutex<HashMap<SessionId, watch::Sender<Room>>>>,
}

/// Those who are in one session.
type Room = BTreeMap<UserId, Visitor>;

#[derive(Debug, Clone)]
struct Visitor {
    name: String,
    n_connections: usize,
}

/// One connection of somebody who is in a session, until it is dropped.
#[derive(Debug)]
pub struct Present {
    presence: Presence,
    session: SessionId,
    user: UserId,
    room: watch::Receiver<Room>,
    /// Who was there when this connection was last told.
    told: BTreeMap<UserId, String>,
}

/// Somebody came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresenceChange {
    pub user: UserId,
    pub name: String,
    pub is_here: bool,
}

impl Presence {
    pub(crate) fn enter(&self, session: SessionId, user: UserId, name: String) -> Present {
        let mut rooms = self.rooms();
        let room = rooms.entry(session).or_default();
        room.send_if_modified(|room| {
            let visitor = room.entry(user).or_insert(Visitor {
                name,
                n_connections: 0,
            });
            visitor.n_connections += 1;
            visitor.n_connections == 1
        });
        Present {
            presence: self.clone(),
            session,
            user,
            room: room.subscribe(),
            told: BTreeMap::new(),
        }
    }

    pub(crate) fn is_here(&self, session: SessionId, user: UserId) -> bool {
        let rooms = self.rooms();
        rooms
            .get(&session)
            .is_some_and(|room| room.borrow().contains_key(&user))
    }

    fn rooms(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, watch::Sender<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Present {
    /// Who came and went since the last call, at least one; waits until somebody did. The first
    /// call tells who is there.
    pub async fn next(&mut self) -> Vec<PresenceChange> {
        loop {
            let changes = self.news();
            if !changes.is_empty() {
                return changes;
            }
            // It cannot fail: the room stays while somebody is in it, and this connection is.
            let _ = self.room.changed().await;
        }
    }

    fn news(&mut self) -> Vec<PresenceChange> {
        let room = self.room.borrow_and_update();
        let here: BTreeMap<_, _> = room
            .iter()
            .map(|(user, visitor)| (*user, visitor.name.clone()))
            .collect();
        drop(room);
        let change = |is_here| {
            move |(user, name): (&UserId, &String)| PresenceChange {
                user: *user,
                name: name.clone(),
                is_here,
            }
        };
        let gone = self
            .told
            .iter()
            .filter(|(user, _)| !here.contains_key(user));
        let came = here
            .iter()
            .filter(|(user, _)| !self.told.contains_key(user));
        let changes = gone
            .map(change(false))
            .chain(came.map(change(true)))
            .collect();
        self.told = here;
        changes
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        let mut rooms = self.presence.rooms();
        let Some(room) = rooms.get(&self.session) else {
            return;
        };
        room.send_if_modified(|room| {
            let Some(visitor) = room.get_mut(&self.user) else {
                return false;
            };
            visitor.n_connections -= 1;
            let is_gone = visitor.n_connections == 0;
            if is_gone {
                room.remove(&self.user);
            }
            is_gone
        });
        let is_empty = room.borrow().is_empty();
        if is_empty {
            rooms.remove(&self.session);
        }
    }
}
