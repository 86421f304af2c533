//! Addresses of MCP servers.

use std::{net::IpAddr, str::FromStr};

use crate::network::{NetworkHost, rule::host_name};

/// The longest address.
pub const LONGEST_ADDRESS: usize = 2048;

/// An address with the scheme `http` or `https`, without credentials and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAddress {
    pub is_encrypted: bool,
    pub host: NetworkHost,
    pub port: u16,
    /// The host as people wrote it, with the port if they gave one.
    pub authority: String,
    /// The path and the query. It begins with a slash.
    pub path: String,
}

/// The reason why a text is not the address of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHttpAddress {
    #[error("it has more than {LONGEST_ADDRESS} characters")]
    Long,
    #[error("it contains a space, a control character or one that is not ASCII; encode it, as %20")]
    Characters,
    #[error("it must begin with http:// or https://")]
    Scheme,
    #[error("it contains credentials; put them into a header")]
    Credentials,
    #[error("it contains a fragment (#)")]
    Fragment,
    #[error("its host is neither a name nor an address")]
    Host,
    #[error("its port is not a number from 1 to 65535")]
    Port,
}

impl FromStr for HttpAddress {
    type Err = BadHttpAddress;

    fn from_str(text: &str) -> Result<Self, BadHttpAddress> {
        if text.len() > LONGEST_ADDRESS {
            return Err(BadHttpAddress::Long);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadHttpAddress::Characters);
        }
        let (scheme, rest) = text.split_once("://").ok_or(BadHttpAddress::Scheme)?;
        let is_encrypted = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(BadHttpAddress::Scheme),
        };
        if rest.contains('#') {
            return Err(BadHttpAddress::Fragment);
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // Some programs take a backslash for a slash, and would then see another host.
        if authority.contains(['@', '\\']) {
            return Err(BadHttpAddress::Credentials);
        }
        let (host, port) = split_port(authority)?;
        let path = match path.chars().next() {
            Some('/') => path.to_owned(),
            Some(_) => format!("/{path}"),
            None => "/".to_owned(),
        };
        Ok(Self {
            is_encrypted,
            host: parse_host(host)?,
            port: port.unwrap_or(if is_encrypted { 443 } else { 80 }),
            authority: authority.to_ascii_lowercase(),
            path,
        })
    }
}

/// Splits `name:port`, `address:port` or `[address]:port`.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), BadHttpAddress> {
    let (host, port) = match authority.rfind(']') {
        Some(end) => {
            let (host, rest) = authority.split_at(end + 1);
            let port = rest.strip_prefix(':');
            if port.is_none() && !rest.is_empty() {
                return Err(BadHttpAddress::Host);
            }
            (host, port)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = port.map(|port| match port.parse::<u16>() {
        Ok(port @ 1..) => Ok(port),
        Ok(0) | Err(_) => Err(BadHttpAddress::Port),
    });
    Ok((host, port.transpose()?))
}

fn parse_host(host: &str) -> Result<NetworkHost, BadHttpAddress> {
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Some(inner) = inner {
        return match inner.parse() {
            Ok(address @ IpAddr::V6(_)) => Ok(NetworkHost::Address(address)),
            Ok(IpAddr::V4(_)) | Err(_) => Err(BadHttpAddress::Host),
        };
    }
    if let Ok(address @ IpAddr::V4(_)) = host.parse() {
        return Ok(NetworkHost::Address(address));
    }
    let name = host_name(host).ok_or(BadHttpAddress::Host)?;
    Ok(NetworkHost::Name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, port, authority, path) in [
            (
                "https://Mcp.Example/mcp?x=1",
                "mcp.example",
                443,
                "mcp.example",
                "/mcp?x=1",
            ),
            (
                "HTTP://10.0.0.1:8080",
                "10.0.0.1",
                8080,
                "10.0.0.1:8080",
                "/",
            ),
            ("http://[::1]:99/a", "::1", 99, "[::1]:99", "/a"),
            ("https://[2606::1]?q", "2606::1", 443, "[2606::1]", "/?q"),
        ] {
            let read: HttpAddress = text.parse().unwrap();
            let found = (read.host.to_string(), read.port, read.authority, read.path);
            assert_eq!(found, (host.into(), port, authority.into(), path.into()));
        }
    }

    #[test]
    fn addresses_that_could_mean_another_host_are_refused() {
        for (text, problem) in [
            ("ftp://a.example", BadHttpAddress::Scheme),
            ("a.example/mcp", BadHttpAddress::Scheme),
            ("javascript:alert(1)", BadHttpAddress::Scheme),
            ("http://me:pw@a.example", BadHttpAddress::Credentials),
            ("http://a.example\\@b.example/", BadHttpAddress::Credentials),
            ("http://a.example/#x", BadHttpAddress::Fragment),
            ("http://a example/", BadHttpAddress::Characters),
            ("http://ä.example/", BadHttpAddress::Characters),
            ("http:///mcp", BadHttpAddress::Host),
            ("http://0x7f.1/", BadHttpAddress::Host),
            ("http://2130706433/", BadHttpAddress::Host),
            ("http://[127.0.0.1]/", BadHttpAddress::Host),
            ("http://[::1]x/", BadHttpAddress::Host),
            ("http://a.example:0/", BadHttpAddress::Port),
            ("http://a.example:70000/", BadHttpAddress::Port),
        ] {
            assert_eq!(text.parse::<HttpAddress>(), Err(problem), "{text}");
        }
    }
}
