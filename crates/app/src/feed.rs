//! The way into a session's log, and the ways in which people follow it.

pub(crate) mod bus;
pub(crate) mod hub;
pub(crate) mod log;
