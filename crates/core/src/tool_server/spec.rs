//! The MCP servers that people, or the settings of a deployment, give to an agent.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    NAME_SEPARATOR,
    address::{BadHttpAddress, HttpAddress},
    secret_text::{BadSecretText, secrets_in},
};
use crate::vault::SecretHeader;

/// The most servers of one session.
pub const MOST_SERVERS: usize = 16;
/// The longest list of servers, as JSON. It is part of every list of sessions.
pub const LONGEST_SERVERS_BYTES: usize = 16 * 1024;
/// The longest name of a server.
pub const LONGEST_SERVER_NAME: usize = 32;
/// The longest time that a call may take, and the usual one.
pub const LONGEST_TIMEOUT_S: u32 = 600;
pub const USUAL_TIMEOUT_S: u32 = 60;

const LONGEST_COMMAND: usize = 1024;
const MOST_ARGUMENTS: usize = 64;
const LONGEST_ARGUMENT: usize = 4096;
const MOST_FIELDS: usize = 32;
const LONGEST_VARIABLE: usize = 64;
const LONGEST_VALUE: usize = 4096;

/// Headers that the protocol itself uses.
const PROTOCOL_HEADERS: [&str; 4] = ["accept", "content-type", "last-event-id", "user-agent"];
const PROTOCOL_HEADER_BEGINNING: &str = "mcp-";
/// Parts of names whose values are usually secret.
const CREDENTIALS: [&str; 7] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "passw",
    "secret",
    "token",
];

/// An MCP server whose tools the agent is offered as `NAME__tool`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServerSpec {
    /// `a-z`, `0-9`, `-` and single `_` between others.
    #[schema(min_length = 1, max_length = 32, pattern = "^[a-z0-9_-]+$")]
    pub name: String,
    pub transport: McpTransport,
    /// The longest time that a call of one of its tools may take.
    #[serde(default = "usual_timeout")]
    #[schema(minimum = 1, maximum = 600)]
    pub timeout_seconds: u32,
}

/// The way to an MCP server. In the values of `env` and `headers`, `${secret:NAME}` stands for a secret for HTTP APIs
/// of the session's owner.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum McpTransport {
    /// A program in the sandbox that speaks over its standard streams.
    Stdio {
        /// A path, or a name that is searched for as the shell does.
        #[schema(min_length = 1, max_length = 1024)]
        command: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(max_items = 64)]
        args: Vec<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
    },
    /// A host that speaks streamable HTTP. The session's network policy applies to it.
    Http {
        #[schema(max_length = 2048)]
        url: String,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

/// The reason why an MCP server is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMcpServer {
    #[error("there can be at most {MOST_SERVERS} MCP servers")]
    TooMany,
    #[error("the MCP servers have at most {LONGEST_SERVERS_BYTES} bytes as JSON")]
    Long,
    #[error("there are two MCP servers named {0}")]
    Twice(String),
    #[error(
        "{0:?} cannot be the name of an MCP server: it has 1 to {LONGEST_SERVER_NAME} characters of a-z, 0-9, - and _, \
         begins and ends with a letter or digit, and has no two _ in a row"
    )]
    Name(String),
    #[error("the MCP server {server}: {problem}")]
    Server {
        server: String,
        problem: BadMcpTransport,
    },
}

/// The reason why the way to an MCP server is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMcpTransport {
    #[error("a call may take 1 to {LONGEST_TIMEOUT_S} seconds")]
    Timeout,
    #[error("its url cannot be used: {0}")]
    Address(#[from] BadHttpAddress),
    #[error("its command has 1 to {LONGEST_COMMAND} characters, none of them a control character")]
    Command,
    #[error(
        "it has at most {MOST_ARGUMENTS} arguments of {LONGEST_ARGUMENT} characters, without U+0000"
    )]
    Arguments,
    #[error("it has at most {MOST_FIELDS} headers or environment variables")]
    Fields,
    #[error("the header {0:?} cannot be set")]
    Header(String),
    #[error("{0:?} cannot be the name of an environment variable")]
    Variable(String),
    #[error(
        "the value of {0} has at most {LONGEST_VALUE} characters, none of them a control character"
    )]
    Value(String),
    #[error(transparent)]
    Secret(#[from] BadSecretText),
    #[error(
        "{0} looks like a secret: store its value as a secret for HTTP APIs and write ${{secret:NAME}} in its place"
    )]
    Credential(String),
}

/// The party that gives an MCP server to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerGiver {
    /// The people of a session. Their values of headers and variables are stored and shown.
    Session,
    /// The settings of the deployment, which are private.
    Deployment,
}

fn usual_timeout() -> u32 {
    USUAL_TIMEOUT_S
}

/// Checks the list of all servers that one party gives.
pub fn check_servers(servers: &[McpServerSpec], giver: ServerGiver) -> Result<(), BadMcpServer> {
    if servers.len() > MOST_SERVERS {
        return Err(BadMcpServer::TooMany);
    }
    for (index, server) in servers.iter().enumerate() {
        server.check(giver)?;
        let mut others = servers.iter().take(index);
        if others.any(|other| other.name == server.name) {
            return Err(BadMcpServer::Twice(server.name.clone()));
        }
    }
    // Only the list of a session is stored and shown.
    let is_long = giver == ServerGiver::Session && json_bytes(servers) > LONGEST_SERVERS_BYTES;
    if is_long {
        return Err(BadMcpServer::Long);
    }
    Ok(())
}

