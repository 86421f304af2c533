//! Characters that change how other text is shown, or make a terminal do something.
//!
//! Much that people read was written by others: titles, commands, pages that a model quotes. With such a character a
//! text can look like something else.

use std::borrow::Cow;

/// Returns true for control characters other than newline and tab, and for those that change the direction of text.
pub fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        character => character.is_control(),
    }
}

/// Returns the text with every deceptive character as its escape, such as `\u001b`.
///
/// The escapes are those of JSON, so JSON keeps its meaning. The carriage return of a Windows line ending is left out.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\r' && characters.peek() == Some(&'\n') {
            continue;
        }
        if is_deceptive(character) {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_is_shown() {
        assert_eq!(visible("rm\t-r\nü 🦀"), "rm\t-r\nü 🦀");
        for (text, shown) in [
            ("\u{1b}[2J", r"\u001b[2J"),
            ("a\r\nb\rc", "a\nb\\u000dc"),
            ("\u{7}\u{7f}\u{9b}m\0", r"\u0007\u007f\u009bm\u0000"),
            ("\u{202e}txt.exe\u{2069}", r"\u202etxt.exe\u2069"),
            ("\u{61c}\u{200e}\u{200f}", r"\u061c\u200e\u200f"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
