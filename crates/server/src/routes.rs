//! Handlers: each extracts, calls the app and converts.
//!
//! A handler's attribute is its route and its description. [`crate::openapi`] adds the responses that follow from
//! the route alone, such as 401; the attribute names the others.

pub(crate) mod activity;
pub(crate) mod apps;
pub(crate) mod artifacts;
pub(crate) mod attachments;
pub(crate) mod audit;
pub(crate) mod bus;
pub(crate) mod by_hand;
pub(crate) mod clipboard;
pub(crate) mod decisions;
pub(crate) mod docs;
pub(crate) mod evals;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod layout;
pub(crate) mod lease;
pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod offers;
pub(crate) mod people;
pub(crate) mod queue;
pub(crate) mod screen;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sharing;
pub(crate) mod sign_ins;
pub(crate) mod sound;
pub(crate) mod stream;
pub(crate) mod streams;
pub(crate) mod terminals;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod video;
pub(crate) mod watch;
pub(crate) mod watch_links;
