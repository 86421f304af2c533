//! Runs the streams that people ask the Discord bot for: opens a page on a computer, plays it, hands out a link to watch
//! and keeps it going.
//!
//! A stream is a session whose steps are fixed. The page's own player is used first; the model is asked only for what
//! that cannot do, and the player's state says whether it helped. Streams are in the store, so that a server that was
//! restarted resumes them.

mod admission;
mod ask;
mod checks;
mod controller;
mod fault;
mod flow;
mod links;
mod places;
mod pulse;
mod records;
mod report;
mod settings;
mod share;
mod step;
mod stream_task;
mod watch;
mod webhook;

pub use checks::Deployment;
pub use controller::{BeginStreamsError, StreamParts, Streams};
pub use links::{LinkFailed, WatchLink, WatchLinks};
pub use settings::{LastMile, ShareSettings, StreamSettings};
pub use webhook::{SIGNATURE_HEADER, WebhookKey};
