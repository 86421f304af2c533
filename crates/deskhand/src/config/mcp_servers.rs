//! `[mcp_servers.NAME]`: the MCP servers that every session has.

use std::collections::BTreeMap;

use deskhand_core::tool_server::spec::{
    McpServerSpec, McpTransport, ServerGiver, USUAL_TIMEOUT_S, check_servers,
};
use serde::Deserialize;
use toml::Value;

use super::{layers::SERVERS, reader::Reader};

/// A server as a file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerTable {
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_seconds: Option<u32>,
}

/// Reads the servers of the file.
pub(super) fn mcp_servers(reader: &mut Reader<'_>) -> Vec<McpServerSpec> {
    let Some((servers, source)) = reader.take_servers() else {
        return Vec::new();
    };
    let Value::Table(servers) = servers else {
        let problem = format!("must be tables named {SERVERS}.NAME");
        reader.mistake_in(&source, SERVERS.to_owned(), problem);
        return Vec::new();
    };
    let mut specs = Vec::new();
    for (name, table) in servers {
        let key = format!("{SERVERS}.{name}");
        match spec(name, table) {
            Ok(spec) => specs.push(spec),
            Err(problem) => reader.mistake_in(&source, key, problem),
        }
    }
    if let Err(error) = check_servers(&specs, ServerGiver::Deployment) {
        reader.mistake_in(&source, SERVERS.to_owned(), error.to_string());
    }
    specs
}

fn spec(name: String, table: Value) -> Result<McpServerSpec, String> {
    // The message of the error alone: it would otherwise quote the value, which may be secret.
    let table = ServerTable::deserialize(table).map_err(|error| error.message().to_owned())?;
    let ServerTable {
        url,
        headers,
        command,
        args,
        env,
        timeout_seconds,
    } = table;
    let has_program_fields = !args.is_empty() || !env.is_empty();
    let transport = match (url, command) {
        (Some(url), None) if !has_program_fields => McpTransport::Http { url, headers },
        (None, Some(command)) if headers.is_empty() => McpTransport::Stdio { command, args, env },
        (Some(_) | None, _) => {
            let wanted =
                "needs either url and perhaps headers, or command and perhaps args and env";
            return Err(wanted.to_owned());
        }
    };
    Ok(McpServerSpec {
        name,
        transport,
        timeout_seconds: timeout_seconds.unwrap_or(USUAL_TIMEOUT_S),
    })
}
