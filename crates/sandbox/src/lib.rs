//! Sandboxes: isolated computers for agents, and the link to the runner in each.
//!
//! A provider makes the isolation and starts the runner in it: [`local`] does so with
//! bubblewrap on this machine. What is said to a runner, and what becomes of a request when the
//! connection breaks or the sandbox dies, is the same for every provider and stands in `link`.

pub mod doctor;
mod gateway;
mod link;
pub mod local;
