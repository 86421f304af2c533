//! Tests of the server's descriptions of itself.

mod compatibility;
mod documentation;
