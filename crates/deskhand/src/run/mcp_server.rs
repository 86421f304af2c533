//! MCP servers on the command line.

use deskhand_core::tool_server::spec::{McpServerSpec, McpTransport, ServerGiver, USUAL_TIMEOUT_S};

/// Parses `NAME=URL` or `NAME=COMMAND`. A command is split at spaces.
pub(crate) fn parse_mcp_server(text: &str) -> Result<McpServerSpec, String> {
    let wanted = || "write NAME=URL or NAME=COMMAND".to_owned();
    let (name, way) = text.split_once('=').ok_or_else(wanted)?;
    let transport = if way.contains("://") {
        McpTransport::Http {
            url: way.to_owned(),
            headers: std::collections::BTreeMap::new(),
        }
    } else {
        let mut words = way.split_whitespace().map(str::to_owned);
        McpTransport::Stdio {
            command: words.next().ok_or_else(wanted)?,
            args: words.collect(),
            env: std::collections::BTreeMap::new(),
        }
    };
    let spec = McpServerSpec {
        name: name.to_owned(),
        transport,
        timeout_seconds: USUAL_TIMEOUT_S,
    };
    let checked = spec.check(ServerGiver::Session);
    checked.map_err(|error| error.to_string())?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_addresses_or_commands() {
        let http = parse_mcp_server("docs=https://mcp.example/x?a=b").unwrap();
        let McpTransport::Http { url, .. } = http.transport else {
            panic!("{http:?}");
        };
        assert_eq!(
            (http.name.as_str(), url.as_str()),
            ("docs", "https://mcp.example/x?a=b")
        );
        let program = parse_mcp_server("files=npx -y server").unwrap();
        let McpTransport::Stdio { command, args, .. } = program.transport else {
            panic!("{program:?}");
        };
        assert_eq!(
            (command.as_str(), args),
            ("npx", vec!["-y".to_owned(), "server".to_owned()])
        );
        for bad in ["", "x", "x=", "A b=y", "x=ftp://y"] {
            assert!(parse_mcp_server(bad).is_err(), "{bad}");
        }
    }
}
