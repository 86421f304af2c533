//! The messages between the server and a runner.
//!
//! The runner dials the server and keeps one **control link**: a WebSocket at [`CONTROL_PATH`] on which every binary
//! message is a [`codec`] envelope, a JSON head followed by raw bytes (those of a picture, for example). For each
//! byte stream that the server needs (the screen, or a port) it sends [`ToRunner::OpenStream`], and
//! the runner dials once more, at [`stream_path`], where every binary message is just bytes. So each stream has its
//! own back pressure and never delays an action.
//!
//! When a program in the sandbox connects to the model gateway, the runner dials [`GATEWAY_PATH`]
//! and passes the bytes on in the same way. When a program connects to another host, the runner dials [`NETWORK_PATH`]
//! and says for which one: see [`deskhand_core::network`].
//!
//! Every connection carries the sandbox's token as `Authorization: Bearer …`. A connection can be any byte
//! stream in both directions, see [`Connection`].

pub mod codec;
mod connection;
pub mod descriptor;
pub mod network;

use std::collections::BTreeMap;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    computer::ComputerKind,
    id::RequestId,
    sandbox::{
        Actor, LeaseHolder, ListeningPort, OperationReply, RunnerReply, RunnerRequest, StreamTarget,
    },
    secret::Secret,
};
use serde::{Deserialize, Serialize};

use self::codec::BadEnvelope;
pub use self::connection::{ByteChannel, Connection, bytes_of};

/// The path of the control link.
pub const CONTROL_PATH: &str = "/runner";

/// The path of a connection to the model gateway.
pub const GATEWAY_PATH: &str = "/runner/gateway";

/// The path of a connection of a program to another host.
pub const NETWORK_PATH: &str = "/runner/network";

/// The longest message on a link: a 4K picture with room to spare.
pub const LONGEST_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Returns the path of the stream with this number.
pub fn stream_path(stream: u64) -> String {
    format!("/runner/streams/{stream}")
}

/// The runner's settings. They arrive as one JSON line on standard input, so that neither the command line nor the
/// environment shows the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerConfig {
    /// The path of the server's unix socket as seen in the sandbox.
    pub socket: String,
    pub token: Secret,
    #[serde(default)]
    pub computer: ComputerKind,
    /// The size of the screen, or of a page where there is no screen.
    pub screen: ScreenSize,
    /// The screen counts as settled after this long without a change.
    pub settle_quiet_ms: u64,
    /// The longest wait for the screen to settle.
    pub settle_max_ms: u64,
    /// The maximum length of the output in a shell command's reply. The middle is left out.
    pub shell_output_bytes: usize,
    /// The browser's program and arguments. Empty if there is no browser.
    pub browser: Vec<String>,
    /// True if the agent may run scripts in the pages of the browser.
    #[serde(default)]
    pub browser_scripts: bool,
    /// True if the runner sees the processes of its sandbox and no others. Only then does it freeze the agent's
    /// programs while a person has control.
    #[serde(default)]
    pub is_alone: bool,
    /// Absent if programs in the sandbox cannot call models.
    #[serde(default)]
    pub gateway: Option<RunnerGateway>,
    /// Absent if programs in the sandbox cannot reach other hosts.
    #[serde(default)]
    pub network: Option<RunnerNetwork>,
    /// The most connections to other hosts at the same time. The server's own limit is lower, so that the server
    /// refuses further ones with a reason.
    #[serde(default)]
    pub network_connections: usize,
    /// The command line of VS Code, which is started on demand. Empty if it is not installed.
    #[serde(default)]
    pub code: Vec<String>,
    /// Environment variables of all programs.
    #[serde(default)]
    pub variables: BTreeMap<String, Secret>,
}

/// The way in which programs in the sandbox reach other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunnerNetwork {
    /// Through an interface. Its descriptor comes with the configuration, over the same socket.
    Interface,
    /// Through proxies on the sandbox's loopback, where the machine has no such interfaces.
    Proxies,
}

/// The model gateway as programs in the sandbox find it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerGateway {
    /// A port of the sandbox's own loopback.
    pub port: u16,
    /// The programs' environment variables.
    pub variables: BTreeMap<String, Secret>,
}

/// Heads of messages from the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// Carry this out, once. A repeated id is answered from memory.
    Request {
        id: RequestId,
        actor: Actor,
        request: RunnerRequest,
    },
    /// Obey this holder of the lease from now on: refuse the requests of others and end those that are running. It is
    /// the first message of a link, unless no one ever held the lease. The runner answers with
    /// [`FromRunner::LeaseHolderSet`] and the same number.
    SetLeaseHolder { number: u64, holder: LeaseHolder },
    /// The result has arrived and may be forgotten.
    Ack { id: RequestId },
    /// End this request early if it is still running.
    Cancel { id: RequestId },
    /// Dial a stream connection with this number and join it to the target.
    OpenStream {
        stream: u64,
        target: StreamTarget,
        actor: Actor,
    },
}

