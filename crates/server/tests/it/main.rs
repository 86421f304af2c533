//! Tests of the server's descriptions of itself.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so at once"
)]

mod compatibility;
mod documentation;
