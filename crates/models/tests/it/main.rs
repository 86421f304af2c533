//! Models, through the ports that the rest of Deskhand uses.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bound_thinking;
mod checking;
mod clouds;
mod demo;
mod finding;
mod fixtures;
mod golden;
mod golden_browser;
mod names;
mod options;
mod places;
mod playing;
mod quirks;
mod retrying;
mod server;
mod troubles;
mod vendors;
mod wire;
