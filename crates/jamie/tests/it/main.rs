//! Tests of the bot against a Discord that is not ours, and of the controller over HTTP.
//!
//! The Discord is simcord, a Python package, behind a thin adapter (`tests/discord/`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod codes;
mod http_controller;
mod memory;
mod restart;
mod scripted;
mod slash;
mod talk;
mod trouble;

use deskhand_testkit::discord;
