//! The settings of the port.

use deskhand_mcp::Groups;
use deskhand_server::ConnectionLimits;

use super::reader::Reader;

#[derive(Debug, Clone)]
pub(crate) struct PortConfig {
    /// True if others on the network may be served without encryption.
    pub(crate) allow_plain_http: bool,
    /// Names under which the server may be reached, besides its addresses and the name in `public_url`.
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) connections: ConnectionLimits,
    /// The tools of MCP clients that choose none.
    pub(crate) mcp_groups: Groups,
}

pub(super) fn port(reader: &mut Reader<'_>) -> PortConfig {
    PortConfig {
        allow_plain_http: reader.yes_or_no("allow_plain_http"),
        allowed_hosts: hosts(reader, "allowed_hosts"),
        connections: ConnectionLimits {
            total: reader.integer("connections.total", 0..=1_000_000),
            per_address: reader.integer("connections.per_address", 0..=1_000_000),
            sockets_per_user: reader.integer("connections.sockets_per_user", 0..=1_000_000),
        },
        mcp_groups: groups(reader, "mcp.tools"),
    }
}

fn groups(reader: &mut Reader<'_>, key: &str) -> Groups {
    let names = reader.text(key);
    Groups::parse(&names).unwrap_or_else(|error| {
        reader.mistake(key, &format!("cannot be {names:?}: {error}"));
        Groups::default()
    })
}

/// Reads names that are separated by commas.
fn hosts(reader: &mut Reader<'_>, key: &str) -> Vec<String> {
    let given = reader.text(key);
    let names = given.split(',').map(str::trim);
    let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    let is_name = |name: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        name.bytes().all(is_plain)
    };
    if let Some(wrong) = names.iter().find(|name| !is_name(name)) {
        let wanted = "names such as desk.example, separated by commas, without http:// and ports";
        reader.mistake(key, &format!("must be {wanted}, not {wrong:?}"));
    }
    names.into_iter().map(str::to_owned).collect()
}
