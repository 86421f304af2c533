//! The content of a text file. An edit changes only the bytes it is meant to change.
//!
//! The model writes line feeds. Files have line feeds, CR LF or both, may begin with a byte order mark and may lack
//! the final line end. All of that stays as it is.

use std::ops::Range;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The content of a text file, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

/// The end of a line in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

impl Text {
    /// Returns the lines as the model sees them: without line ends and without a byte order mark.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.line_ranges()
            .into_iter()
            .map(|range| {
                let line = &self.0[range];
                let Some(line) = line.strip_suffix('\n') else {
                    return line;
                };
                line.strip_suffix('\r').unwrap_or(line)
            })
            .collect()
    }

    /// Returns all occurrences of `wanted`, including overlapping ones. Line ends match in either form.
    pub(super) fn find(&self, wanted: &str) -> Vec<Range<usize>> {
        let (folded, places) = self.folded();
        let wanted = wanted.replace("\r\n", "\n");
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = folded[from..].find(&wanted).filter(|_| !wanted.is_empty()) {
            let begin = from + at;
            found.push(places[begin]..places[begin + wanted.len()]);
            let step = folded[begin..].chars().next().map_or(1, char::len_utf8);
            from = begin + step;
        }
        found
    }

    /// Returns the text with `range` replaced. New line ends are like those in the range, or near it.
    pub(super) fn replaced(&self, range: Range<usize>, with: &str) -> Self {
        let line_end =
            line_end_of(&self.0[range.clone()]).unwrap_or_else(|| self.line_end_near(range.start));
        let with = line_end.apply(with);
        Self([&self.0[..range.start], &with, &self.0[range.end..]].concat())
    }

    /// Returns the text with `added` as separate lines after line `after`, which must exist or be 0.
    pub(super) fn inserted(&self, after: usize, added: &str) -> Self {
        let ranges = self.line_ranges();
        let at = match after.checked_sub(1) {
            Some(index) => ranges.get(index).map_or(self.0.len(), |range| range.end),
            None => self.body_start(),
        };
        let line_end = self.line_end_near(at.saturating_sub(1));
        let lacks_final_end = at == self.0.len() && !ranges.is_empty() && !self.0.ends_with('\n');
        let added = line_end.apply(added);
        let added = if lacks_final_end {
            let added = added.strip_suffix('\n').unwrap_or(&added);
            let added = added.strip_suffix('\r').unwrap_or(added);
            format!("{}{added}", line_end.as_str())
        } else if added.ends_with('\n') || ranges.is_empty() {
            added
        } else {
            added + line_end.as_str()
        };
        Self([&self.0[..at], &added, &self.0[at..]].concat())
    }

    /// Returns the number of the line that holds this byte, counted from 1.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.0[..byte].matches('\n').count() + 1
    }

    fn body_start(&self) -> usize {
        if self.0.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        }
    }

    /// Returns each line with its line end. A line end at the very end begins no further line.
    fn line_ranges(&self) -> Vec<Range<usize>> {
        let mut start = self.body_start();
        self.0[start..]
            .split_inclusive('\n')
            .map(|line| {
                let range = start..start + line.len();
                start = range.end;
                range
            })
            .collect()
    }

    /// Returns the text with every CR LF as a line feed, and the offset in the original of each byte and of the
    /// end.
    fn folded(&self) -> (String, Vec<usize>) {
        let mut folded = String::with_capacity(self.0.len());
        let mut places = Vec::with_capacity(self.0.len() + 1);
        let mut at = self.body_start();
        for piece in self.0[at..].split_inclusive("\r\n") {
            let line = piece.strip_suffix("\r\n");
            let kept = line.unwrap_or(piece);
            folded.push_str(kept);
            places.extend(at..at + kept.len());
            if line.is_some() {
                folded.push('\n');
                places.push(at + kept.len());
            }
            at += piece.len();
        }
        places.push(at);
        (folded, places)
    }

    /// Returns the line end of the line with this byte, else of the line before it, else LF.
    fn line_end_near(&self, byte: usize) -> LineEnd {
        let bytes = self.0.as_bytes();
        let end_at = |newline: usize| {
            let is_crlf = newline
                .checked_sub(1)
                .is_some_and(|before| bytes[before] == b'\r');
            if is_crlf { LineEnd::CrLf } else { LineEnd::Lf }
        };
        let after = bytes
            .iter()
            .skip(byte)
            .position(|byte| *byte == b'\n')
            .map(|at| byte + at);
        let before = || {
            bytes[..byte.min(bytes.len())]
                .iter()
                .rposition(|byte| *byte == b'\n')
        };
        after.or_else(before).map_or(LineEnd::Lf, end_at)
    }
}

impl LineEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// Returns `text` with these line ends.
    fn apply(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        match self {
            Self::Lf => text,
            Self::CrLf => text.replace('\n', "\r\n"),
        }
    }
}

