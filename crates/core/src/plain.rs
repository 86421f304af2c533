//! Characters that change how other text is shown, or make a terminal do something.
//!
//! Much that people read was written by others: titles, commands, pages that a model quotes. With such a character a
//! text can look like something else.

use std::borrow::Cow;

/// Returns true for control characters other than newline and tab, for those that change the direction of text or
/// break its lines, and for those that cannot be seen.
pub fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Directions.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        // Spaces without a width, and other line endings.
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
        character => character.is_control(),
    }
}

/// Returns true for zero-width joiners and non-joiners. Many scripts and emoji need them between two of their own
/// characters. Elsewhere they make different texts look the same.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Returns the text with every deceptive character as its escape, such as `\u001b`.
///
/// The escapes are those of JSON, so JSON keeps its meaning. The carriage return of a Windows line ending is left out.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| is_deceptive(character) || is_joiner(character)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        let after = characters.peek();
        if character == '\r' && after == Some(&'\n') {
            continue;
        }
        let is_between = [before.as_ref(), after]
            .iter()
            .all(|neighbour| neighbour.is_some_and(|neighbour| !neighbour.is_ascii()));
        if is_deceptive(character) || (is_joiner(character) && !is_between) {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            shown.push(character);
        }
        before = Some(character);
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
            ("rm\u{200b} \u{2060}\u{feff}", r"rm\u200b \u2060\ufeff"),
            ("a\u{2028}b\u{2029}", r"a\u2028b\u2029"),
            ("pay\u{200d}pal.com \u{200c}", r"pay\u200dpal.com \u200c"),
            // A family, and a Persian word.
            (
                "\u{1f469}\u{200d}\u{1f467} \u{645}\u{6cc}\u{200c}\u{634}",
                "\u{1f469}\u{200d}\u{1f467} \u{645}\u{6cc}\u{200c}\u{634}",
            ),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
