//! The host in the head of an HTTP/1 request (RFC 9112).

use deskhand_core::network::NetworkHost;

use super::{Claim, parse_host};

/// The longest line that is treated as a request line. Servers have lower limits.
const LONGEST_LINE: usize = 32 * 1024;
const VERTICAL_TAB: u8 = 0x0b;
/// The characters that separate the parts of a request line for lenient servers.
const SEPARATORS: [char; 5] = [' ', '\t', '\u{b}', '\u{c}', '\r'];

/// Finds the host in the request target and in `Host`. Bytes that are not an HTTP/1 request name no host.
pub(super) fn host(bytes: &[u8]) -> Claim {
    // Servers skip empty lines before a request, and some skip any space.
    let n_skipped = bytes.iter().take_while(|byte| is_space(**byte)).count();
    if n_skipped > LONGEST_LINE {
        return Claim::Unreadable;
    }
    let bytes = &bytes[n_skipped..];
    if !may_be_request(bytes) {
        return Claim::None;
    }
    let Some(end) = find(bytes, b"\n") else {
        return match bytes.len() {
            0..LONGEST_LINE => Claim::FirstLine,
            _ => Claim::None,
        };
    };
    // Servers accept targets that are not UTF-8.
    let line = String::from_utf8_lossy(&bytes[..end]);
    let Some(line) = RequestLine::parse(&line) else {
        return Claim::None;
    };
    // HTTP/2 is not parsed here, and is rarely used without TLS.
    if !line.version.starts_with('1') {
        return Claim::Unreadable;
    }
    // The head ends with an empty line. Some servers accept line ends without a carriage return.
    let ends = [find(bytes, b"\n\r\n"), find(bytes, b"\n\n")];
    let Some(end_of_head) = ends.into_iter().flatten().min() else {
        return Claim::Unfinished;
    };
    let Ok(head) = std::str::from_utf8(&bytes[..end_of_head]) else {
        return Claim::Unreadable;
    };
    let head = head.strip_suffix('\r').unwrap_or(head);
    match host_lines(head) {
        Some(named) => claimed(authority(line.target).as_deref(), &named),
        None => Claim::Unreadable,
    }
}

/// Returns the values of all `Host` headers, or `None` if servers could disagree about them.
fn host_lines(head: &str) -> Option<Vec<&str>> {
    let mut named = Vec::new();
    for line in head.lines().skip(1) {
        // An obsolete line continuation, or a bare carriage return.
        if line.starts_with([' ', '\t']) || line.contains(['\r', '\0']) {
            return None;
        }
        // Some servers accept a space before the colon.
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("host")
        {
            named.push(value.trim());
        }
    }
    let is_ambiguous = named.len() > 1 && named.iter().any(|value| value.is_empty());
    (!is_ambiguous).then_some(named)
}

/// Collects the hosts that the request target and the headers name.
fn claimed(from_target: Option<&str>, named: &[&str]) -> Claim {
    let mut hosts: Vec<NetworkHost> = Vec::new();
    let texts = from_target.into_iter().chain(named.iter().copied());
    for text in texts.map(without_port).filter(|text| !text.is_empty()) {
        let Some(host) = parse_host(&text) else {
            return Claim::Unreadable;
        };
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if hosts.is_empty() {
        Claim::None
    } else {
        Claim::Hosts(hosts)
    }
}

/// Returns true if these bytes begin with a request line.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    let end = find(bytes, b"\n");
    end.is_some_and(|end| {
        let line = String::from_utf8_lossy(&bytes[..end]);
        may_be_request(bytes) && RequestLine::parse(&line).is_some()
    })
}

/// Returns true if these bytes can be the beginning of a request line. Any token can be a method.
fn may_be_request(bytes: &[u8]) -> bool {
    let mut words = bytes.split(|byte| is_space(*byte));
    let method = words.next().unwrap_or_default();
    let is_begun = !method.is_empty() || bytes.is_empty();
    is_begun
        && method
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Returns true for everything that lenient servers take for a space (RFC 9112, section 3).
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == VERTICAL_TAB
}

/// The first line of a request.
struct RequestLine<'a> {
    target: &'a str,
    /// The version after `HTTP/`.
    version: &'a str,
}

impl<'a> RequestLine<'a> {
    /// Parses a line that ends with the version of HTTP.
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_end();
        let (rest, version) = line.rsplit_once(SEPARATORS)?;
        let (_method, target) = rest.split_once(SEPARATORS)?;
        let (protocol, version) = version.split_once('/')?;
        let target = target.trim();
        protocol
            .eq_ignore_ascii_case("http")
            .then_some(Self { target, version })
    }
}

/// Returns the authority of a request target, without the user information.
fn authority(target: &str) -> Option<String> {
    if target.starts_with('/') || target == "*" {
        return None;
    }
    let rest = match target.split_once("://") {
        Some((_, rest)) => rest,
        None => target,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.to_owned())
}

/// Returns a host without its port.
fn without_port(text: &str) -> String {
    let port_at = text.rfind(':').filter(|at| {
        // The colons of an IPv6 address are within brackets.
        text[*at..].find(']').is_none() && (text.starts_with('[') || text.matches(':').count() == 1)
    });
    port_at.map_or(text, |at| &text[..at]).to_owned()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
