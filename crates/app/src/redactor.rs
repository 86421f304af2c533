//! Removes secrets from text, even if the text comes in pieces.

use deskhand_core::{secret::Secret, vault::SecretName};

/// Puts `[secret NAME]` in place of every occurrence of a secret.
#[derive(Clone)]
pub(crate) struct Redactor {
    /// The values and their replacements, longest first: one secret may contain another.
    words: Vec<(Secret, String)>,
    /// The end of the text so far, if it may be the beginning of a secret.
    pending: Vec<u8>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    pub(crate) fn new(secrets: &[(SecretName, Secret)]) -> Self {
        let mut words: Vec<_> = secrets
            .iter()
            .map(|(name, value)| (value.clone(), format!("[secret {name}]")))
            .collect();
        words.sort_by_key(|(value, _)| std::cmp::Reverse(value.expose().len()));
        Self {
            words,
            pending: Vec::new(),
        }
    }

    /// Returns a whole text without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.words
            .iter()
            .fold(text.to_owned(), |text, (value, mark)| {
                text.replace(value.expose(), mark)
            })
    }

    /// Adds a piece and returns the text that is certain. A possible beginning of a secret is held back until the
    /// next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(piece);
        let mut clean = Vec::new();
        // A secret that begins before the first one may turn out to be a longer secret around it.
        while let Some((at, length, mark)) = self.first()
            && at < self.n_sure()
        {
            clean.extend_from_slice(&self.pending[..at]);
            clean.extend_from_slice(mark.as_bytes());
            self.pending.drain(..at + length);
        }
        let n_sure = self.n_sure();
        clean.extend(self.pending.drain(..n_sure));
        clean
    }

    /// Returns the position, length and replacement of the first secret in the pending text.
    fn first(&self) -> Option<(usize, usize, String)> {
        let found = self.words.iter().filter_map(|(value, mark)| {
            let value = value.expose().as_bytes();
            let mut windows = self.pending.windows(value.len());
            let at = windows.position(|window| window == value)?;
            Some((at, value.len(), mark))
        });
        let first = found.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)));
        first.map(|(at, length, mark)| (at, length, mark.clone()))
    }

    /// Counts the bytes before the possible beginning of a secret.
    fn n_sure(&self) -> usize {
        let longest = |value: &[u8]| {
            let most = (value.len() - 1).min(self.pending.len());
            (1..=most)
                .rev()
                .find(|length| self.pending.ends_with(&value[..*length]))
                .unwrap_or(0)
        };
        let lengths = self
            .words
            .iter()
            .map(|(value, _)| longest(value.expose().as_bytes()));
        self.pending.len() - lengths.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let secret = |name: &str, value: &str| (name.parse().unwrap(), Secret::new(value));
        Redactor::new(&[secret("short", "abab"), secret("long", "xxababyy")])
    }

    #[test]
    fn secrets_are_replaced_by_their_names() {
        let clean = |text: &str| redactor().clean(text);
        assert_eq!(clean("a xxababyy b"), "a [secret long] b");
        assert_eq!(clean("ababab"), "[secret short]ab");
        assert_eq!(clean("nothing"), "nothing");
    }

    #[test]
    fn however_a_text_is_cut_into_pieces_the_same_comes_out() {
        let text = "x abab xxababyy xxabab! ab".as_bytes();
        let whole = "x [secret short] [secret long] xx[secret short]! ";
        for size in 1..text.len() {
            let mut redactor = redactor();
            let mut clean = Vec::new();
            for piece in text.chunks(size) {
                clean.extend(redactor.push(piece));
            }
            assert_eq!(String::from_utf8(clean).unwrap(), whole, "pieces of {size}");
        }
    }
}
