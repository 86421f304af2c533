//! The runner against real programs: bash, files, and a whole run with a desktop.

#![expect(
    clippy::unwrap_used,
    reason = "what a test relies on fails the test when it is not so"
)]

mod desktop;
mod editor;
mod link;
mod shell;
