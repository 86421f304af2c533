//! Jamie, the Discord bot: the contract with the controller of streams, and the links in messages.

pub mod contract;
mod controller;
mod error_code;
mod link;

pub use controller::{BadController, Controller, ControllerError, HttpController};
pub use error_code::{Category, ErrorCode, ErrorCodeRow, Retry};
pub use link::{MAX_LINK_BYTES, find_link, is_link};
