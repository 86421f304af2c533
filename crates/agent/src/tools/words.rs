//! Helpers for the sentences that describe calls to people.

/// The maximum number of characters of typed or asked text in a sentence.
pub(super) const LONGEST_QUOTE: usize = 80;
/// The maximum number of characters of a command, a path or an input in a sentence.
pub(super) const LONGEST_CODE: usize = 120;

/// Writes a text on one line, with at most `most` characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Writes a text in quotes.
pub(super) fn quote(text: &str) -> String {
    format!("“{}”", shorten(text, LONGEST_QUOTE))
}

/// Writes milliseconds, as seconds from one second on.
pub(super) fn span(ms: u64) -> String {
    match (ms / 1000, ms % 1000) {
        (0, ms) => format!("{ms} ms"),
        (s, 0) => format!("{s} s"),
        (s, ms) => format!("{s}.{} s", format!("{ms:03}").trim_end_matches('0')),
    }
}

/// Writes a count with its noun, in the plural where needed.
pub(super) fn counted(n: usize, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(shorten("a\n  b\t", 3), "a b");
        assert_eq!(shorten("grüße dich", 6), "grüße…");
        assert_eq!(shorten("grüße dich", 10), "grüße dich");
    }

    #[test]
    fn spans_are_short() {
        for (ms, written) in [
            (0, "0 ms"),
            (250, "250 ms"),
            (1500, "1.5 s"),
            (2000, "2 s"),
            (1050, "1.05 s"),
        ] {
            assert_eq!(span(ms), written);
        }
    }
}
