//! Removes keys from vendors' messages, which may repeat them.

use deskhand_core::{model::ModelError, secret::Secret};

/// The minimum length of a secret that is removed. Shorter ones would remove words from every message, and no key is
/// so short.
const SHORTEST: usize = 6;
/// The maximum length of a vendor's message that is passed on, in characters.
const LONGEST: usize = 600;

/// Returns the error with the model's name, without these secrets.
pub(crate) fn error(error: ModelError, model: &str, secrets: &[Secret]) -> ModelError {
    let told = |message: String| format!("{model}: {}", text(message, secrets));
    match error {
        ModelError::Rejected(message) => ModelError::Rejected(told(message)),
        ModelError::TooLong(message) => ModelError::TooLong(told(message)),
        ModelError::Refused(message) => ModelError::Refused(told(message)),
        ModelError::Unavailable {
            message,
            retry_after,
        } => ModelError::Unavailable {
            message: told(message),
            retry_after,
        },
    }
}

fn text(text: String, secrets: &[Secret]) -> String {
    let mut text = without(text, secrets);
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Replaces these secrets with asterisks.
pub(crate) fn without(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets {
        if secret.expose().len() >= SHORTEST {
            text = text.replace(secret.expose(), "***");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_stars_and_long_messages_are_cut() {
        let secrets = [Secret::new("sk-canary-1"), Secret::new("x")];
        let told = text("sk-canary-1 is wrong, sk-canary-1!".to_owned(), &secrets);
        assert_eq!(told, "*** is wrong, ***!");
        let long = text("ü".repeat(2000), &secrets);
        assert_eq!(long.chars().count(), LONGEST + 1);
        // A key at the edge is gone before the message is cut.
        let edge = format!("{}sk-canary-1", "a".repeat(LONGEST - 4));
        assert!(!text(edge, &secrets).contains("sk-c"));
    }
}
