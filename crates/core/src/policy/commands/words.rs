//! Reads words: quotes, substitutions and variables.

use super::{
    MOST_LEVELS, braces,
    parser::{Building, Parser},
};

/// The text of a substitution whose result is unknown.
const UNKNOWN: &str = "$()";

impl Building {
    pub(super) fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    /// Starts a word, which may stay empty.
    fn touch(&mut self) {
        self.word.get_or_insert_default();
    }
}

impl Parser<'_> {
    pub(super) fn end_word(&self, building: &mut Building) {
        if let Some(word) = building.word.take() {
            building.words.extend(braces::expand(&word, self.fuel));
        }
    }

    /// Reads the next part of a word.
    pub(super) fn word_part(&mut self, building: &mut Building) {
        let Some(c) = self.peek(0) else {
            return;
        };
        match c {
            '\'' => {
                self.at += 1;
                building.touch();
                while let Some(c) = self.next() {
                    if c == '\'' {
                        break;
                    }
                    building.push(c.encode_utf8(&mut [0; 4]));
                }
            }
            '"' => {
                self.at += 1;
                building.touch();
                self.double_quoted(building, Some('"'));
            }
            '\\' => {
                self.at += 1;
                match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => building.push(escaped.encode_utf8(&mut [0; 4])),
                }
            }
            '$' | '`' => self.expansion(building, true),
            '{' => self.mark(building, braces::OPEN),
            ',' => self.mark(building, braces::COMMA),
            '}' => self.mark(building, braces::CLOSE),
            c => {
                self.at += 1;
                building.push(c.encode_utf8(&mut [0; 4]));
            }
        }
    }

    fn mark(&mut self, building: &mut Building, mark: char) {
        self.at += 1;
        building.push(mark.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek(0)?;
        self.at += 1;
        Some(next)
    }

    /// Reads text in double quotes, or all text without an end.
    fn double_quoted(&mut self, building: &mut Building, end: Option<char>) {
        while let Some(c) = self.peek(0) {
            match c {
                c if Some(c) == end => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') | None => {}
                        Some(escaped) => {
                            if !matches!(escaped, '$' | '`' | '"' | '\\') {
                                building.push("\\");
                            }
                            building.push(escaped.encode_utf8(&mut [0; 4]));
                        }
                    }
                }
                '$' | '`' => self.expansion(building, false),
                c => {
                    self.at += 1;
                    building.push(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// Reads what begins with a dollar sign or a backquote. Unquoted values become several words.
    fn expansion(&mut self, building: &mut Building, is_unquoted: bool) {
        if self.next() == Some('`') {
            let text = self.backquoted();
            building.inner.extend(self.script_inside(&text));
            building.push(UNKNOWN);
            return;
        }
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => self.arithmetic(building),
            Some('(') => {
                self.at += 1;
                self.substitution(building);
            }
            Some('{') => {
                self.at += 1;
                self.braced(building, is_unquoted);
            }
            Some('\'') if is_unquoted => {
                self.at += 1;
                building.touch();
                self.escaped_quote(building);
            }
            Some('"') if is_unquoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .peek(0)
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                    self.at += 1;
                }
                self.value(&name, building, is_unquoted);
            }
            Some(_) | None => building.push("$"),
        }
    }

    /// Writes the value of a variable, or its name if the text does not set it.
    fn value(&mut self, name: &str, building: &mut Building, is_unquoted: bool) {
        let known = self.variables.get(name).cloned();
        let Some(value) = known.filter(|value| self.fuel.burn(value.len())) else {
            building.push("$");
            building.push(name);
            return;
        };
        self.push_value(&value, building, is_unquoted);
    }

    /// Writes a value, which becomes several words where it is not quoted.
    fn push_value(&self, value: &str, building: &mut Building, is_unquoted: bool) {
        if !is_unquoted {
            building.push(value);
            return;
        }
        for (index, word) in value.split_whitespace().enumerate() {
            if index > 0 {
                self.end_word(building);
            }
            building.push(word);
        }
    }

    /// Reads the commands of a substitution up to its parenthesis.
    pub(super) fn substitution(&mut self, building: &mut Building) {
        if self.level >= MOST_LEVELS {
            self.fuel.run_out();
            building.push(UNKNOWN);
            return;
        }
        self.level += 1;
        let mut inner = self.list(Some(')'));
        self.level -= 1;
        building.push(searched(&inner).unwrap_or(UNKNOWN));
        building.inner.append(&mut inner);
    }

    /// Reads up to the next backquote.
    fn backquoted(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '`' => break,
                '\\' if matches!(self.peek(0), Some('`' | '\\' | '$')) => text.extend(self.next()),
                c => text.push(c),
            }
        }
        text
    }

    /// Reads `${name}` and its relatives, whose defaults may contain substitutions.
    fn braced(&mut self, building: &mut Building, is_unquoted: bool) {
        let mut text = String::new();
        let mut depth = 1;
        while let Some(c) = self.next() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(c);
        }
        let name: String = text
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let rest = &text[name.len()..];
        if rest.is_empty() && is_name(&name) {
            self.value(&name, building, is_unquoted);
            return;
        }
        // `${name:-default}`
        let default = rest.trim_start_matches(':').strip_prefix(['-', '=']);
        let is_known = self.variables.contains_key(&name);
        match default.filter(|_| !is_known && is_name(&name)) {
            Some(default) => self.default(default, building, is_unquoted),
            None => {
                building.inner.extend(self.substitutions_of(rest));
                self.value(&name, building, is_unquoted);
            }
        }
    }

    /// Writes the text that stands for a variable without a value.
    fn default(&mut self, text: &str, building: &mut Building, is_unquoted: bool) {
        let mut word = String::new();
        building.inner.extend(self.inside(text, |reader| {
            let mut apart = Building::default();
            reader.double_quoted(&mut apart, None);
            word = apart.word.unwrap_or_default();
            apart.inner
        }));
        let word = word.replace(['\'', '"'], "");
        self.push_value(&word, building, is_unquoted);
    }

    /// Reads `$((…))`, in which substitutions are carried out.
    fn arithmetic(&mut self, building: &mut Building) {
        self.at += 2;
        let mut text = String::new();
        let mut depth = 2;
        while let Some(c) = self.next() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(c);
        }
        building.inner.extend(self.substitutions_of(&text));
        building.push(UNKNOWN);
    }

    /// Reads `$'…'` with its escapes.
    fn escaped_quote(&mut self, building: &mut Building) {
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let escaped = self.escape();
                    building.push(escaped.encode_utf8(&mut [0; 4]));
                }
                c => building.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn escape(&mut self) -> char {
        let (radix, most) = match self.peek(0) {
            Some('x') => (16, 2),
            Some('u') => (16, 4),
            Some('U') => (16, 8),
            Some('0'..='7') => (8, 3),
            Some('n') => {
                self.at += 1;
                return '\n';
            }
            Some('t') => {
                self.at += 1;
                return '\t';
            }
            Some(_) | None => return self.next().unwrap_or('\\'),
        };
        self.at += usize::from(radix == 16);
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else {
                break;
            };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        char::from_u32(code).unwrap_or('?')
    }

    /// Returns the commands of the substitutions in a text that is otherwise data.
    pub(super) fn substitutions_of(&mut self, text: &str) -> Vec<super::Command> {
        self.inside(text, |reader| {
            let mut building = Building::default();
            reader.double_quoted(&mut building, None);
            building.inner
        })
    }

    /// Returns the commands of a text in this one.
    pub(super) fn script_inside(&mut self, text: &str) -> Vec<super::Command> {
        self.inside(text, Parser::script)
    }

    /// Reads a text in this one. It shares the variables, as substitutions do here, so that none is copied.
    fn inside(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Self) -> Vec<super::Command>,
    ) -> Vec<super::Command> {
        if self.level >= MOST_LEVELS || !self.fuel.burn_text(text) {
            self.fuel.run_out();
            return Vec::new();
        }
        let mut reader = Parser::new(text, self.fuel);
        reader.level = self.level + 1;
        reader.variables = std::mem::take(&mut self.variables);
        let commands = read(&mut reader);
        self.variables = reader.variables;
        commands
    }
}

/// Returns the program that the only command of a substitution searches for: `$(which git)`.
fn searched(inner: &[super::Command]) -> Option<&str> {
    let [only] = inner else {
        return None;
    };
    let mut operands = only
        .arguments()
        .iter()
        .filter(|word| !word.starts_with('-'));
    let searches = matches!(only.program(), "which" | "command" | "type");
    operands.next().map(String::as_str).filter(|_| searches)
}

/// Returns true if this is the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