/// Heads of messages from the runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "few exist at a time, and most of them are results"
)]
pub enum FromRunner {
    /// The first message of every control link, sent once the desktop responds.
    Ready { screen: ScreenSize },
    /// The desktop did not start, and the runner gives up. This is the last message.
    StartFailed { problem: String },
    /// A piece of a running command's output; the bytes follow the head.
    Progress { id: RequestId },
    /// The outcome of a request.
    Result { id: RequestId, outcome: Outcome },
    /// The runner obeys the lease holder with this number.
    LeaseHolderSet {
        number: u64,
        /// The reason why programs of the agent could watch the holder, as a clause.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A program of the desktop ended by itself. It was restarted, or could not be.
    Notice { text: String },
    /// The reason why the runner ends. This is the last message.
    LastWords { text: String },
    /// A stream could not be joined to its target.
    StreamFailed {
        stream: u64,
        problem: String,
        #[serde(default)]
        reason: StreamFailure,
    },
    /// The complete list of ports on which programs listen now.
    Ports { ports: Vec<ListeningPort> },
}

/// The kind of failure to connect a stream to its target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamFailure {
    #[default]
    Other,
    /// Another person holds the lease.
    Refused,
    /// No program listens on the port.
    NothingListens { port: u16 },
    /// The sandbox has no sound card.
    NoSoundCard,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "reply", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "few exist at a time, and most of them are results"
)]
pub enum Outcome {
    /// It was carried out.
    Done(RunnerReply),
    Failed {
        problem: String,
    },
    Cancelled,
    /// Another actor holds the lease, or took it while the request ran. The runner sends nothing that the request
    /// saw.
    Refused {
        was_begun: bool,
    },
}

impl ToRunner {
    /// Encodes the message, with the bytes of its request after the head.
    pub fn pack(mut self) -> Result<Bytes, BadEnvelope> {
        let body = self.attachment().map(std::mem::take).unwrap_or_default();
        codec::pack(&self, &body)
    }

    pub fn unpack(message: &Bytes) -> Result<Self, BadEnvelope> {
        let (mut head, body) = codec::unpack::<Self>(message)?;
        if let Some(place) = head.attachment() {
            *place = body;
        }
        Ok(head)
    }

    fn attachment(&mut self) -> Option<&mut Bytes> {
        if let Self::Request { request, .. } = self {
            request.attachment()
        } else {
            None
        }
    }
}

impl FromRunner {
    /// Encodes the message, with the bytes of its reply after the head.
    pub fn pack(mut self) -> Result<Bytes, BadEnvelope> {
        let body = self.attachment().map(std::mem::take).unwrap_or_default();
        codec::pack(&self, &body)
    }

    /// Returns the message, and the bytes after its head that are not part of a reply.
    pub fn unpack(message: &Bytes) -> Result<(Self, Bytes), BadEnvelope> {
        let (mut head, body) = codec::unpack::<Self>(message)?;
        if let Some(place) = head.attachment() {
            *place = body;
            return Ok((head, Bytes::new()));
        }
        Ok((head, body))
    }

    fn attachment(&mut self) -> Option<&mut Bytes> {
        if let Self::Result {
            outcome: Outcome::Done(reply),
            ..
        } = self
        {
            reply.attachment()
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{
        action::Point,
        blob::BlobFormat,
        sandbox::{Act, Acted, Frame, PutFile, SecretTyped},
        shell::{ShellEnding, ShellOutput},
    };

    use super::*;

    #[test]
    fn requests_and_their_bytes_survive_the_wire() {
        let requests = [
            RunnerRequest::PutFile(PutFile {
                folder: "answers".to_owned(),
                name: "a.bin".to_owned(),
                bytes: Bytes::from_static(b"\0\xff"),
            }),
            RunnerRequest::Act(Act {
                action: deskhand_core::action::Action::Screenshot,
                look: true,
                shown: None,
            }),
        ];
        for request in requests {
            let message = ToRunner::Request {
                id: RequestId::new(),
                actor: Actor::Agent,
                request,
            };
            let packed = message.clone().pack().unwrap();
            assert_eq!(ToRunner::unpack(&packed).unwrap(), message);
        }
    }

    #[test]
    fn outcomes_and_their_bytes_survive_the_wire() {
        let frame = Frame {
            bytes: Bytes::from_static(b"\x89PNG"),
            format: BlobFormat::Png,
            size: ScreenSize::default(),
            pointer: Point { x: 1, y: 2 },
        };
        let shell = ShellOutput {
            output: "hi".to_owned(),
            omitted_bytes: 0,
            file: None,
            ending: ShellEnding::Exited { code: 0 },
            cwd: "/".to_owned(),
        };
        for outcome in [
            Outcome::Done(RunnerReply::Look(frame.clone())),
            Outcome::Done(RunnerReply::Act(Acted {
                frame: Some(frame),
                ..Acted::default()
            })),
            Outcome::Done(RunnerReply::Shell(shell)),
            Outcome::Done(RunnerReply::TypeSecret(SecretTyped)),
            Outcome::Failed {
                problem: "no".to_owned(),
            },
            Outcome::Refused { was_begun: true },
            Outcome::Cancelled,
        ] {
            let id = RequestId::new();
            let message = FromRunner::Result { id, outcome };
            let packed = message.clone().pack().unwrap();
            assert_eq!(
                FromRunner::unpack(&packed).unwrap(),
                (message, Bytes::new())
            );
        }
    }
}
