//! Secrets that people keep for their agents: their names, and the origins where they may be typed or sent.

mod http_use;

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::{SecretId, SessionId},
    network::rule::host_name,
    secret::Secret,
};

use self::http_use::SHORTEST_HTTP_VALUE;
pub use self::http_use::{HttpUse, MOST_HEADERS, SecretHeader, SecretVariable};

/// The maximum number of origins of one secret.
pub const MOST_ORIGINS: usize = 20;
/// The longest name of a secret, in characters.
const LONGEST_NAME: usize = 64;
/// The shortest and longest value of a secret, in characters. Shorter values would occur in other texts by chance.
const SHORTEST_VALUE: usize = 4;
const LONGEST_VALUE: usize = 1024;
/// The longest host of an origin, as in DNS.
const LONGEST_HOST: usize = 253;

/// The name of a secret, made of `a-z`, `0-9`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

/// The origin of a page: scheme, host and port, written as browsers do (`https://example.com`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(String);

/// The stored facts about a secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecret {
    pub id: SecretId,
    pub name: SecretName,
    /// The origins on which it may be typed or sent. There is at least one.
    pub origins: Vec<Origin>,
    /// Present if it is for requests to HTTP APIs. Such a secret is never typed.
    pub http: Option<HttpUse>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_use: Option<LastUse>,
}

/// The time and session in which a secret was last typed or sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastUse {
    pub at: Timestamp,
    pub session: SessionId,
}

/// Types a stored secret into the focused field. The caller knows only its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillSecret {
    pub name: SecretName,
    /// The place that people were shown when they were asked. The secret is typed on this origin only.
    #[serde(skip)]
    pub place: Option<FieldPlace>,
}

/// Finds the focused field, if this secret may be typed there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindSecretField {
    pub name: SecretName,
}

/// The place of the focused field in the browser, as the computer tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldPlace {
    /// The origin of the frame that contains the field. It need not be one where secrets can be typed.
    pub origin: String,
    /// The title of the page, which can be any text.
    pub title: String,
    /// The frame, by an id that the browser gave it.
    pub frame: String,
}

/// A secret on its way into a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filling {
    pub value: Secret,
    /// The field must still be in this frame, with this origin.
    pub frame: String,
    pub origin: Origin,
}

/// The reason why something cannot be a secret. The error never repeats the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    #[error("a name has 1 to {LONGEST_NAME} characters, each of them a-z, 0-9, _ or -")]
    Name,
    #[error(
        "{0:?} is not an origin: write scheme, host and port only, such as https://example.com or http://localhost:8000"
    )]
    Origin(String),
    #[error("a secret has 1 to {MOST_ORIGINS} origins, not {0}")]
    Origins(usize),
    #[error(
        "a value has {SHORTEST_VALUE} to {LONGEST_VALUE} characters, none of them a control character such as a line end"
    )]
    Value,
    #[error(
        "{0:?} cannot be the header of a secret: name one that carries credentials, such as authorization or x-api-key"
    )]
    Header(String),
    #[error("a secret for HTTP APIs has 1 to {MOST_HEADERS} headers, not {0}")]
    Headers(usize),
    #[error(
        "{0:?} cannot be the environment variable of a secret: use A-Z, 0-9 and _, and a name that nothing else needs, \
         such as GITHUB_TOKEN"
    )]
    Variable(String),
    #[error(
        "{0} has no name: the sites of a secret for HTTP APIs are names of hosts, not addresses"
    )]
    HttpOrigin(String),
    #[error(
        "the value of a secret for HTTP APIs has {SHORTEST_HTTP_VALUE} printable ASCII characters or more, and no space \
         at its ends"
    )]
    HttpValue,
}

impl SecretName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SecretName {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let is_good = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
        if (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_good) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSecret::Name)
        }
    }
}

impl TryFrom<String> for SecretName {
    type Error = BadSecret;

