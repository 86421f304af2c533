//! The domain of Deskhand: its terms as types, its rules as functions, and the ports it needs.
//!
//! Nothing here does I/O. Only [`tasks`] starts anything: every other crate uses it to start work that shutdown waits
//! for.

pub mod action;
pub mod attachment;
pub mod audit;
pub mod blob;
pub mod browser;
pub mod budget;
pub mod clock;
pub mod computer;
pub mod decision;
pub mod edit;
pub mod eval;
pub mod event;
pub mod file;
pub mod gateway;
pub mod id;
pub mod inbox;
pub mod lease;
pub mod limits;
pub mod message;
pub mod model;
pub mod model_check;
pub mod network;
pub mod plain;
pub mod policy;
pub mod question;
pub mod right;
pub mod sandbox;
pub mod secret;
pub mod service;
pub mod session;
pub mod shell;
pub mod sound;
pub mod stream;
pub mod tasks;
pub mod terminal;
pub mod tool;
pub mod tool_server;
pub mod user;
pub mod vault;
pub mod video;
pub mod viewer;
pub mod watch_link;
