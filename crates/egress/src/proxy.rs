//! The HTTP proxy through which the server itself reaches the internet, if it needs one.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    network::{NetworkHost, address::IpRange},
    secret::Secret,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Mutex,
};

use crate::dial::{Dialler, Outgoing};

/// The longest answer of a proxy.
const LONGEST_HEAD_BYTES: usize = 8 * 1024;

/// The time for which the address of the proxy is remembered.
const CACHE_TIME: Duration = Duration::from_secs(30);
/// The port of an address that names none.
const DEFAULT_PORT: u16 = 80;

/// An HTTP proxy that supports `CONNECT`.
#[derive(Debug, Clone)]
pub struct UpstreamProxy {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<Secret>,
    exceptions: Vec<ProxyException>,
    /// The address of the proxy, and when it was resolved. The lock is held during a lookup, so only one runs at a
    /// time.
    found: Arc<Mutex<Option<(SocketAddr, Instant)>>>,
}

/// Hosts that are reached without the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProxyException {
    All,
    /// A name, and all below it.
    Domain(String),
    Range(IpRange),
}

/// The reason why a text is not the address of a proxy. It does not repeat the text, which may have a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be http://HOST:PORT or http://USER:PASSWORD@HOST:PORT")]
pub struct BadProxy;

impl UpstreamProxy {
    /// Parses `http://USER:PASSWORD@HOST:PORT`. The scheme may be missing, as in the variables of other programs, and so
    /// may the port. Special characters in the name and the password are percent-encoded.
    pub fn parse(text: &str) -> Result<Self, BadProxy> {
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(BadProxy),
            None => text,
        };
        let rest = rest.trim_end_matches('/');
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(percent_decoded(user).ok_or(BadProxy)?), place),
            None => (None, rest),
        };
        let (host, port) = host_and_port(place).ok_or(BadProxy)?;
        if host.is_empty() || host.contains(['/', '@', ' ']) {
            return Err(BadProxy);
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            authorization: user.map(|user| Secret::new(format!("Basic {}", STANDARD.encode(user)))),
            exceptions: Vec::new(),
            found: Arc::default(),
        })
    }

    /// Returns the proxy with the exceptions of a variable `NO_PROXY`: names, addresses and ranges, separated by commas.
    #[must_use]
    pub fn except(mut self, list: &str) -> Self {
        let entries = list.split([',', ' ']).map(str::trim);
        let entries = entries.filter(|entry| !entry.is_empty());
        self.exceptions = entries.map(exception).collect();
        self
    }

    /// Returns true if a host is reached through the proxy.
    pub(crate) fn is_for(&self, host: &NetworkHost, address: IpAddr) -> bool {
        let is_excepted = |exception: &ProxyException| match exception {
            ProxyException::All => true,
            ProxyException::Range(range) => range.contains(address),
            ProxyException::Domain(domain) => match host {
                NetworkHost::Name(name) => name
                    .strip_suffix(domain.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
                NetworkHost::Address(_) => false,
            },
        };
        !self.exceptions.iter().any(is_excepted)
    }

    /// Returns the address of the proxy.
    async fn place(&self) -> io::Result<SocketAddr> {
        let mut found = self.found.lock().await;
        if let Some((place, at)) = *found
            && at.elapsed() < CACHE_TIME
        {
            return Ok(place);
        }
        let mut places = tokio::net::lookup_host((self.host.as_str(), self.port)).await?;
        let place = places.next().ok_or(io::ErrorKind::NotFound)?;
        *found = Some((place, Instant::now()));
        Ok(place)
    }

    /// Connects to an address through the proxy.
    pub(crate) async fn dial(
        &self,
        dialler: &dyn Dialler,
        address: SocketAddr,
    ) -> io::Result<Outgoing> {
        let place = self.place().await?;
        let mut stream = dialler.dial(place).await?;
        let mut head = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n");
        if let Some(authorization) = &self.authorization {
            head.push_str(&format!(
                "Proxy-Authorization: {}\r\n",
                authorization.expose()
            ));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await?;
        match status(&read_head(&mut stream).await?) {
            Some(200..=299) => Ok(stream),
            Some(407) => Err(io::Error::other(
                "the server's proxy rejected its credentials: check the user and password in its address",
            )),
            Some(403) => Err(io::ErrorKind::ConnectionRefused.into()),
            Some(status) => Err(io::Error::other(format!("the proxy answered {status}"))),
            None => Err(io::Error::other("the proxy does not speak HTTP")),
        }
    }
}

impl fmt::Display for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "http://[{}]:{}", self.host, self.port);
        }
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

