//! `WebSocket`s: the bounds on their messages, and on their number for one user or watch link.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::extract::ws::WebSocketUpgrade;
use deskhand_core::id::UserId;

use crate::{limits::or_any, problem::Problem};

/// The open `WebSocket`s of all users, or of others who are bounded. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Sockets<K: Eq + Hash + Copy = UserId> {
    open: Arc<Mutex<HashMap<K, usize>>>,
    most: usize,
}

/// One open `WebSocket`. It no longer counts on drop.
#[derive(Debug)]
pub(crate) struct CountedSocket<K: Eq + Hash + Copy = UserId> {
    sockets: Sockets<K>,
    holder: K,
}

impl<K: Eq + Hash + Copy> Sockets<K> {
    /// Counts nothing yet. A limit of 0 means none.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            open: Arc::default(),
            most,
        }
    }

    /// Counts a `WebSocket`, or refuses it.
    pub(crate) fn open(&self, holder: K) -> Result<CountedSocket<K>, Problem> {
        let mut open = self.lock();
        let n_open = open.entry(holder).or_default();
        if *n_open >= or_any(self.most) {
            let message = format!(
                "you have {} WebSockets open, and may not have more; close one and try again",
                self.most
            );
            return Err(Problem::too_many("too_many_sockets", message));
        }
        *n_open += 1;
        Ok(CountedSocket {
            sockets: self.clone(),
            holder,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Copy> Drop for CountedSocket<K> {
    fn drop(&mut self) {
        let mut open = self.sockets.lock();
        if let Some(n_open) = open.get_mut(&self.holder) {
            *n_open -= 1;
            if *n_open == 0 {
                open.remove(&self.holder);
            }
        }
    }
}

/// Bounds the messages that the client may send.
///
/// A frame is buffered whole before it counts as a message, so it needs the same bound.
pub(crate) fn bounded<F>(
    upgrade: WebSocketUpgrade<F>,
    longest_bytes: usize,
) -> WebSocketUpgrade<F> {
    upgrade
        .max_frame_size(longest_bytes)
        .max_message_size(longest_bytes)
}
