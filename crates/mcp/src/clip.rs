//! Bounds on texts. Pages and programs control many of them.

/// Returns the beginning of a text in at most `most_bytes`, with `…` where it was cut.
pub(crate) fn clip(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let room = most_bytes.saturating_sub('…'.len_utf8());
    let end = text.floor_char_boundary(room);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("longer", 5), "lo…");
        assert_eq!(clip("äöüß", 7), "äö…");
        assert_eq!(clip("äöüß", 6), "ä…");
    }
}
