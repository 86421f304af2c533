//! Brace expansion: `{a,b}c` stands for `ac bc`.

use crate::policy::fuel::Fuel;

/// The marks of unquoted characters in a word. Quoted ones are themselves.
pub(super) const OPEN: char = '\u{e000}';
pub(super) const COMMA: char = '\u{e001}';
pub(super) const CLOSE: char = '\u{e002}';

/// The most words that one word becomes.
const MOST_WORDS: usize = 64;

/// Returns the words that a word with marks stands for.
pub(super) fn expand(word: &str, fuel: &Fuel) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![word.to_owned()];
    while let Some(word) = open.pop() {
        match parts(&word) {
            Some((before, choices, after))
                if done.len() + open.len() < MOST_WORDS
                    && fuel.burn(word.len() + choices.len() * (before.len() + after.len())) =>
            {
                let words = choices.into_iter().rev();
                open.extend(words.map(|choice| format!("{before}{choice}{after}")));
            }
            Some(_) | None => done.push(plain(&word)),
        }
    }
    done
}

/// Splits a word at its first group without another one in it.
fn parts(word: &str) -> Option<(&str, Vec<&str>, &str)> {
    let close = word.find(CLOSE)?;
    let open = word[..close].rfind(OPEN)?;
    let choices: Vec<&str> = word[open + OPEN.len_utf8()..close].split(COMMA).collect();
    let after = &word[close + CLOSE.len_utf8()..];
    (choices.len() > 1).then_some((&word[..open], choices, after))
}

/// Returns a word with its marks as the characters that they stand for.
pub(super) fn plain(word: &str) -> String {
    word.replace(OPEN, "{")
        .replace(COMMA, ",")
        .replace(CLOSE, "}")
}
