//! Rules of the server, through its API, in one process with the test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod decisions;
mod lease;
mod life;
mod limits;
mod presence;
mod properties;
mod secrets;
mod tokens;
