//! The Model Context Protocol: offers agents and their sessions to other programs as tools.
//!
//! This is a face on `app`: it reads what a client sends, calls an operation and converts its result. It has no port of
//! its own. `server` answers `/mcp` with it, after it has checked the caller.

mod call;
mod clip;
mod elicit;
mod endpoint;
mod face;
mod groups;
mod log;
mod owners;
mod prompts;
mod refusal;
mod resources;
mod status;
mod tools;

pub use crate::{
    call::Client,
    endpoint::{Endpoint, converse},
    face::Face,
    groups::{Groups, UnknownGroup},
};
