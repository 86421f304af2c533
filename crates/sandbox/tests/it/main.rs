//! Sandboxes with real bubblewrap and real limits, and a runner without a desktop.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what fails here should fail the test, and measurements are worth reading"
)]

mod conformance;
mod desktop;
mod doctor;
mod escape;
mod files;
mod fuzz;
mod images;
mod isolation;
mod life;
mod limits;
mod link;
mod network;
mod ports;
mod support;
mod takeover;
