//! Handlers: each extracts, calls the app and converts.

pub(crate) mod by_hand;
pub(crate) mod health;
pub(crate) mod messages;
pub(crate) mod people;
pub(crate) mod queue;
pub(crate) mod screen;
pub(crate) mod sessions;
pub(crate) mod stream;