    fn try_from(text: String) -> Result<Self, BadSecret> {
        text.parse()
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

impl Origin {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the origin of a host by name. The port is left out where it is the usual one.
    pub fn of_host(is_encrypted: bool, host: &str, port: u16) -> Option<Self> {
        let scheme = if is_encrypted { "https" } else { "http" };
        format!("{scheme}://{host}:{port}").parse().ok()
    }

    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// Returns the host, an address of IPv6 in brackets.
    pub fn host(&self) -> &str {
        self.host_and_port().0
    }

    pub fn port(&self) -> u16 {
        let usual = if self.is_encrypted() { 443 } else { 80 };
        let given = self.host_and_port().1;
        given.and_then(|port| port.parse().ok()).unwrap_or(usual)
    }

    /// Returns true if the host is a name that programs resolve, and not an address.
    fn has_name(&self) -> bool {
        host_name(self.host()).as_deref() == Some(self.host())
    }

    fn host_and_port(&self) -> (&str, Option<&str>) {
        let place = self.0.split_once("://").map_or("", |(_, place)| place);
        match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (place, None),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = BadSecret;

    /// Parses an origin as people write it: in any case, with the default port or a trailing slash.
    fn from_str(text: &str) -> Result<Self, BadSecret> {
        parse_origin(&text.trim().to_ascii_lowercase())
            .map(Self)
            .ok_or_else(|| BadSecret::Origin(text.to_owned()))
    }
}

fn parse_origin(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let usual_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let is_name = |host: &str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        (1..=LONGEST_HOST).contains(&host.len())
            && host.chars().all(is_good)
            && !host.split('.').any(str::is_empty)
    };
    let host = match host.strip_prefix('[') {
        // Written as browsers do, so that it can be compared.
        Some(inside) => {
            let address: std::net::Ipv6Addr = inside.strip_suffix(']')?.parse().ok()?;
            format!("[{address}]")
        }
        None if is_name(host) => host.to_owned(),
        None => return None,
    };
    let port = match port {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse::<u16>().ok().filter(|port| *port > 0)?)
        }
        Some(_) => return None,
        None => None,
    };
    Some(match port.filter(|port| *port != usual_port) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

impl TryFrom<String> for Origin {
    type Error = BadSecret;

    fn try_from(text: String) -> Result<Self, BadSecret> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.0
    }
}

/// Checks that these can be stored as a secret's value, its origins and its use in requests.
pub fn check(value: &Secret, origins: &[Origin], http: Option<&HttpUse>) -> Result<(), BadSecret> {
    let text = value.expose();
    let n_characters = text.chars().count();
    if !(SHORTEST_VALUE..=LONGEST_VALUE).contains(&n_characters)
        || text.chars().any(char::is_control)
    {
        return Err(BadSecret::Value);
    }
    if !(1..=MOST_ORIGINS).contains(&origins.len()) {
        return Err(BadSecret::Origins(origins.len()));
    }
    http.map_or(Ok(()), |http| http.check(value, origins))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Option<String> {
        text.parse::<Origin>().ok().map(String::from)
    }

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        for (written, meant) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://Example.COM/", "https://example.com"),
            ("https://example.com:443", "https://example.com"),
            ("http://example.com:443", "http://example.com:443"),
            (" http://127.0.0.1:8000 ", "http://127.0.0.1:8000"),
            ("http://[0:0::1]:8000", "http://[::1]:8000"),
            ("http://[::1]", "http://[::1]"),
        ] {
            assert_eq!(origin(written).as_deref(), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_is_more_or_less_than_an_origin_is_refused() {
        for text in [
            "",
            "example.com",
            "https://",
            "https://example.com/login",
            "https://*.example.com",
            "https://user@example.com",
            "https://example..com",
            "https://example.com:",
            "https://example.com:0",
            "https://example.com:+80",
            "https://example.com:70000",
            "https://bücher.example",
            "file:///home",
            "ftp://example.com",
            "https://[::1",
            "null",
        ] {
            assert_eq!(origin(text), None, "{text}");
        }
    }

    #[test]
    fn an_origin_knows_its_parts() {
        let parts = |text: &str| {
            let origin: Origin = text.parse().unwrap();
            let parts = (
                origin.is_encrypted(),
                origin.host().to_owned(),
                origin.port(),
            );
            assert_eq!(Origin::of_host(parts.0, &parts.1, parts.2), Some(origin));
            parts
        };
        assert_eq!(
            parts("https://a.example"),
            (true, "a.example".to_owned(), 443)
        );
        assert_eq!(
            parts("http://a.example"),
            (false, "a.example".to_owned(), 80)
        );
        assert_eq!(
            parts("http://a.example:443"),
            (false, "a.example".to_owned(), 443)
        );
        assert_eq!(
            parts("https://[::1]:8443"),
            (true, "[::1]".to_owned(), 8443)
        );
        assert_eq!(parts("https://[::1]"), (true, "[::1]".to_owned(), 443));
    }

    #[test]
    fn names_are_plain() {
        assert!("bank_login-2".parse::<SecretName>().is_ok());
        for name in ["", "Bank", "a b", "a/b", "ü", &"a".repeat(65)] {
            assert!(name.parse::<SecretName>().is_err(), "{name}");
        }
    }

    #[test]
    fn values_that_could_not_be_kept_from_view_are_refused() {
        let origins = ["https://example.com".parse().unwrap()];
        let fits = |value: &str| check(&Secret::new(value), &origins, None).is_ok();
        assert!(fits("1234") && fits("pass wörd"));
        assert!(!fits("123") && !fits("two\nlines") && !fits(&"x".repeat(1025)));
        assert!(check(&Secret::new("1234"), &[], None).is_err());
    }
}
