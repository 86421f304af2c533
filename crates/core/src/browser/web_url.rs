//! Addresses that the agent may open: those of the web, and the empty page.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::LONGEST_WEB_URL;

/// The address of the empty page.
const EMPTY_PAGE: &str = "about:blank";

/// An address with the scheme `http` or `https`, or `about:blank`.
///
/// Pages of other schemes are either files of the computer, parts of the browser itself, or scripts in disguise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebUrl(String);

/// Reasons why an address is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWebUrl {
    #[error("the address is empty")]
    Empty,
    #[error("the address has more than {LONGEST_WEB_URL} characters")]
    TooLong,
    #[error("the address contains a space or a control character; encode it as %20, for example")]
    Characters,
    #[error("the browser opens addresses of http and https only, not of {0}:")]
    Scheme(String),
    #[error("the address names no host")]
    NoHost,
}

impl WebUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WebUrl {
    type Err = BadWebUrl;

    /// Reads an address. Without a scheme it is `https`, and `http` on this computer itself.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadWebUrl::Empty);
        }
        if text.chars().count() > LONGEST_WEB_URL {
            return Err(BadWebUrl::TooLong);
        }
        // Browsers leave such characters out before they read the scheme.
        if text.contains(|character: char| character.is_control() || character.is_whitespace()) {
            return Err(BadWebUrl::Characters);
        }
        if text.eq_ignore_ascii_case(EMPTY_PAGE) {
            return Ok(Self(EMPTY_PAGE.to_owned()));
        }
        let (scheme, rest) = match scheme_of(text) {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None if is_this_computer(text) => ("http".to_owned(), text),
            None => ("https".to_owned(), text),
        };
        if scheme != "http" && scheme != "https" {
            return Err(BadWebUrl::Scheme(scheme));
        }
        let rest = rest.trim_start_matches(['/', '\\']);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || host.ends_with('@') {
            return Err(BadWebUrl::NoHost);
        }
        Ok(Self(format!("{scheme}://{rest}")))
    }
}

/// Splits off the scheme. In `localhost:8080` there is none: digits follow the colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_name = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.'));
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.chars().all(|one| one.is_ascii_digit());
    (is_name && !is_port).then_some((scheme, rest))
}

fn is_this_computer(text: &str) -> bool {
    let host = text.split([':', '/', '?', '#']).next().unwrap_or_default();
    host.eq_ignore_ascii_case("localhost") || host.starts_with("127.") || text.starts_with("[::1]")
}

impl TryFrom<String> for WebUrl {
    type Error = BadWebUrl;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WebUrl> for String {
    fn from(url: WebUrl) -> Self {
        url.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_web_are_read() {
        for (text, url) in [
            ("https://a.example/b?c#d", "https://a.example/b?c#d"),
            ("HTTP://a.example", "http://a.example"),
            (" a.example/b ", "https://a.example/b"),
            ("localhost:8080/x", "http://localhost:8080/x"),
            ("127.0.0.1:1", "http://127.0.0.1:1"),
            ("a.example:8443", "https://a.example:8443"),
            ("About:Blank", "about:blank"),
        ] {
            assert_eq!(text.parse::<WebUrl>().unwrap().as_str(), url, "{text}");
        }
    }

    #[test]
    fn other_schemes_are_refused_by_name() {
        for (text, scheme) in [
            ("file:///etc/passwd", "file"),
            ("javascript:alert(1)", "javascript"),
            ("JavaScript:alert(1)", "javascript"),
            ("chrome://settings", "chrome"),
            ("view-source:https://a.example", "view-source"),
            ("data:text/html,x", "data"),
            ("about:version", "about"),
            ("blob:https://a.example/1", "blob"),
        ] {
            assert_eq!(
                text.parse::<WebUrl>(),
                Err(BadWebUrl::Scheme(scheme.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn tricks_are_refused() {
        assert_eq!(
            "java\nscript:alert(1)".parse::<WebUrl>(),
            Err(BadWebUrl::Characters)
        );
        assert_eq!("https://".parse::<WebUrl>(), Err(BadWebUrl::NoHost));
        assert_eq!("".parse::<WebUrl>(), Err(BadWebUrl::Empty));
        assert_eq!("a".repeat(2_001).parse::<WebUrl>(), Err(BadWebUrl::TooLong));
    }
}
