//! The simple commands of a shell text.

mod braces;
mod parser;
mod words;

use self::parser::Parser;
use super::{fuel::Fuel, wrappers::behind_wrappers};

/// The most levels of substitutions and groups that are read. Deeper ones count as text.
const MOST_LEVELS: usize = 12;

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The command as it is written, without surrounding whitespace and here-documents.
    pub(super) text: String,
    /// The words of the command without quotes and redirections.
    all_words: Vec<String>,
    /// The targets of its redirections.
    pub(super) redirects: Vec<String>,
    /// Its here-documents and here-strings.
    pub(super) documents: Vec<String>,
    /// The commands of substitutions in it.
    pub(super) inner: Vec<Command>,
    pub(super) input: CommandInput,
}

/// The standard input of a command, as far as the text shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CommandInput {
    /// It is that of the shell.
    #[default]
    Own,
    /// It is a file that is named.
    File,
    /// It is the output of the command before.
    Piped,
    /// It is the output of a group of commands before.
    PipedFromGroup,
}

impl Command {
    pub(super) fn of_words(words: &[String]) -> Self {
        Self {
            text: words.join(" "),
            all_words: words.to_vec(),
            ..Self::default()
        }
    }

    /// Returns the program and its arguments, without the assignments and wrappers in front.
    pub(super) fn words(&self) -> &[String] {
        behind_wrappers(&self.all_words)
    }

    /// Returns all words, with the assignments and wrappers in front.
    pub(super) fn all_words(&self) -> &[String] {
        &self.all_words
    }

    /// Returns true if this wrapper stands in front of the program.
    pub(super) fn is_behind(&self, wrapper: &str) -> bool {
        let n_words = self.all_words.len() - self.words().len();
        let mut in_front = self.all_words[..n_words].iter();
        in_front.any(|word| word.rsplit('/').next() == Some(wrapper))
    }

    /// Returns the program's name without its directory.
    pub(super) fn program(&self) -> &str {
        name_of(self.words())
    }

    /// Returns the words with the program's name instead of its path: `git push` for `/usr/bin/git push`.
    pub(super) fn plain_text(&self) -> String {
        let arguments = self.arguments().iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(self.program()).chain(arguments).collect();
        words.join(" ")
    }

    pub(super) fn arguments(&self) -> &[String] {
        self.words().get(1..).unwrap_or_default()
    }

    /// Returns this command, and all commands of the substitutions in it.
    pub(super) fn with_inner(&self) -> Vec<&Command> {
        let inner = self.inner.iter().flat_map(Command::with_inner);
        std::iter::once(self).chain(inner).collect()
    }
}

/// Returns the last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of the program that these words run, without its directory and version.
pub(super) fn name_of(words: &[String]) -> &str {
    let program = words.first().map_or("", String::as_str);
    let name = program.rsplit('/').next().unwrap_or(program);
    match name.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        Some(_) | None => name,
    }
}

/// Returns the simple commands of a shell text in their order. Those in substitutions are inside them.
///
/// Nothing is expanded but braces and variables that the text itself sets. Where a text is not what a shell would take, a
/// person is asked once too often rather than once too rarely.
///
/// A text for which the fuel does not last is left out.
pub(super) fn split(text: &str, fuel: &Fuel) -> Vec<Command> {
    if !fuel.burn_text(text) {
        return Vec::new();
    }
    Parser::new(text, fuel).script()
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