/// Returns the first line end in a part, if there is one.
fn line_end_of(part: &str) -> Option<LineEnd> {
    let newline = part.find('\n')?;
    let is_crlf = part[..newline].ends_with('\r');
    Some(if is_crlf { LineEnd::CrLf } else { LineEnd::Lf })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(content: &str) -> Text {
        Text(content.to_owned())
    }

    #[test]
    fn lines_are_shown_without_their_ends() {
        assert_eq!(text("\u{feff}a\r\nb\n\nc").lines(), ["a", "b", "", "c"]);
        assert_eq!(text("a\n").lines(), ["a"]);
        assert!(text("").lines().is_empty());
        assert!(text("\u{feff}").lines().is_empty());
    }

    #[test]
    fn line_feeds_match_both_kinds_of_line_end() {
        let mixed = text("a\r\nb\nc\r\n");
        assert_eq!(mixed.find("a\nb\nc\n"), vec![0..8]);
        assert_eq!(mixed.find("\nb"), vec![1..4]);
        assert_eq!(mixed.find("a"), vec![0..1]);
        assert_eq!(text("aaa").find("aa"), vec![0..2, 1..3]);
    }

    #[test]
    fn replacements_take_the_line_ends_of_their_place() {
        let crlf = text("one\r\ntwo\r\n");
        assert_eq!(crlf.replaced(0..3, "1\n1.5").0, "1\r\n1.5\r\ntwo\r\n");
        assert_eq!(text("one\ntwo").replaced(4..7, "2\n3").0, "one\n2\n3");
    }

    #[test]
    fn inserted_lines_keep_the_shape_of_the_file() {
        assert_eq!(
            text("\u{feff}a\r\n").inserted(0, "x").0,
            "\u{feff}x\r\na\r\n"
        );
        assert_eq!(text("a\nb").inserted(2, "x").0, "a\nb\nx");
        assert_eq!(text("a\nb").inserted(2, "x\n").0, "a\nb\nx");
        assert_eq!(text("a\nb\n").inserted(2, "x").0, "a\nb\nx\n");
        assert_eq!(text("a\nb\n").inserted(1, "\tx\n").0, "a\n\tx\nb\n");
        assert_eq!(text("").inserted(0, "x").0, "x");
    }

    /// Files with every mix of line ends, with and without a byte order mark and a final line end.
    fn any_text() -> impl Strategy<Value = Text> {
        let line = "[ab\té€\r]{0,4}";
        let end = prop_oneof![Just("\n"), Just("\r\n")];
        (
            any::<bool>(),
            prop::collection::vec((line, end), 0..6),
            "[abc]{0,3}",
        )
            .prop_map(|(marked, lines, last)| {
                let mark = if marked { "\u{feff}" } else { "" };
                let lines: String = lines
                    .iter()
                    .flat_map(|(line, end)| [line.as_str(), end])
                    .collect();
                Text(format!("{mark}{lines}{last}"))
            })
    }

    proptest! {
        #[test]
        fn a_replacement_keeps_every_other_byte(
            before in any_text(), after in any_text(), new in "[xy\n]{0,5}"
        ) {
            let whole = Text(format!("{}NEEDLE{}", before.0, after.0.trim_start_matches('\u{feff}')));
            let found = whole.find("NEEDLE");
            prop_assert_eq!(found.len(), 1);
            let replaced = whole.replaced(found[0].clone(), &new).0;
            let rest = replaced.strip_prefix(&whole.0[..found[0].start]);
            let middle = rest.and_then(|rest| rest.strip_suffix(&whole.0[found[0].end..]));
            prop_assert_eq!(middle.map(|middle| middle.replace("\r\n", "\n")), Some(new));
        }

        #[test]
        fn an_insertion_keeps_every_other_byte(whole in any_text(), new in "[xy\n]{1,5}", at in 0_usize..8) {
            let at = at.min(whole.lines().len());
            let inserted = whole.inserted(at, &new).0;
            let n_added = inserted.len() - whole.0.len();
            let kept = (0..=whole.0.len()).any(|cut| {
                inserted.as_bytes()[..cut] == whole.0.as_bytes()[..cut]
                    && inserted.as_bytes()[cut + n_added..] == whole.0.as_bytes()[cut..]
            });
            prop_assert!(kept);
            // An empty last line and a missing line end look the same.
            let ends_empty = new == "\n" || new.ends_with("\n\n");
            let lacks_end = |text: &str| !text.ends_with('\n');
            if !whole.lines().is_empty() && !ends_empty {
                prop_assert_eq!(lacks_end(&whole.0), lacks_end(&inserted));
            }
        }

        #[test]
        fn what_is_shown_is_found(whole in any_text()) {
            let shown = whole.lines().join("\n");
            // A line that itself ends with a carriage return cannot be told from a CR LF.
            prop_assume!(!shown.is_empty() && !shown.contains('\r'));
            prop_assert!(!whole.find(&shown).is_empty());
        }
    }
}
