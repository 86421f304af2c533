//! Permits per user, so that one user cannot take those of others.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;

/// Gives every user the same number of permits.
#[derive(Debug)]
pub struct Shares<K> {
    n_places: usize,
    taken: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: Eq + Hash> Shares<K> {
    /// Gives `n_places` permits to each user.
    pub fn new(n_places: usize) -> Self {
        Self {
            n_places,
            taken: Mutex::default(),
        }
    }

    /// Returns the permits of one user. They are remembered as long as one is held or awaited.
    pub fn of(&self, user: K) -> Arc<Semaphore> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = taken.get(&user).and_then(Weak::upgrade) {
            return places;
        }
        taken.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(self.n_places));
        taken.insert(user, Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_their_own_permits_and_unused_ones_are_forgotten() {
        let shares = Shares::new(1);
        let held = shares.of("ada").try_acquire_owned().unwrap();
        assert!(shares.of("ada").try_acquire_owned().is_err());
        assert!(shares.of("bob").try_acquire_owned().is_ok());
        drop(held);
        assert!(shares.of("ada").try_acquire_owned().is_ok());
        shares.of("eve");
        assert_eq!(shares.taken.lock().unwrap().len(), 1);
    }
}
