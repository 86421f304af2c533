//! The names of elements that have consequences, in several languages.

use std::{collections::HashMap, sync::LazyLock};

use super::Consequence;

/// The most characters of a name in a language without spaces. Longer ones are sentences.
const LONGEST_PART_NAME: usize = 16;

/// The list, read once. A test reads it too.
static LIST: LazyLock<PhraseList> = LazyLock::new(|| PhraseList::read(include_str!("phrases.txt")));

/// Phrases by their kind, in the order of the list.
#[derive(Debug, Default)]
struct PhraseList {
    /// Phrases that show a consequence.
    shown: HashMap<&'static str, Vec<(Consequence, &'static str)>>,
    others: HashMap<&'static str, Vec<&'static str>>,
}

/// A name in lower case, as words and as text without spaces.
#[derive(Debug)]
pub(super) struct Phrase {
    words: Vec<String>,
    joined: String,
}

impl PhraseList {
    fn read(text: &'static str) -> Self {
        let mut list = Self::default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (head, phrases) in lines.filter_map(|line| line.split_once(": ")) {
            let phrases = phrases.split("; ");
            let (kind, consequence) = head.split_once(' ').unwrap_or((head, ""));
            match Consequence::from_name(consequence) {
                Some(shown) => {
                    let all = list.shown.entry(kind).or_default();
                    all.extend(phrases.map(|phrase| (shown, phrase)));
                }
                None => list.others.entry(kind).or_default().extend(phrases),
            }
        }
        list
    }
}

fn shown(kind: &str) -> &'static [(Consequence, &'static str)] {
    LIST.shown.get(kind).map_or(&[], Vec::as_slice)
}

fn others(kind: &str) -> &'static [&'static str] {
    LIST.others.get(kind).map_or(&[], Vec::as_slice)
}

impl Phrase {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let joined = words.concat();
        Self { words, joined }
    }

    /// Returns the number of words after this beginning.
    fn after(&self, beginning: &str) -> Option<usize> {
        let n_words = beginning.split(' ').count();
        let same = beginning
            .split(' ')
            .zip(&self.words)
            .filter(|(a, b)| a == b);
        (same.count() == n_words).then(|| self.words.len() - n_words)
    }

    fn contains(&self, phrase: &str) -> bool {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let mut parts = self.words.windows(wanted.len());
        parts.any(|part| part.iter().zip(&wanted).all(|(a, b)| a == b))
    }

    fn contains_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.contains(phrase))
    }

    fn is_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.after(phrase) == Some(0))
    }
}

/// Returns the consequence that a name shows, if at most `most_words` follow its first words.
pub(super) fn consequence(name: &Phrase, most_words: usize) -> Option<Consequence> {
    if name.contains_any(others("elsewhere")) {
        return None;
    }
    let begins = |(_, beginning): &&(Consequence, &str)| {
        let left = name.after(beginning);
        left.is_some_and(|n_left| n_left <= most_words)
    };
    let is_short = name.joined.chars().count() <= LONGEST_PART_NAME;
    let contains = |(_, part): &&(Consequence, &str)| is_short && name.joined.contains(part);
    let found = shown("begins").iter().find(begins);
    let found = found.or_else(|| shown("contains").iter().find(contains));
    found.map(|(consequence, _)| *consequence)
}

/// Returns true if even a link whose name begins like this hardly leads to a page.
pub(super) fn is_telling(name: &Phrase) -> bool {
    let telling = others("telling");
    telling.iter().any(|word| name.after(word).is_some())
}

/// Returns true if a name only confirms what stands around it.
pub(super) fn is_confirmation(name: &Phrase) -> bool {
    name.is_any(others("confirms"))
}

/// Returns true if a button that sends its form shows it to others.
pub(super) fn is_submission(name: &Phrase) -> bool {
    name.is_any(others("submits"))
}

/// Returns the consequence that a text speaks of.
pub(super) fn mentioned(text: &Phrase) -> Option<Consequence> {
    if text.contains_any(&["cookie", "cookies"]) {
        return None;
    }
    let mut all = shown("mentions").iter();
    all.find(|(_, words)| text.contains(words))
        .map(|(consequence, _)| *consequence)
}

/// Returns true if a name takes an effect back.
pub(super) fn is_refusal(name: &Phrase) -> bool {
    let refuses = |word: &&str| {
        if word.is_ascii() {
            name.after(word).is_some() || name.words.last().is_some_and(|last| last == word)
        } else {
            name.joined.contains(word)
        }
    };
    others("refuses").iter().any(refuses)
        || name.contains("don t")
        || name.is_any(&["cancel", "close", "dismiss"])
}

/// Returns true if a button with this name does something beside what its form is for.
pub(super) fn is_aside(name: &Phrase) -> bool {
    name.contains_any(others("aside"))
}

/// Returns true if ticking a box with this name accepts terms.
pub(super) fn says_terms(name: &Phrase) -> bool {
    name.contains_any(others("terms")) && name.contains_any(others("agrees"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_consequence_has_names_and_every_name_is_plain() {
        for kind in ["begins", "contains", "mentions"] {
            for consequence in Consequence::ALL {
                let has_some = shown(kind).iter().any(|(one, _)| *one == consequence);
                assert!(has_some, "{kind} {}", consequence.name());
            }
        }
        let all = LIST.shown.values().flatten().map(|(_, phrase)| *phrase);
        for phrase in all.chain(LIST.others.values().flatten().copied()) {
            assert_eq!(Phrase::new(phrase).words.join(" "), phrase);
        }
    }
}
