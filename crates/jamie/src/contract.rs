//! The contract between the bot and the controller of streams: the JSON of requests, responses and updates.
//!
//! Ids of Discord are JSON integers here, although Discord itself writes them as strings.

mod request;
mod views;

pub use deskhand_core::stream::StreamState;
pub use request::{InvalidRequest, MessageRef, StreamRequest};
pub use views::{
    Health, HealthResponse, Refusal, SessionMetrics, SessionView, StatusUpdate, StopRequest,
    StreamResponse, StreamVerdict,
};
