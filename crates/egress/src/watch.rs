//! Detects stand-ins of secrets in the bytes that programs send.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use memchr::memmem::Finder;

/// The number of ways in which a text can lie across the groups of three bytes that base64 encodes.
const BASE64_PHASES: usize = 3;

/// Finds the mark of a sandbox's stand-ins in bytes, in plain text or inside base64.
#[derive(Debug, Clone)]
pub(crate) struct StandInWatch {
    wanted: Vec<Finder<'static>>,
    /// The end of the stream so far, in which the mark may begin.
    tail: Vec<u8>,
}

impl StandInWatch {
    pub(crate) fn new(mark: &str) -> Self {
        let plain = mark.as_bytes().to_vec();
        let encoded = (0..BASE64_PHASES).map(|phase| within_base64(mark.as_bytes(), phase));
        let wanted = std::iter::once(plain).chain(encoded);
        Self {
            wanted: wanted.map(|text| Finder::new(&text).into_owned()).collect(),
            tail: Vec::new(),
        }
    }

    /// Returns true if these bytes alone contain the mark.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.wanted
            .iter()
            .any(|wanted| wanted.find(bytes).is_some())
    }

    /// Takes the next bytes of a stream. Returns true if they complete the mark.
    pub(crate) fn sees(&mut self, bytes: &[u8]) -> bool {
        let n_kept = self.longest() - 1;
        let across = [&self.tail[..], &bytes[..bytes.len().min(n_kept)]].concat();
        if self.is_in(&across) || self.is_in(bytes) {
            return true;
        }
        if bytes.len() >= n_kept {
            self.tail = bytes[bytes.len() - n_kept..].to_vec();
        } else {
            // `across` includes all of these bytes.
            let n_too_many = across.len().saturating_sub(n_kept);
            self.tail = across[n_too_many..].to_vec();
        }
        false
    }

    fn longest(&self) -> usize {
        let lengths = self.wanted.iter().map(|wanted| wanted.needle().len());
        lengths.max().unwrap_or(1)
    }
}

/// Returns the base64 characters that depend on `text` alone, if it starts `phase` bytes into a group.
fn within_base64(text: &[u8], phase: usize) -> Vec<u8> {
    let padded = [&vec![0; phase][..], text].concat();
    let encoded = STANDARD_NO_PAD.encode(&padded).into_bytes();
    // A character has six bits. Those that share bits with other bytes are left out.
    let first = (phase * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    encoded[first..last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_mark_is_found_plain_and_in_base64_wherever_it_begins() {
        let watch = StandInWatch::new(MARK);
        assert!(watch.is_in(format!("Bearer dhs-github-{MARK}").as_bytes()));
        assert!(!watch.is_in(&MARK.as_bytes()[1..]));
        for before in ["", "a", "ab", "abc", "abcd", "user:dhs-github-"] {
            for after in ["", "x", "xy"] {
                let text = format!("{before}{MARK}{after}");
                let encoded = STANDARD_NO_PAD.encode(&text);
                assert!(watch.is_in(encoded.as_bytes()), "{text}");
            }
        }
        let other = STANDARD_NO_PAD.encode(format!("user:{}", &MARK[..31]));
        assert!(!watch.is_in(other.as_bytes()));
    }

    #[test]
    fn a_mark_is_found_however_the_bytes_are_cut() {
        let plain = format!("GET /?q={MARK} HTTP/1.1");
        let encoded = STANDARD_NO_PAD.encode(format!("u:{MARK}:v"));
        for text in [plain, encoded] {
            for size in 1..=text.len() {
                let mut watch = StandInWatch::new(MARK);
                let seen = text.as_bytes().chunks(size).any(|piece| watch.sees(piece));
                assert!(seen, "{text} in pieces of {size}");
            }
            let mut watch = StandInWatch::new(MARK);
            let half = text.len() / 2;
            assert!(!watch.sees(&text.as_bytes()[..half]));
            assert!(!watch.sees(b""), "nothing changes nothing");
            assert!(watch.sees(&text.as_bytes()[half..]));
        }
        let mut watch = StandInWatch::new(MARK);
        assert!(!watch.sees(&MARK.as_bytes()[..16]) && !watch.sees(b"-"));
        assert!(!watch.sees(&MARK.as_bytes()[16..]), "something was between");
    }
}
