//! `WebSocket`s: the bounds on their messages, and on their number for one user.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::extract::ws::WebSocketUpgrade;
use deskhand_core::id::UserId;

use crate::{limits::or_any, problem::Problem};

/// The open `WebSocket`s of all users. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Sockets {
    open: Arc<Mutex<HashMap<UserId, usize>>>,
    per_user: usize,
}

/// One open `WebSocket` of a user. It no longer counts on drop.
#[derive(Debug)]
pub(crate) struct CountedSocket {
    sockets: Sockets,
    user: UserId,
}

impl Sockets {
    /// Counts nothing yet. A limit of 0 means none.
    pub(crate) fn new(per_user: usize) -> Self {
        Self {
            open: Arc::default(),
            per_user,
        }
    }

    /// Counts a `WebSocket`, or refuses it.
    pub(crate) fn open(&self, user: UserId) -> Result<CountedSocket, Problem> {
        let mut open = self.lock();
        let n_open = open.entry(user).or_default();
        if *n_open >= or_any(self.per_user) {
            let message = format!(
                "you have {} WebSockets open, and may not have more; close one and try again",
                self.per_user
            );
            return Err(Problem::too_many("too_many_sockets", message));
        }
        *n_open += 1;
        Ok(CountedSocket {
            sockets: self.clone(),
            user,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CountedSocket {
    fn drop(&mut self) {
        let mut open = self.sockets.lock();
        if let Some(n_open) = open.get_mut(&self.user) {
            *n_open -= 1;
            if *n_open == 0 {
                open.remove(&self.user);
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