/// Splits the host of a proxy from its port.
fn host_and_port(place: &str) -> Option<(&str, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => match place.find(':') {
            Some(at) => place.split_at(at),
            None => (place, ""),
        },
    };
    if port.is_empty() {
        return Some((host, DEFAULT_PORT));
    }
    let port = port.strip_prefix(':')?.parse().ok()?;
    (port > 0).then_some((host, port))
}

/// Parses an entry of `NO_PROXY`. Its port is ignored.
fn exception(entry: &str) -> ProxyException {
    if entry == "*" {
        return ProxyException::All;
    }
    if let Ok(range) = entry.parse() {
        return ProxyException::Range(range);
    }
    let host = host_and_port(entry).map_or(entry, |(host, _)| host);
    match host.parse() {
        Ok(range) => ProxyException::Range(range),
        Err(_) => {
            let domain = host.trim_start_matches("*.").trim_start_matches('.');
            ProxyException::Domain(domain.to_ascii_lowercase())
        }
    }
}

/// Decodes percent-encoding. Returns `None` if a percent sign is not followed by two hex digits.
fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let value = digit(bytes.next())? * 16 + digit(bytes.next())?;
        decoded.push(u8::try_from(value).ok()?);
    }
    Some(decoded)
}

/// Reads exactly up to the end of the head. The bytes after it belong to the tunnel.
async fn read_head(stream: &mut Outgoing) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LONGEST_HEAD_BYTES {
            return Err(io::Error::other("the proxy's response is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

/// Returns the status of an answer.
fn status(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head).ok()?.lines().next()?;
    let mut parts = line.split(' ');
    let version = parts.next()?;
    version
        .starts_with("HTTP/1.")
        .then(|| parts.next()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_parsed_and_its_password_is_not_shown() {
        let proxy = UpstreamProxy::parse("http://ada:canary@proxy.lan:3128/").unwrap();
        assert_eq!(proxy.to_string(), "http://proxy.lan:3128");
        let secret = STANDARD.encode("ada:canary");
        assert!(!format!("{proxy:?}").contains(&secret), "{proxy:?}");
        assert_eq!(
            proxy.authorization.unwrap().expose(),
            format!("Basic {secret}")
        );
        for bad in [
            "",
            "https://proxy:1",
            "socks5://proxy:1",
            "http://:1",
            "http://p:0",
            "http://p:x",
            "http://a:%zz@p:1",
        ] {
            assert!(UpstreamProxy::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn common_spellings_of_a_proxy_are_accepted() {
        for (text, shown) in [
            ("proxy:3128", "http://proxy:3128"),
            ("HTTP://proxy", "http://proxy:80"),
            ("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"),
        ] {
            assert_eq!(UpstreamProxy::parse(text).unwrap().to_string(), shown);
        }
        let proxy = UpstreamProxy::parse("http://ada:c%40n%3Ary@proxy:1").unwrap();
        let secret = STANDARD.encode("ada:c@n:ry");
        assert_eq!(
            proxy.authorization.unwrap().expose(),
            format!("Basic {secret}")
        );
    }

    #[test]
    fn exceptions_are_reached_directly() {
        let proxy = UpstreamProxy::parse("proxy:1").unwrap();
        let proxy = proxy.except("localhost, .corp.example,10.0.0.0/8 mirror.example:443");
        let is_for = |name: &str, address: &str| {
            let host = NetworkHost::Name(name.to_owned());
            proxy.is_for(&host, address.parse().unwrap())
        };
        let public = "93.184.216.34";
        for name in ["git.corp.example", "corp.example", "mirror.example"] {
            assert!(!is_for(name, public), "{name}");
        }
        assert!(!is_for("a.example", "10.1.2.3"));
        assert!(is_for("notcorp.example", public));
        assert!(!proxy.except("*").is_for(
            &NetworkHost::Name("a.example".to_owned()),
            public.parse().unwrap()
        ));
    }
}
