//! Removes secrets from text, even if the text comes in pieces.

use deskhand_core::{plain::is_deceptive, secret::Secret, vault::SecretName};

/// Puts `[secret NAME]` in place of every occurrence of a secret.
#[derive(Clone)]
pub(crate) struct Redactor {
    /// The values and their replacements, longest first: one secret may contain another.
    words: Vec<(Secret, String)>,
    /// The end of the text so far, if it may be the beginning of a secret.
    pending: Vec<u8>,
    /// The number of pending bytes that were already shown, see [`Redactor::show_beginning`].
    n_shown: usize,
}

/// The maximum number of bytes that are shown of text that may be the beginning of a secret.
const MOST_SHOWN_BYTES: usize = 3;

/// The mark of a place where a text was cut.
const CUT: char = '…';

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    pub(crate) fn new(secrets: &[(SecretName, Secret)]) -> Self {
        let forms = |(name, value): &(SecretName, Secret)| {
            let mark = format!("[secret {name}]");
            let forms = forms_of(value).into_iter();
            forms.map(move |form| (form, mark.clone()))
        };
        let mut words: Vec<_> = secrets.iter().flat_map(forms).collect();
        words.sort_by_key(|(value, _)| std::cmp::Reverse(value.expose().len()));
        Self {
            words,
            pending: Vec::new(),
            n_shown: 0,
        }
    }

    /// Continues the same text with another list of secrets.
    pub(crate) fn with(self, secrets: &[(SecretName, Secret)]) -> Self {
        Self {
            pending: self.pending,
            n_shown: self.n_shown,
            ..Self::new(secrets)
        }
    }

    /// Returns a whole text without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        let text = self
            .words
            .iter()
            .fold(text.to_owned(), |text, (value, mark)| {
                text.replace(value.expose(), mark)
            });
        let mut parts = text.split(CUT);
        let last = parts.next_back().unwrap_or_default();
        let mut clean = String::with_capacity(text.len());
        for part in parts {
            let (rest, mark) = self.split_beginning(part);
            clean.extend([rest, mark]);
            clean.push(CUT);
        }
        clean + last
    }

    /// Returns a text that was cut without the beginning of a secret at its end, and the replacement of that.
    fn split_beginning<'a>(&'a self, text: &'a str) -> (&'a str, &'a str) {
        let beginnings = self.words.iter().filter_map(|(value, mark)| {
            let value = value.expose();
            let mut lengths = value.char_indices().map(|(at, _)| at).rev();
            let length = lengths.find(|length| text.ends_with(&value[..*length]))?;
            (length > MOST_SHOWN_BYTES).then_some((length, mark.as_str()))
        });
        match beginnings.max_by_key(|(length, _)| *length) {
            Some((length, mark)) => (&text[..text.len() - length], mark),
            None => (text, ""),
        }
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
            self.take(at, &mut clean);
            clean.extend_from_slice(mark.as_bytes());
            self.pending.drain(..length);
            self.n_shown = self.n_shown.saturating_sub(length);
        }
        self.take(self.n_sure(), &mut clean);
        clean
    }

    /// Returns the first of the bytes that are held back. A person who types must see the echo at once, even if it could
    /// be the beginning of a secret. If it turns out to be one, the rest is replaced.
    pub(crate) fn show_beginning(&mut self) -> Vec<u8> {
        let n_shown = self.pending.len().min(MOST_SHOWN_BYTES);
        let shown = self.pending.get(self.n_shown..n_shown).unwrap_or_default();
        let shown = shown.to_vec();
        self.n_shown = self.n_shown.max(n_shown);
        shown
    }

    /// Returns true if [`Redactor::show_beginning`] would return something.
    pub(crate) fn holds_beginning(&self) -> bool {
        self.n_shown < self.pending.len().min(MOST_SHOWN_BYTES)
    }

    /// Discards the bytes that are held back, because the next piece does not continue them.
    pub(crate) fn forget(&mut self) {
        self.pending.clear();
        self.n_shown = 0;
    }

    /// Moves pending bytes to the clean text, except those that were already shown.
    fn take(&mut self, n_bytes: usize, clean: &mut Vec<u8>) {
        let taken = self.pending.drain(..n_bytes);
        clean.extend(taken.skip(self.n_shown));
        self.n_shown = self.n_shown.saturating_sub(n_bytes);
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

/// Returns the forms in which a text may contain a secret: as it is, and as the script of a page or JSON writes it.
fn forms_of(value: &Secret) -> Vec<Secret> {
    let mut forms = vec![value.clone()];
    for change in [on_one_line, without_brackets, in_json] {
        for n in 0..forms.len() {
            let form = Secret::new(change(forms[n].expose()));
            // A short one would occur in other texts by chance.
            if form.expose().len() > MOST_SHOWN_BYTES && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Returns a text as it is in the reading of a page.
fn on_one_line(text: &str) -> String {
    let seen: String = text.chars().filter(|one| !is_deceptive(*one)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text as it is in the reading of a page where brackets could be taken for an element's.
fn without_brackets(text: &str) -> String {
    text.replace('[', "(").replace(']', ")")
}

/// Returns a text as it is between the quotes of JSON.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
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
    fn a_secret_with_brackets_is_also_replaced_without_them() {
        let secret = ("odd".parse().unwrap(), Secret::new("pa[ss]word"));
        let redactor = Redactor::new(&[secret]);
        let clean = redactor.clean("pa[ss]word and pa(ss)word beside e5");
        assert_eq!(clean, "[secret odd] and [secret odd] beside e5");
    }

    #[test]
    fn a_secret_with_quotes_is_also_replaced_in_json() {
        let secret = ("odd".parse().unwrap(), Secret::new(r#"pa"ss\[w]"#));
        let redactor = Redactor::new(&[secret]);
        let text = r#"[textbox Key e1 ="pa\"ss\\[w]"] pa"ss\[w] pa\"ss\\(w) pa"ss\(w)"#;
        assert_eq!(
            redactor.clean(text),
            r#"[textbox Key e1 ="[secret odd]"] [secret odd] [secret odd] [secret odd]"#
        );
    }

    #[test]
    fn a_secret_with_white_space_is_also_replaced_on_one_line() {
        let secret = |name: &str, value: &str| (name.parse().unwrap(), Secret::new(value));
        let redactor = Redactor::new(&[secret("words", " two  words"), secret("none", "     ")]);
        let clean = redactor.clean("[textbox Key e1 =\"two words\"] and  two  words");
        assert_eq!(
            clean,
            "[textbox Key e1 =\"[secret words]\"] and [secret words]"
        );
    }

    #[test]
    fn the_beginning_of_a_secret_is_replaced_where_a_text_was_cut() {
        let secret = |name: &str, value: &str| (name.parse().unwrap(), Secret::new(value));
        let redactor = Redactor::new(&[
            secret("key", "sk-0123456789"),
            secret("quoted", r#"a"b"c"d"e"f"#),
        ]);
        let clean = redactor.clean("=\"Bearer sk-01234…\" sk-01234 and sk-… so… on…");
        assert_eq!(clean, "=\"Bearer [secret key]…\" sk-01234 and sk-… so… on…");
        assert_eq!(
            redactor.clean(r#"="a\"b\"c…" and …"#),
            r#"="[secret quoted]…" and …"#
        );
        assert_eq!(redactor.clean("sk-0123456789…"), "[secret key]…");
    }

    #[test]
    fn the_beginning_of_a_possible_secret_can_be_shown_once() {
        let mut redactor = redactor();
        let mut seen = redactor.push(b"$ x");
        assert!(redactor.holds_beginning());
        seen.extend(redactor.show_beginning());
        assert!(!redactor.holds_beginning() && redactor.show_beginning().is_empty());
        assert_eq!(seen, b"$ x");
        seen.extend(redactor.push(b"xaba"));
        seen.extend(redactor.show_beginning());
        assert_eq!(seen, b"$ xxa", "not more than three bytes of it");
        seen.extend(redactor.push(b"byy!"));
        assert_eq!(seen, b"$ xxa[secret long]!");
        seen.extend(redactor.push(b" xx"));
        seen.extend(redactor.show_beginning());
        seen.extend(redactor.push(b"-abab"));
        assert_eq!(seen, b"$ xxa[secret long]! xx-[secret short]");
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
