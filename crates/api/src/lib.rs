//! The HTTP API as it is on the wire: request bodies, views, and messages over a socket.
//!
//! The server reads and writes these types, the CLI and the tests use the same ones, and the page's types are
//! generated from their schemas. Events and everything inside them are defined in `deskhand_core`, whose serde is also
//! the stored format. A `…Body` is sent by a client, a `…View` is answered by the server.

pub mod actions;
pub mod budgets;
pub mod bus;
pub mod decisions;
pub mod events;
pub mod health;
pub mod messages;
pub mod models;
pub mod problem;
pub mod secrets;
pub mod sessions;
pub mod sharing;
pub mod tokens;
pub mod users;
