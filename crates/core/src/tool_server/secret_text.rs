//! Texts with the names of secrets in them, written as `${secret:NAME}`.

use crate::vault::SecretName;

const BEGINNING: &str = "${secret:";
const END: &str = "}";
/// The number of characters of a bad name that are quoted.
const LONGEST_QUOTE: usize = 64;

/// The error for a `${secret:…}` that names no secret. It contains the name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("${{secret:{0}}} does not name a secret")]
pub struct BadSecretText(pub String);

/// Returns the names of the secrets in a text.
pub fn secrets_in(text: &str) -> Result<Vec<SecretName>, BadSecretText> {
    let mut names = Vec::new();
    for place in text.split(BEGINNING).skip(1) {
        let closed = place.split_once(END).map(|(name, _)| name);
        let name = closed.and_then(|name| name.parse::<SecretName>().ok());
        names.push(name.ok_or_else(|| {
            let quoted = closed.unwrap_or(place);
            BadSecretText(quoted.chars().take(LONGEST_QUOTE).collect())
        })?);
    }
    Ok(names)
}

/// Returns the text with the words that `find` returns in place of its secrets, or the name for which there are none.
pub fn with_secrets(
    text: &str,
    mut find: impl FnMut(&str) -> Option<String>,
) -> Result<String, String> {
    let mut pieces = text.split(BEGINNING);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for place in pieces {
        let (name, rest) = place.split_once(END).unwrap_or((place, ""));
        filled.push_str(&find(name).ok_or_else(|| name.to_owned())?);
        filled.push_str(rest);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_filled_in() {
        let names = |text: &str| -> Result<Vec<String>, BadSecretText> {
            let found = secrets_in(text)?;
            Ok(found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(
            names("Bearer ${secret:github}"),
            Ok(vec!["github".to_owned()])
        );
        assert_eq!(names("$secret:github {x}"), Ok(Vec::new()));
        assert!(names("${secret:}").is_err());
        assert!(names("${secret:github").is_err());
        assert!(names("${secret:a b}").is_err());

        let find = |name: &str| (name != "none").then(|| format!("<{name}>"));
        let fill = |text: &str| with_secrets(text, find);
        assert_eq!(
            fill("a ${secret:x}, ${secret:y}."),
            Ok("a <x>, <y>.".to_owned())
        );
        assert_eq!(fill("plain"), Ok("plain".to_owned()));
        assert_eq!(fill("${secret:none}"), Err("none".to_owned()));
    }
}
