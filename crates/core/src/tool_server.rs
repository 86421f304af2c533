//! MCP servers: programs and hosts whose tools an agent is offered, and the port to them.
//!
//! Everything that such a server sends is untrusted: its names, its descriptions and its results.

pub mod address;
pub mod secret_text;
pub mod spec;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use self::address::HttpAddress;
use crate::{
    action::ScreenSize,
    blob::BlobFormat,
    sandbox::{ByteStream, Progress},
    secret::Secret,
};

/// The text between the name of a server and the name of its tool. No tool of Deskhand contains it.
pub const NAME_SEPARATOR: &str = "__";

/// Returns true for the name under which a tool of an MCP server is offered: `server__tool`.
pub fn is_remote_name(name: &str) -> bool {
    name.contains(NAME_SEPARATOR)
}

/// Connects to MCP servers.
#[async_trait]
pub trait ToolServers: Send + Sync + std::fmt::Debug {
    /// Connects to a server and agrees on a revision of the protocol.
    async fn connect(&self, way: ServerWay) -> Result<Arc<dyn ToolServer>, ToolServerError>;
}

/// A connection to an MCP server. It is closed on drop.
#[async_trait]
pub trait ToolServer: Send + Sync + std::fmt::Debug {
    /// Returns the tools that the server has now.
    async fn tools(&self) -> Result<Vec<RemoteTool>, ToolServerError>;

    /// Calls a tool. The server is told if the caller stops waiting.
    async fn call(&self, call: RemoteCall) -> Result<RemoteAnswer, ToolServerError>;

    /// Returns true if the connection has ended.
    fn is_closed(&self) -> bool;
}

/// The way to an MCP server.
#[derive(Debug)]
pub enum ServerWay {
    /// The standard streams of a program.
    Program(ByteStream),
    Http(HttpWay),
}

/// The way to an MCP server over HTTP.
#[derive(Debug)]
pub struct HttpWay {
    pub address: HttpAddress,
    /// Headers of every request.
    pub headers: Vec<(String, Secret)>,
    pub connector: Arc<dyn HostConnector>,
    /// A certificate authority to trust besides those of this machine, in DER.
    pub authority: Option<Vec<u8>>,
}

/// Opens connections to one host.
#[async_trait]
pub trait HostConnector: Send + Sync + std::fmt::Debug {
    /// Opens a connection to the host.
    async fn connect(&self) -> Result<ByteStream, ToolServerError>;
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    pub name: String,
    pub description: String,
    /// The JSON schema of its input.
    pub schema: serde_json::Value,
}

/// A call of a tool.
#[derive(Debug)]
pub struct RemoteCall {
    /// The name that the server knows.
    pub tool: String,
    pub input: serde_json::Map<String, serde_json::Value>,
    /// Receives a line for each report of the server about its progress.
    pub progress: Option<Progress>,
}

/// The result of a tool as its server sent it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteAnswer {
    pub text: String,
    pub pictures: Vec<RemotePicture>,
    /// True if the server calls it a failure.
    pub is_error: bool,
}

/// A picture in a result.
#[derive(Debug, Clone, PartialEq)]
pub struct RemotePicture {
    pub bytes: Bytes,
    pub format: BlobFormat,
    pub size: ScreenSize,
}

/// The reason why an MCP server could not be used, as the end of a sentence about it. It may quote the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolServerError {
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it did not answer within {0} s")]
    Late(u64),
    #[error("it ended the connection")]
    Gone,
    #[error("it answered with an error: {0}")]
    Refused(String),
    #[error("it does not keep to the protocol: {0}")]
    Protocol(String),
    #[error("its answer is larger than {0} bytes")]
    Large(usize),
    #[error("there is no secret {0} for HTTP APIs that this session can use")]
    NoSecret(String),
    #[error("it was removed from this session")]
    Removed,
}
