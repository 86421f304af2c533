//! The part of the system prompt about secrets for HTTP APIs.

use std::fmt;

use deskhand_core::vault::{HttpUse, Origin, SecretName};

const HEADING: &str = "# Secrets for HTTP APIs\n\n";
const RULES: &str = "Environment variables of your programs hold stand-ins for secrets of the owner of this \
                     conversation. Send a stand-in in place of the secret, also as the password of Basic \
                     authentication. It is replaced by the value on its way to the site, so you never see the value. It \
                     works only in these headers of requests to these sites. A request with a stand-in anywhere else, such \
                     as in its address or body, is refused. The owner may be asked first, so let the program wait.\n\n";

/// A secret that programs can use, as the system prompt describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableSecret {
    pub name: SecretName,
    pub origins: Vec<Origin>,
    pub http: HttpUse,
}

impl fmt::Display for UsableSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            origins,
            http: HttpUse { headers, env },
        } = self;
        let quoted: Vec<_> = headers.iter().map(|header| format!("`{header}`")).collect();
        let origins: Vec<_> = origins.iter().map(Origin::as_str).collect();
        write!(
            f,
            "- `{env}`: the secret {name}, in {} of requests to {}",
            quoted.join(" or "),
            origins.join(", ")
        )
    }
}

/// Returns the list of secrets, a line for each.
pub(crate) fn lines(secrets: &[UsableSecret]) -> String {
    let lines: Vec<_> = secrets.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Returns the section of the system prompt. The list must not be empty.
pub(super) fn section(secrets: &[UsableSecret]) -> String {
    format!("{HEADING}{RULES}{}\n", lines(secrets))
}

/// Returns the note about a list that has changed.
pub(crate) fn note(secrets: &[UsableSecret]) -> String {
    if secrets.is_empty() {
        return "[Programs can no longer use secrets in requests to HTTP APIs.]".to_owned();
    }
    format!(
        "[The secrets that programs can use in requests to HTTP APIs have changed. {}They are now:]\n\n{}",
        RULES.trim_end().to_owned() + " ",
        lines(secrets)
    )
}
