//! Sandboxes: isolated computers for agents, and the link to the runner in each.
//!
//! A provider creates the isolation and starts the runner in it. [`providers`] lists all providers, and [`local`]
//! uses bubblewrap on this machine. The protocol with a runner, and the fate of a request when the connection
//! breaks or the sandbox dies, are the same for every provider: see `link`.

pub mod code_server;
mod gateway;
mod link;
pub mod local;
mod network;
pub mod providers;
