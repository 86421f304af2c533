//! The users behind MCP sessions, so that nobody uses the session of another user.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use deskhand_core::id::UserId;

/// The most MCP sessions of one user. The oldest is closed for a new one.
const MOST_PER_USER: usize = 64;

/// The owners of all MCP sessions, by their id on the wire.
#[derive(Debug, Default)]
pub(crate) struct Owners(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    owners: HashMap<String, Owned>,
    n_made: u64,
}

#[derive(Debug, Clone, Copy)]
struct Owned {
    user: Option<UserId>,
    /// Counts all sessions, so that the oldest can be found.
    number: u64,
}

impl Owners {
    /// Returns true if the session belongs to another user.
    pub(crate) fn is_foreign(&self, id: &str, user: Option<UserId>) -> bool {
        let table = self.lock();
        table.owners.get(id).is_some_and(|owned| owned.user != user)
    }

    /// Records a new session. Returns the sessions of its owner that are to be closed for it.
    pub(crate) fn add(&self, id: &str, user: Option<UserId>) -> Vec<String> {
        let mut table = self.lock();
        table.n_made += 1;
        let number = table.n_made;
        table.owners.insert(id.to_owned(), Owned { user, number });
        let mine = table.owners.iter().filter(|(_, owned)| owned.user == user);
        let mut mine: Vec<_> = mine.map(|(id, owned)| (owned.number, id.clone())).collect();
        mine.sort_unstable();
        let n_over = mine.len().saturating_sub(MOST_PER_USER);
        let over: Vec<_> = mine.into_iter().take(n_over).map(|(_, id)| id).collect();
        for id in &over {
            table.owners.remove(id);
        }
        over
    }

    /// Forgets sessions that have ended.
    pub(crate) fn keep(&self, lives: impl Fn(&str) -> bool) {
        self.lock().owners.retain(|id, _| lives(id));
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_the_user_who_opened_it() {
        let (alice, bob) = (Some(UserId::new()), Some(UserId::new()));
        let owners = Owners::default();
        owners.add("a", alice);
        assert!(!owners.is_foreign("a", alice));
        assert!(owners.is_foreign("a", bob));
        assert!(owners.is_foreign("a", None));
        owners.keep(|_| false);
        assert!(!owners.is_foreign("a", bob), "it has ended");
    }

    #[test]
    fn the_oldest_session_of_a_user_makes_room() {
        let (alice, bob) = (Some(UserId::new()), Some(UserId::new()));
        let owners = Owners::default();
        owners.add("of bob", bob);
        for n in 0..MOST_PER_USER {
            assert!(owners.add(&format!("{n}"), alice).is_empty());
        }
        assert_eq!(owners.add("one more", alice), ["0"]);
        assert!(owners.is_foreign("of bob", alice));
    }
}
