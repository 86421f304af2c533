//! Counts the transfers in progress.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::id::{SessionId, UserId};

use super::{FileError, FileLimits};

/// The transfers of all people in all sessions. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Transfers {
    open: Arc<Mutex<OpenTransfers>>,
    limits: FileLimits,
}

#[derive(Debug, Default)]
struct OpenTransfers {
    by_user: HashMap<UserId, usize>,
    by_session: HashMap<SessionId, usize>,
}

/// One transfer in progress. It stops counting on drop.
#[derive(Debug)]
pub(crate) struct Transfer {
    transfers: Transfers,
    user: UserId,
    session: SessionId,
}

impl Transfers {
    pub(crate) fn new(limits: FileLimits) -> Self {
        Self {
            open: Arc::default(),
            limits,
        }
    }

    /// Counts a transfer, or refuses it if a limit is reached.
    pub(crate) fn begin(&self, user: UserId, session: SessionId) -> Result<Transfer, FileError> {
        let mut open = self.lock();
        let of_user = open.by_user.get(&user).copied().unwrap_or_default();
        let of_session = open.by_session.get(&session).copied().unwrap_or_default();
        for (n_open, limit) in [
            (of_user, self.limits.per_user),
            (of_session, self.limits.per_session),
        ] {
            if n_open >= limit {
                return Err(FileError::TooManyTransfers { n_open, limit });
            }
        }
        open.by_user.insert(user, of_user + 1);
        open.by_session.insert(session, of_session + 1);
        Ok(Transfer {
            transfers: self.clone(),
            user,
            session,
        })
    }

    fn lock(&self) -> MutexGuard<'_, OpenTransfers> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let mut open = self.transfers.lock();
        leave(&mut open.by_user, &self.user);
        leave(&mut open.by_session, &self.session);
    }
}

/// Decrements a count, and removes it at zero.
fn leave<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(n_open) = counts.get_mut(key) {
        *n_open -= 1;
        if *n_open == 0 {
            counts.remove(key);
        }
    }
}
