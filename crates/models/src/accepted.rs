//! The offers that models have accepted, for models that did not accept the most.
//!
//! Vendors refuse fields that a model, an account or a proxy does not know. Each wire offers less after such a refusal,
//! and starts from there the next time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The time after which a rejected feature is offered again. Vendors come to accept more.
const OFFER_AGAIN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The last accepted offer of each model.
#[derive(Debug)]
pub(crate) struct AcceptedOffers<O>(Mutex<HashMap<String, (O, Instant)>>);

impl<O> Default for AcceptedOffers<O> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<O: Copy + PartialEq> AcceptedOffers<O> {
    /// Returns the offer to make to a model now. `most` is the most that it is known to accept.
    pub(crate) fn offer(&self, model: &str, most: O) -> O {
        let accepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match accepted.get(model) {
            Some((offer, at)) if at.elapsed() < OFFER_AGAIN_AFTER => *offer,
            _ => most,
        }
    }

    /// Records the offer that a model accepted. The most needs no record.
    pub(crate) fn note(&self, model: &str, offer: O, most: O) {
        let mut accepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if offer == most {
            accepted.remove(model);
        } else if accepted.get(model).is_none_or(|(known, _)| *known != offer) {
            accepted.insert(model.to_owned(), (offer, Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_remembered_by_itself() {
        let accepted = AcceptedOffers::default();
        accepted.note("a", 1, 3);
        assert_eq!([accepted.offer("a", 3), accepted.offer("b", 3)], [1, 3]);
        accepted.note("a", 3, 3);
        assert_eq!(accepted.offer("a", 3), 3);
    }
}
