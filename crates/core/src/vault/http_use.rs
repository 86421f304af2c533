//! The use of a secret in requests to HTTP APIs: the headers that it belongs in, and the environment variable in which
//! programs find its stand-in.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{BadSecret, Origin};
use crate::secret::Secret;

/// The maximum number of headers of one secret.
pub const MOST_HEADERS: usize = 8;
/// The shortest value, in characters. Where a host repeats the value, it is replaced, and a shorter one would occur in
/// other data by chance.
pub(super) const SHORTEST_HTTP_VALUE: usize = 8;
/// The longest name of a header.
const LONGEST_HEADER: usize = 64;
/// The longest name of a variable.
const LONGEST_VARIABLE: usize = 64;

/// Headers that a secret cannot be for.
///
/// Some belong to a single connection or to the framing of a message, so the proxy rewrites them. `host` chooses the
/// site. The server itself sets `accept-encoding`. Cookies are refused because a site may answer with new cookies,
/// which would be as good as the secret and stay in the sandbox.
const REFUSED_HEADERS: [&str; 15] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-host",
];
/// Prefixes of further refused headers: those for proxies, and those that only browsers set.
const REFUSED_HEADER_BEGINNINGS: [&str; 2] = ["proxy-", "sec-"];

/// Variables that programs use for other purposes.
const REFUSED_VARIABLES: [&str; 26] = [
    "ALL_PROXY",
    "BASH_ENV",
    "BROWSER",
    "DISPLAY",
    "EDITOR",
    "ENV",
    "HOME",
    "HOSTNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "LANG",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NO_PROXY",
    "PAGER",
    "PATH",
    "PWD",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];
/// Prefixes of further refused variables.
const REFUSED_VARIABLE_BEGINNINGS: [&str; 7] = [
    "BASH_FUNC_",
    "DBUS_",
    "DESKHAND_",
    "LC_",
    "LD_",
    "SSL_",
    "XDG_",
];

/// The use of a secret in requests to HTTP APIs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpUse {
    /// The headers in which the value replaces its stand-in. There is at least one.
    pub headers: Vec<SecretHeader>,
    /// The environment variable in which programs find the stand-in.
    pub env: SecretVariable,
}

/// The name of a header, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretHeader(String);

/// The name of an environment variable, made of `A-Z`, `0-9` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretVariable(String);

impl HttpUse {
    /// Checks that a secret with this value and these origins can be used this way.
    pub(super) fn check(&self, value: &Secret, origins: &[Origin]) -> Result<(), BadSecret> {
        if !(1..=MOST_HEADERS).contains(&self.headers.len()) {
            return Err(BadSecret::Headers(self.headers.len()));
        }
        let text = value.expose();
        let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_printable || text.trim() != text || text.len() < SHORTEST_HTTP_VALUE {
            return Err(BadSecret::HttpValue);
        }
        match origins.iter().find(|origin| !origin.has_name()) {
            Some(origin) => Err(BadSecret::HttpOrigin(origin.to_string())),
            None => Ok(()),
        }
    }
}

impl SecretHeader {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SecretHeader {
    type Err = BadSecret;

    /// Parses a name as people write it, in any case.
    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let name = text.trim().to_ascii_lowercase();
        let is_good = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_');
        let is_refused = REFUSED_HEADERS.contains(&name.as_str())
            || REFUSED_HEADER_BEGINNINGS
                .iter()
                .any(|beginning| name.starts_with(beginning));
        if (1..=LONGEST_HEADER).contains(&name.len()) && name.chars().all(is_good) && !is_refused {
            Ok(Self(name))
        } else {
            Err(BadSecret::Header(
                text.chars().take(LONGEST_HEADER).collect(),
            ))
        }
    }
}

impl TryFrom<String> for SecretHeader {
    type Error = BadSecret;

    fn try_from(text: String) -> Result<Self, BadSecret> {
        text.parse()
    }
}

impl From<SecretHeader> for String {
    fn from(header: SecretHeader) -> Self {
        header.0
    }
}

impl SecretVariable {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SecretVariable {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let is_good = |c: char| matches!(c, 'A'..='Z' | '0'..='9' | '_');
        let is_refused = REFUSED_VARIABLES.contains(&text)
            || REFUSED_VARIABLE_BEGINNINGS
                .iter()
                .any(|beginning| text.starts_with(beginning));
        let is_name = (1..=LONGEST_VARIABLE).contains(&text.len())
            && text.chars().all(is_good)
            && !text.starts_with(|c: char| c.is_ascii_digit());
        if is_name && !is_refused {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSecret::Variable(
                text.chars().take(LONGEST_VARIABLE).collect(),
            ))
        }
    }
}

impl TryFrom<String> for SecretVariable {
    type Error = BadSecret;

    fn try_from(text: String) -> Result<Self, BadSecret> {
        text.parse()
    }
}

impl From<SecretVariable> for String {
    fn from(variable: SecretVariable) -> Self {
        variable.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_are_not_the_programs_own_are_refused() {
        let header = |text: &str| text.parse::<SecretHeader>().map(String::from).ok();
        assert_eq!(header(" Authorization "), Some("authorization".to_owned()));
        assert_eq!(header("X-Api_Key"), Some("x-api_key".to_owned()));
        let long = "x".repeat(65);
        for text in [
            "",
            "a b",
            "a:",
            "ü",
            &long,
            "Host",
            "Cookie",
            "Content-Length",
            "TE",
            "Upgrade",
            "Proxy-Authorization",
            "Sec-WebSocket-Key",
        ] {
            assert_eq!(header(text), None, "{text}");
        }
    }

    #[test]
    fn variables_that_programs_need_are_refused() {
        let is_good = |text: &str| text.parse::<SecretVariable>().is_ok();
        assert!(is_good("GITHUB_TOKEN") && is_good("_A1"));
        for text in [
            "",
            "github_token",
            "1A",
            "A-B",
            "PATH",
            "LD_PRELOAD",
            "HTTPS_PROXY",
        ] {
            assert!(!is_good(text), "{text}");
        }
    }

    #[test]
    fn values_and_origins_must_fit_into_requests() {
        let origin = |text: &str| text.parse::<Origin>().unwrap();
        let http = |headers: &[&str]| HttpUse {
            headers: headers.iter().map(|name| name.parse().unwrap()).collect(),
            env: "TOKEN".parse().unwrap(),
        };
        let named = [
            origin("https://api.example"),
            origin("http://api.example:8080"),
        ];
        let one = http(&["authorization"]);
        assert_eq!(one.check(&Secret::new("abcd efg"), &named), Ok(()));
        for value in ["pass wörd", " leading", "trailing ", "1234567"] {
            let checked = one.check(&Secret::new(value), &named);
            assert_eq!(checked, Err(BadSecret::HttpValue), "{value}");
        }
        for text in [
            "https://192.0.2.1",
            "http://[2001:db8::1]:80",
            "https://0x7f.1",
        ] {
            let checked = one.check(&Secret::new("abcdefgh"), &[origin(text)]);
            assert!(matches!(checked, Err(BadSecret::HttpOrigin(_))), "{text}");
        }
        let none = http(&[]).check(&Secret::new("abcdefgh"), &named);
        assert_eq!(none, Err(BadSecret::Headers(0)));
    }
}
