//! Reads a shell text from its beginning to its end.

use std::collections::HashMap;

use super::{Command, CommandInput, MOST_LEVELS, words::is_name};
use crate::policy::{
    fuel::Fuel,
    interpreters::{is_shell, reads_script},
};

/// The home folder of every sandbox.
const HOME: &str = "/home/agent";
/// The longest value of a variable that is kept, in bytes. Longer ones count as unknown.
const LONGEST_VALUE: usize = 4_096;

/// A reader of shell text.
pub(super) struct Parser<'a> {
    pub(super) fuel: &'a Fuel,
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) level: usize,
    /// The variables that the text has set so far.
    pub(super) variables: HashMap<String, String>,
    /// The here-documents whose text follows the current line.
    pending: Vec<Pending>,
}

/// A here-document whose text is still to be read.
struct Pending {
    delimiter: String,
    strips_tabs: bool,
    /// True if substitutions in its text are carried out.
    expands: bool,
    /// The index of its command in the list.
    owner: usize,
}

/// The command that is being read.
#[derive(Default)]
pub(super) struct Building {
    /// The index of its first character, once it has one.
    begins: Option<usize>,
    pub(super) words: Vec<String>,
    /// The word that is being read. It may be empty, as `''` is.
    pub(super) word: Option<String>,
    pub(super) inner: Vec<Command>,
    redirects: Vec<String>,
    documents: Vec<String>,
    input: CommandInput,
    n_pending: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &str, fuel: &'a Fuel) -> Self {
        Self {
            fuel,
            chars: text.chars().collect(),
            at: 0,
            level: 0,
            variables: HashMap::from([("HOME".to_owned(), HOME.to_owned())]),
            pending: Vec::new(),
        }
    }

    /// Reads the whole text.
    pub(super) fn script(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        while self.at < self.chars.len() {
            commands.extend(self.list(None));
        }
        commands
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reads commands up to a closing character, which is read too.
    pub(super) fn list(&mut self, close: Option<char>) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut building = Building::default();
        while let Some(c) = self.peek(0) {
            if Some(c) == close {
                self.end(&mut building, &mut commands);
                self.at += 1;
                return commands;
            }
            let is_word_start = building.word.is_none();
            match c {
                ' ' | '\t' | '\r' => {
                    self.end_word(&mut building);
                    self.at += 1;
                }
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' => {
                    self.end(&mut building, &mut commands);
                    self.at += 1;
                    self.read_documents(&mut commands);
                }
                '#' if is_word_start => {
                    self.end(&mut building, &mut commands);
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '&' if self.peek(1) == Some('>') => self.redirect(&mut building),
                ';' | '&' => {
                    self.end(&mut building, &mut commands);
                    self.at += 1;
                }
                '|' => self.pipe(&mut building, &mut commands),
                '(' => self.group(&mut building, &mut commands),
                ')' => {
                    self.end(&mut building, &mut commands);
                    self.at += 1;
                }
                '{' | '}' if is_word_start && self.is_alone() => {
                    let is_close = c == '}';
                    self.end(&mut building, &mut commands);
                    self.at += 1;
                    if is_close {
                        self.pipe_of_group(&mut building);
                    }
                }
                '<' | '>' => self.redirect(&mut building),
                _ => {
                    building.begins.get_or_insert(self.at);
                    self.word_part(&mut building);
                }
            }
        }
        self.end(&mut building, &mut commands);
        commands
    }

    /// Returns true if the next character stands alone, as a reserved word.
    fn is_alone(&self) -> bool {
        self.peek(1)
            .is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')'))
    }

    fn pipe(&mut self, building: &mut Building, commands: &mut Vec<Command>) {
        self.end(building, commands);
        self.at += 1;
        match self.peek(0) {
            Some('|') => self.at += 1,
            next => {
                building.input = CommandInput::Piped;
                if next == Some('&') {
                    self.at += 1;
                }
            }
        }
    }

    /// Reads the commands of a group in parentheses. They count as commands of the list.
    fn group(&mut self, building: &mut Building, commands: &mut Vec<Command>) {
        let input = building.input;
        self.end(building, commands);
        self.at += 1;
        if self.level >= MOST_LEVELS {
            self.fuel.run_out();
            return;
        }
        self.level += 1;
        let mut inside = self.list(Some(')'));
        self.level -= 1;
        if let Some(first) = inside.first_mut()
            && first.input == CommandInput::Own
        {
            first.input = input;
        }
        commands.extend(inside);
        self.pipe_of_group(building);
    }

    /// Reads a pipe that follows a group.
    fn pipe_of_group(&mut self, building: &mut Building) {
        let mut ahead = 0;
        while self.peek(ahead) == Some(' ') {
            ahead += 1;
        }
        if self.peek(ahead) == Some('|') && self.peek(ahead + 1) != Some('|') {
            self.at += ahead + 1;
            building.input = CommandInput::PipedFromGroup;
        }
    }

    /// Reads a redirection, a here-document or a process substitution.
    fn redirect(&mut self, building: &mut Building) {
        building.begins.get_or_insert(self.at);
        // The digits in front are a descriptor.
        let is_descriptor =
            |word: &String| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        if building.word.as_ref().is_some_and(is_descriptor) {
            building.word = None;
        }
        let starts = |text: &str| {
            let mut chars = text.chars().enumerate();
            chars.all(|(ahead, c)| self.peek(ahead) == Some(c))
        };
        if starts("<(") || starts(">(") {
            self.at += 2;
            self.substitution(building);
            return;
        }
        self.end_word(building);
        if starts("<<<") {
            self.at += 3;
            if let Some(word) = self.target(building) {
                building.documents.push(word);
            }
            return;
        }
        if starts("<<") {
            self.at += 2;
            let strips_tabs = self.peek(0) == Some('-');
            self.at += usize::from(strips_tabs);
            let begins = self.at;
            if let Some(delimiter) = self.target(building) {
                let written = &self.chars[begins..self.at];
                building.n_pending += 1;
                self.pending.push(Pending {
                    delimiter,
                    strips_tabs,
                    expands: !written.iter().any(|c| matches!(c, '\'' | '"' | '\\')),
                    owner: 0,
                });
            }
            return;
        }
        let reads = starts("<") && !starts("<&");
        while self
            .peek(0)
            .is_some_and(|c| matches!(c, '<' | '>' | '&' | '|'))
        {
            self.at += 1;
        }
        if let Some(word) = self.target(building) {
            if reads && word != "/dev/null" {
                building.input = CommandInput::File;
            }
            building.redirects.push(word);
        }
    }

    /// Reads the word after a redirection.
    fn target(&mut self, building: &mut Building) -> Option<String> {
        while self.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        let mut apart = Building::default();
        while self.peek(0).is_some_and(|c| !ends_word(c)) {
            self.word_part(&mut apart);
        }
        self.end_word(&mut apart);
        building.inner.append(&mut apart.inner);
        (!apart.words.is_empty()).then(|| apart.words.join(" "))
    }

    /// Ends the current command.
    fn end(&mut self, building: &mut Building, commands: &mut Vec<Command>) {
        let mut building = std::mem::take(building);
        self.end_word(&mut building);
        let Some(begins) = building.begins else {
            return;
        };
        let text: String = self.chars[begins..self.at].iter().collect();
        self.set_variables(&building.words);
        let mut command = Command {
            text: text.trim().to_owned(),
            all_words: building.words,
            redirects: building.redirects,
            documents: building.documents,
            inner: building.inner,
            input: building.input,
        };
        // Here-strings are known by now. Here-documents follow on the next lines.
        let scripts = self.scripts_in(&command, &command.documents);
        command.inner.extend(scripts);
        for pending in self.pending.iter_mut().rev().take(building.n_pending) {
            pending.owner = commands.len();
        }
        commands.push(command);
    }

    /// Remembers the variables that a command without a program sets.
    fn set_variables(&mut self, words: &[String]) {
        const SETS: [&str; 5] = ["export", "local", "declare", "readonly", "typeset"];
        let words = match words.split_first() {
            Some((first, rest)) if SETS.contains(&&**first) => rest,
            _ => words,
        };
        let pairs: Option<Vec<_>> = words.iter().map(|word| word.split_once('=')).collect();
        for (name, value) in pairs.into_iter().flatten() {
            if is_name(name) && value.len() <= LONGEST_VALUE {
                self.variables.insert(name.to_owned(), value.to_owned());
            } else {
                self.variables.remove(name);
            }
        }
    }

    /// Reads the here-documents that begin on the line that has ended. They belong to the last commands of that line.
    fn read_documents(&mut self, commands: &mut [Command]) {
        let pending = std::mem::take(&mut self.pending);
        for one in pending {
            let mut document = String::new();
            while self.at < self.chars.len() {
                let line = self.line();
                let line = if one.strips_tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if line == one.delimiter {
                    break;
                }
                document.push_str(line);
                document.push('\n');
            }
            let mut inner = Vec::new();
            if one.expands {
                inner = self.substitutions_of(&document);
            }
            if let Some(owner) = commands.get_mut(one.owner) {
                inner.extend(self.scripts_in(owner, std::slice::from_ref(&document)));
                owner.documents.push(document);
                owner.inner.append(&mut inner);
            }
        }
    }

    /// Returns the commands in the documents of a command, if it is a shell that runs them.
    fn scripts_in(&mut self, owner: &Command, documents: &[String]) -> Vec<Command> {
        if documents.is_empty() || !is_shell(owner.program()) || !reads_script(owner.words()) {
            return Vec::new();
        }
        let scripts = documents.iter().flat_map(|text| self.script_inside(text));
        scripts.collect()
    }

    fn line(&mut self) -> String {
        let rest = &self.chars[self.at..];
        let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
        let line = rest[..length].iter().collect();
        self.at = (self.at + length + 1).min(self.chars.len());
        line
    }
}

/// Returns true for an unquoted character that is not part of a word.
pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
