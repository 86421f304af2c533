//! Rules of the server, through its API, in one process with the test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod briefing;
mod decisions;
mod fuzz;
mod gateway;
mod handover;
mod lease;
mod life;
mod limits;
mod links;
mod owners_secrets;
mod port;
mod presence;
mod properties;
mod retention;
mod secrets;
mod sign_ins;
mod site;
mod tokens;
