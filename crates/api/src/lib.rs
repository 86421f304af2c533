//! The HTTP API on the wire: request bodies, views, and messages over a socket.
//!
//! The server reads and writes these types, the CLI and the tests use the same ones, and the page's types are
//! generated from their schemas. Events and everything inside them are defined in `deskhand_core`, whose serde
//! representation is also the stored format. A client sends a `…Body`; the server responds with a `…View`.

pub mod actions;
pub mod activity;
pub mod apps;
pub mod audit;
pub mod budgets;
pub mod bus;
pub mod clipboard;
pub mod decisions;
pub mod evals;
pub mod events;
pub mod files;
pub mod health;
pub mod messages;
pub mod models;
pub mod network;
mod present;
pub mod problem;
pub mod secrets;
pub mod sessions;
pub mod sharing;
pub mod streams;
pub mod terminals;
pub mod tokens;
pub mod users;
pub mod watch;

use self::present::present;
