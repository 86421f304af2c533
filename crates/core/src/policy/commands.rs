//! Splits a shell text into its simple commands, as far as needed to see which programs it runs.
//!
//! It does not expand anything. It may take the content of quotes or of a here-document for a command. In that case a
//! person is asked once too often rather than once too rarely.

/// Words in front of a command that are not the program itself.
const WRAPPERS: [&str; 12] = [
    "env", "nohup", "time", "command", "exec", "nice", "xargs", "then", "do", "else", "if", "!",
];

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The command as it is written, without surrounding whitespace.
    pub(super) text: String,
    /// The words of the command without quotes.
    all_words: Vec<String>,
}

impl Command {
    /// Returns the program and its arguments, without the assignments and wrappers in front.
    pub(super) fn words(&self) -> &[String] {
        let is_before = |word: &&String| {
            WRAPPERS.contains(&word.as_str())
                || word.split_once('=').is_some_and(|(name, _)| {
                    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                })
        };
        let n_before = self.all_words.iter().take_while(is_before).count();
        &self.all_words[n_before..]
    }

    /// Returns the program's name without its directory.
    pub(super) fn program(&self) -> &str {
        let program = self.words().first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    pub(super) fn arguments(&self) -> &[String] {
        self.words().get(1..).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Returns the simple commands of a shell text in their order, including those in substitutions.
pub(super) fn split(text: &str) -> Vec<Command> {
    let mut splitter = Splitter::default();
    let mut quotes = vec![Quote::None];
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let quote = quotes.last().copied().unwrap_or(Quote::None);
        let next = chars.peek().copied();
        match (quote, c) {
            // Quotes end and begin.
            (Quote::Single, '\'') | (Quote::Double, '"') => {
                quotes.pop();
                splitter.quote(c);
            }
            (Quote::None, '\'') => {
                quotes.push(Quote::Single);
                splitter.quote(c);
            }
            (Quote::None, '"') => {
                quotes.push(Quote::Double);
                splitter.quote(c);
            }
            // A backslash escapes the next character.
            (Quote::None | Quote::Double, '\\') => {
                splitter.quote(c);
                if let Some(escaped) = chars.next() {
                    splitter.letter(escaped);
                }
            }
            // A substitution is a command of its own, even inside double quotes.
            (Quote::None | Quote::Double, '$') if next == Some('(') => {
                chars.next();
                quotes.push(Quote::None);
                splitter.end();
            }
            (Quote::None | Quote::Double, '`') => splitter.end(),
            (Quote::None, ')') => {
                // The bottom stays, even if a text closes more than it opens.
                if quotes.len() > 1 {
                    quotes.pop();
                }
                splitter.end();
            }
            (Quote::None, '(') => {
                quotes.push(Quote::None);
                splitter.end();
            }
            // `2>&1` and `&>file` redirect.
            (Quote::None, '&') if matches!(before, '>' | '<') || next == Some('>') => {
                splitter.letter(c);
            }
            (Quote::None, ';' | '&' | '|' | '\n' | '{' | '}') => splitter.end(),
            (Quote::None, c) if c.is_whitespace() => splitter.space(c),
            (Quote::None | Quote::Single | Quote::Double, c) => splitter.letter(c),
        }
        before = c;
    }
    splitter.end();
    splitter.commands
}

/// Builds commands letter by letter.
#[derive(Default)]
struct Splitter {
    commands: Vec<Command>,
    text: String,
    words: Vec<String>,
    word: Option<String>,
}

impl Splitter {
    fn letter(&mut self, letter: char) {
        self.text.push(letter);
        self.word.get_or_insert_default().push(letter);
    }

    /// Starts a word, which may stay empty. The quote is not part of the word.
    fn quote(&mut self, quote: char) {
        self.text.push(quote);
        self.word.get_or_insert_default();
    }

    fn space(&mut self, space: char) {
        self.text.push(space);
        self.words.extend(self.word.take());
    }

    fn end(&mut self) {
        self.words.extend(self.word.take());
        let text = std::mem::take(&mut self.text).trim().to_owned();
        let all_words = std::mem::take(&mut self.words);
        if !text.is_empty() {
            self.commands.push(Command { text, all_words });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text)
            .into_iter()
            .map(|command| command.text)
            .collect()
    }

    #[test]
    fn commands_are_told_apart() {
        assert_eq!(texts("ls"), ["ls"]);
        assert_eq!(texts("a && b; c | d &\ne"), ["a", "b", "c", "d", "e"]);
        assert_eq!(texts("echo 'a; b' \"c | d\""), ["echo 'a; b' \"c | d\""]);
        assert_eq!(texts("make 2>&1 &>log"), ["make 2>&1 &>log"]);
        assert_eq!(texts("(cd a; b)"), ["cd a", "b"]);
        assert_eq!(
            texts("echo \"$(rm x) `y`\""),
            ["echo \"", "rm x", "y", "\""]
        );
        assert_eq!(texts("a\\;b )) c"), ["a\\;b", "c"]);
        assert_eq!(texts(" \n "), [""; 0]);
    }

    #[test]
    fn the_program_stands_behind_what_wraps_it() {
        for (text, program) in [
            ("rm x", "rm"),
            ("/bin/rm x", "rm"),
            ("A=1 B_2=x env nohup rm x", "rm"),
            ("'r'm x", "rm"),
            ("then rm x", "rm"),
            ("A=1", ""),
        ] {
            assert_eq!(split(text)[0].program(), program, "{text}");
        }
    }
}