fn json_bytes(servers: &[McpServerSpec]) -> usize {
    serde_json::to_vec(servers).map_or(usize::MAX, |json| json.len())
}

impl McpServerSpec {
    /// Returns the longest time that a call may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.into())
    }

    /// Returns the names and values of its headers or environment variables.
    pub fn fields(&self) -> &BTreeMap<String, String> {
        match &self.transport {
            McpTransport::Stdio { env, .. } => env,
            McpTransport::Http { headers, .. } => headers,
        }
    }

    /// Returns true if a header or variable contains a secret.
    pub fn has_secrets(&self) -> bool {
        let mut values = self.fields().values();
        values.any(|value| secrets_in(value).is_ok_and(|secrets| !secrets.is_empty()))
    }

    pub fn check(&self, giver: ServerGiver) -> Result<(), BadMcpServer> {
        if !is_server_name(&self.name) {
            let shown = self.name.chars().take(LONGEST_SERVER_NAME).collect();
            return Err(BadMcpServer::Name(shown));
        }
        let checked = self.check_transport(giver);
        checked.map_err(|problem| BadMcpServer::Server {
            server: self.name.clone(),
            problem,
        })
    }

    fn check_transport(&self, giver: ServerGiver) -> Result<(), BadMcpTransport> {
        if !(1..=LONGEST_TIMEOUT_S).contains(&self.timeout_seconds) {
            return Err(BadMcpTransport::Timeout);
        }
        match &self.transport {
            McpTransport::Http { url, headers } => {
                url.parse::<HttpAddress>()?;
                for name in headers.keys() {
                    check_header(name)?;
                }
            }
            McpTransport::Stdio { command, args, env } => {
                check_program(command, args)?;
                for name in env.keys() {
                    check_variable(name)?;
                }
            }
        }
        let fields = self.fields();
        if fields.len() > MOST_FIELDS {
            return Err(BadMcpTransport::Fields);
        }
        for (name, value) in fields {
            check_value(name, value, giver)?;
        }
        Ok(())
    }
}

fn is_server_name(name: &str) -> bool {
    let is_good = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    (1..=LONGEST_SERVER_NAME).contains(&name.len())
        && name.chars().all(is_good)
        && name.starts_with(is_edge)
        && name.ends_with(is_edge)
        && !name.contains(NAME_SEPARATOR)
}

fn check_header(name: &str) -> Result<(), BadMcpTransport> {
    let header = name.parse::<SecretHeader>().ok();
    let is_own = |header: &SecretHeader| {
        let name = header.as_str();
        PROTOCOL_HEADERS.contains(&name) || name.starts_with(PROTOCOL_HEADER_BEGINNING)
    };
    match header.filter(|header| !is_own(header)) {
        Some(_) => Ok(()),
        None => Err(BadMcpTransport::Header(shortened(name))),
    }
}

fn check_program(command: &str, args: &[String]) -> Result<(), BadMcpTransport> {
    let n_chars = command.chars().count();
    if !(1..=LONGEST_COMMAND).contains(&n_chars) || command.contains(char::is_control) {
        return Err(BadMcpTransport::Command);
    }
    let is_good = |arg: &String| arg.chars().count() <= LONGEST_ARGUMENT && !arg.contains('\0');
    if args.len() > MOST_ARGUMENTS || !args.iter().all(is_good) {
        return Err(BadMcpTransport::Arguments);
    }
    Ok(())
}

fn check_variable(name: &str) -> Result<(), BadMcpTransport> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if (1..=LONGEST_VARIABLE).contains(&name.len())
        && name.chars().all(is_good)
        && !name.starts_with(|c: char| c.is_ascii_digit())
    {
        Ok(())
    } else {
        Err(BadMcpTransport::Variable(shortened(name)))
    }
}

fn check_value(name: &str, value: &str, giver: ServerGiver) -> Result<(), BadMcpTransport> {
    if value.chars().count() > LONGEST_VALUE || value.contains(char::is_control) {
        return Err(BadMcpTransport::Value(name.to_owned()));
    }
    let has_secret = !secrets_in(value)?.is_empty();
    let name_in_small = name.to_ascii_lowercase();
    let is_credential = CREDENTIALS.iter().any(|part| name_in_small.contains(part));
    if giver == ServerGiver::Session && is_credential && !has_secret {
        return Err(BadMcpTransport::Credential(name.to_owned()));
    }
    Ok(())
}

fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_VARIABLE).collect()
}

// Values of the deployment may be secret, and people may put one where it does not belong.
impl fmt::Debug for McpServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerSpec")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => f.debug_tuple("Stdio").field(command).finish(),
            Self::Http { url, .. } => f.debug_tuple("Http").field(url).finish(),
        }
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
