//! What the server and a runner say to each other.
//!
//! The runner dials the server and keeps one **control link**: a WebSocket at [`CONTROL_PATH`]
//! on which every binary message is a [`codec`] envelope: a JSON head and raw bytes behind it
//! (a picture's, say). For each byte stream the server wants (the screen, later terminals and
//! ports) it sends [`ToRunner::OpenStream`] and the runner dials once more, at
//! [`stream_path`], where every binary message is just bytes. Streams so have their own back
//! pressure and never delay an action.
//!
//! When a program in the sandbox connects to the model gateway, the runner dials at [`GATEWAY_PATH`]
//! and passes its bytes on in the same way.
//!
//! Every connection carries the sandbox's token as `Authorization: Bearer …`.

pub mod codec;

use std::collections::BTreeMap;

use deskhand_core::{
    action::{Point, ScreenSize},
    blob::BlobFormat,
    id::RequestId,
    sandbox::{Actor, ComputerRequest, Driver},
    secret::Secret,
    shell::ShellOutput,
};
use serde::{Deserialize, Serialize};

/// Where the control link is dialled.
pub const CONTROL_PATH: &str = "/runner";

/// Where a connection to the model gateway is dialled.
pub const GATEWAY_PATH: &str = "/runner/gateway";

/// The longest message on a link: a 4K picture with room to spare.
pub const LONGEST_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Where the stream with this number is dialled.
pub fn stream_path(stream: u64) -> String {
    format!("/runner/streams/{stream}")
}

/// What a runner needs to know to begin. It comes as one JSON line on standard input, so that
/// neither the command line nor the environment shows the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerConfig {
    /// Path of the server's unix socket as seen in the sandbox.
    pub socket: String,
    pub token: Secret,
    pub screen: ScreenSize,
    /// The screen counts as settled after this long without a change.
    pub settle_quiet_ms: u64,
    /// And at the latest after this long.
    pub settle_max_ms: u64,
    /// What a shell command's reply holds at most; the middle is left out.
    pub shell_output_bytes: usize,
    /// The browser's program and arguments; empty for none.
    pub browser: Vec<String>,
    /// Absent when programs in the sandbox cannot ask models.
    #[serde(default)]
    pub gateway: Option<RunnerGateway>,
}

/// How programs in the sandbox find the model gateway.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerGateway {
    /// On the sandbox's own loopback.
    pub port: u16,
    /// What they find in their environment.
    pub variables: BTreeMap<String, Secret>,
}

/// Heads of messages from the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// Carry this out, once. A repeated id is answered from memory.
    Request {
        id: RequestId,
        /// On whose behalf.
        actor: Actor,
        request: ComputerRequest,
    },
    /// Obey this driver from now on: refuse what others ask, and end what they have under way.
    /// It is the first message of a link unless nobody ever took control, and is answered with
    /// [`FromRunner::DriverSet`] and the same number.
    SetDriver { number: u64, driver: Driver },
    /// The result has arrived and may be forgotten.
    Ack { id: RequestId },
    /// End this request early if it is still going on.
    Cancel { id: RequestId },
    /// Dial a stream connection with this number and join it to the target.
    OpenStream { stream: u64, target: StreamTarget },
}

/// What a byte stream leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamTarget {
    /// The RFB server.
    Screen,
}

/// Heads of messages from the runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromRunner {
    /// The first message of every control link, sent when the desktop answers.
    Ready { screen: ScreenSize },
    /// The desktop did not come up, and the runner gives up. The last message.
    StartFailed { problem: String },
    /// A piece of a running shell command's output; the bytes follow the head.
    Progress { id: RequestId },
    /// What came of a request. A picture's bytes follow the head.
    Result { id: RequestId, outcome: Outcome },
    /// The driver with this number is obeyed.
    DriverSet { number: u64 },
    /// A program of the desktop ended by itself and was started again, or was not.
    Notice { text: String },
    /// A stream could not be joined to its target.
    StreamFailed { stream: u64, problem: String },
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Acted {
        text: String,
        frame: Option<FrameHead>,
    },
    Shell {
        output: ShellOutput,
    },
    Edited {
        text: String,
    },
    Failed {
        problem: String,
    },
    Cancelled,
    /// Somebody else drives, or took over while it went on. Nothing of what it saw is sent.
    Refused {
        was_begun: bool,
    },
}

/// What is known of a picture whose bytes follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameHead {
    pub format: BlobFormat,
    pub size: ScreenSize,
    pub pointer: Point,
}
