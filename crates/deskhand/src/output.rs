//! Writing to the two standard streams.
//!
//! Answers go to standard output so that they can be piped; everything else goes to standard
//! error. Much of it was written by others, so every text passes through [`Painted`], which leaves no control character
//! in it but those of our own colours.

use std::{
    fmt,
    io::{self, Write},
};

use console::Style;
use deskhand_core::plain::visible;

/// A text that is safe to print, with our own colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Painted(String);

impl Painted {
    /// Makes a text visible as it is.
    pub(crate) fn plain(text: &str) -> Self {
        Self(visible(text).into_owned())
    }

    /// Makes a text visible as it is, in a style.
    pub(crate) fn styled(text: &str, style: &Style) -> Self {
        Self(style.apply_to(visible(text)).to_string())
    }

    /// Puts texts one after the other.
    pub(crate) fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }
}

impl fmt::Display for Painted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes a line to standard output. Fails if the reader has closed it.
pub(crate) fn answer(line: &str) -> io::Result<()> {
    answer_painted(&Painted::plain(line))
}

/// Writes a line with colours to standard output. Fails if the reader has closed it.
pub(crate) fn answer_painted(line: &Painted) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Writes a line to standard error.
pub(crate) fn say(line: &str) {
    say_painted(&Painted::plain(line));
}

/// Writes a line with colours to standard error.
pub(crate) fn say_painted(line: &Painted) {
    // There is nowhere left to report that standard error is closed.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let green = Style::new().green().force_styling(true);
        let painted = Painted::joined([
            Painted::styled("✓", &green),
            Painted::plain(" \u{1b}[2J\u{1b}]52;c;eA==\u{7}\n"),
            Painted::styled("\u{1b}[8m\u{202e}", &green),
        ]);
        assert_eq!(
            painted.to_string(),
            "\u{1b}[32m✓\u{1b}[0m \\u001b[2J\\u001b]52;c;eA==\\u0007\n\u{1b}[32m\\u001b[8m\\u202e\u{1b}[0m"
        );
    }
}
