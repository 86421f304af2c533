//! The prices of all models: those of the settings, those of the table, and guesses.

use std::collections::BTreeMap;

use deskhand_core::{
    clock::{Clock, SystemClock},
    model::Price,
};

use crate::{http::BaseUrl, known};

/// Servers that run models themselves. On a machine of one's own they charge nothing for a token.
const SELF_HOSTED: [&str; 2] = ["ollama", "vllm"];

/// The prices of models. A price of the settings counts before all others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prices {
    /// By `vendor/name`.
    set: BTreeMap<String, Price>,
}

impl Prices {
    pub(crate) fn new(set: BTreeMap<String, Price>) -> Self {
        Self { set }
    }

    /// Returns the price of a model, or a guess.
    pub(crate) fn of(&self, vendor: &str, name: &str) -> Option<Price> {
        let now = SystemClock.now();
        self.set
            .get(&format!("{vendor}/{name}"))
            .copied()
            .or_else(|| known::price(vendor, name, now))
            .or_else(|| known::guess(vendor, name, now))
    }

    /// Returns the names of the models of a vendor that have a price in the settings and are not in the table.
    pub(crate) fn set_for<'a>(&'a self, vendor: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.set.keys().filter_map(move |key| {
            let (of, name) = key.split_once('/')?;
            (of == vendor).then_some(name)
        });
        names.filter(move |name| !known::names_of(vendor).any(|known| known == *name))
    }
}

/// Returns true if a vendor at this address charges nothing for a token: it runs on a machine of one's own.
pub(crate) fn is_self_hosted(vendor: &str, at: &BaseUrl) -> bool {
    SELF_HOSTED.contains(&vendor) && at.is_near()
}
