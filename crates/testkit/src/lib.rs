//! Tools for tests and benchmarks: a real server in its own process and folder, and clients of it.
//!
//! Everything here panics with a reason if something unexpected happens: that is a failed test.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a surprise here is a failed test"
)]

mod client;
pub mod conformance;
pub mod discord;
mod elsewhere;
mod fuzz;
mod listener;
mod not_run;
mod openapi;
mod own_network;
mod page_player;
mod postgres;
mod processes;
pub mod sandboxes;
mod server;
mod session;
mod sockets;
mod terminal;
mod vendor_request;
mod video_client;
mod watcher;

pub use client::{Answer, Client, choose_tls};
pub use elsewhere::{Asked, Elsewhere, Line};
pub use fuzz::{FuzzRun, fuzz};
pub use listener::Listener;
pub use not_run::not_run;
pub use openapi::{Document, Operation};
pub use own_network::{FAR_ADDRESS, NEAR_ADDRESS, Names, OwnNetwork};
pub use page_player::{BrowserWire, PagePlayer, PageStep};
pub use postgres::{Postgres, new_postgres_database};
pub use processes::{eventually, kill, processes_with_mount, rss_bytes};
pub use server::{Server, ServerOptions};
pub use session::Session;
pub use sockets::{BusStream, EventStream};
pub use terminal::TerminalClient;
pub use vendor_request::keep_vendor_request;
pub use video_client::VideoClient;
pub use watcher::Watcher;
