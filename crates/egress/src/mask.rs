//! Replaces values that a host sends back by their stand-ins, so that they do not reach the sandbox.
//!
//! Every replacement is as long as the text that it replaces, so lengths in headers and frames stay correct.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use deskhand_core::secret::Secret;
use memchr::memmem;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use zeroize::Zeroizing;

/// The characters that programs percent-encode in URLs and forms.
const ENCODED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The character that fills up a stand-in to the length of its value.
const FILLER: u8 = b'*';

/// Replaces values in a stream.
#[derive(Clone, Default)]
pub(crate) struct ValueMask {
    /// The texts to replace, longest first: one may contain another.
    words: Vec<MaskedWord>,
    /// The end of the stream so far, if it may be the beginning of a value.
    held: Vec<u8>,
}

#[derive(Clone)]
struct MaskedWord {
    text: Zeroizing<Vec<u8>>,
    /// As long as the text.
    replacement: Vec<u8>,
}

impl std::fmt::Debug for ValueMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValueMask").finish_non_exhaustive()
    }
}

impl ValueMask {
    /// Masks these values, each with its stand-in: in plain text, and as encoded in JSON, URLs and base64.
    pub(crate) fn new(values: &[(String, Secret)]) -> Self {
        let mut mask = Self::default();
        for (stand_in, value) in values {
            for text in spellings(value) {
                mask.add(text, stand_in.as_bytes());
            }
        }
        mask
    }

    /// Masks a text as well.
    pub(crate) fn add(&mut self, text: Zeroizing<Vec<u8>>, stand_in: &[u8]) {
        if text.is_empty() || self.words.iter().any(|word| word.text == text) {
            return;
        }
        let mut replacement = stand_in.to_vec();
        replacement.resize(text.len(), FILLER);
        self.words.push(MaskedWord { text, replacement });
        self.words
            .sort_by_key(|word| std::cmp::Reverse(word.text.len()));
    }

    /// Returns a complete text with its values masked, or `None` if it contains none.
    pub(crate) fn clean(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut clean = bytes.to_vec();
        self.replace(&mut clean).then_some(clean)
    }

    /// Takes the next bytes of a stream and returns those that can be passed on. A possible beginning of a value is
    /// held back until more bytes arrive.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Bytes {
        if self.words.is_empty() {
            return bytes;
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(&bytes);
        self.replace(&mut all);
        self.held = all.split_off(all.len() - self.n_uncertain(&all));
        all.into()
    }

    /// Returns the bytes that are held back.
    pub(crate) fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }

    /// Returns true if bytes are held back.
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Replaces all values. Returns true if there was one.
    fn replace(&self, bytes: &mut [u8]) -> bool {
        let mut is_changed = false;
        for word in &self.words {
            let found: Vec<usize> = memmem::find_iter(bytes, &*word.text).collect();
            for at in found {
                bytes[at..at + word.text.len()].copy_from_slice(&word.replacement);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Counts the bytes at the end that may be the beginning of a value.
    fn n_uncertain(&self, bytes: &[u8]) -> usize {
        let longest = |text: &[u8]| {
            let most = (text.len() - 1).min(bytes.len());
            let mut lengths = (1..=most).rev();
            lengths
                .find(|length| bytes.ends_with(&text[..*length]))
                .unwrap_or(0)
        };
        let lengths = self.words.iter().map(|word| longest(&word.text));
        lengths.max().unwrap_or(0)
    }
}

/// Returns a value in the forms in which hosts repeat it.
fn spellings(value: &Secret) -> Vec<Zeroizing<Vec<u8>>> {
    let plain = value.expose();
    let json = serde_json::Value::from(plain).to_string();
    let json = json.trim_start_matches('"');
    let json = json.strip_suffix('"').unwrap_or(json);
    let address = utf8_percent_encode(plain, &ENCODED).to_string();
    let texts = [
        plain.to_owned(),
        json.replace('/', "\\/"),
        json.to_owned(),
        address.replace("%20", "+"),
        address,
        STANDARD.encode(plain),
    ];
    texts
        .into_iter()
        .map(|text| Zeroizing::new(text.into_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(values: &[(&str, &str)]) -> ValueMask {
        let values: Vec<_> = values
            .iter()
            .map(|(stand_in, value)| ((*stand_in).to_owned(), Secret::new(*value)))
            .collect();
        ValueMask::new(&values)
    }

    fn cleaned(mask: &ValueMask, text: &str) -> String {
        let clean = mask.clean(text.as_bytes());
        clean.map_or(text.to_owned(), |clean| String::from_utf8(clean).unwrap())
    }

    #[test]
    fn a_replacement_has_the_length_of_the_value() {
        let mask = mask(&[("dhs-long", "canary"), ("dhs-a", "a longer value")]);
        assert_eq!(cleaned(&mask, "x canary y"), "x dhs-lo y");
        assert_eq!(cleaned(&mask, "a longer value"), "dhs-a*********");
        assert_eq!(cleaned(&mask, "nothing"), "nothing");
        assert_eq!(mask.clean(b"nothing"), None);
    }

    #[test]
    fn other_spellings_are_replaced_too() {
        let mask = mask(&[("dhs-x", "a/b \"c\"")]);
        for text in [
            r#"{"got": "a/b \"c\""}"#,
            r#"{"got": "a\/b \"c\""}"#,
            "?got=a%2Fb%20%22c%22",
            "got=a%2Fb+%22c%22",
            &STANDARD.encode("a/b \"c\""),
        ] {
            let clean = cleaned(&mask, text);
            assert_eq!(clean.len(), text.len());
            assert!(clean.contains("dhs-x"), "{text}: {clean}");
        }
    }

    #[test]
    fn the_result_does_not_depend_on_pieces() {
        let text = "can canary cancanaryx cana";
        let whole = cleaned(&mask(&[("dhs-c", "canary")]), text);
        assert_eq!(whole, "can dhs-c* candhs-c*x cana");
        for size in 1..text.len() {
            let mut mask = mask(&[("dhs-c", "canary")]);
            let mut clean = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                clean.extend(mask.push(Bytes::copy_from_slice(piece)));
            }
            assert!(mask.holds());
            clean.extend(mask.finish());
            assert!(!mask.holds());
            assert_eq!(String::from_utf8(clean).unwrap(), whole, "pieces of {size}");
        }
    }
}
