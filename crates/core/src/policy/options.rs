//! Arguments of commands, as far as rules look at them.

/// The arguments of a command, read with the options that have a value.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    /// Options in their order, each with its value. Short ones that were written together stand apart.
    pub(super) options: Vec<(String, Option<&'a str>)>,
    pub(super) operands: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// Reads arguments. `with_value` has the options whose value is a word of its own.
    pub(super) fn read(arguments: &'a [String], with_value: &[&str]) -> Self {
        Self::read_until(arguments, with_value, usize::MAX)
    }

    /// Reads arguments up to the first operand. What follows is for another program.
    pub(super) fn leading(arguments: &'a [String], with_value: &[&str]) -> Self {
        Self::read_until(arguments, with_value, 1)
    }

    fn read_until(arguments: &'a [String], with_value: &[&str], most_operands: usize) -> Self {
        let mut read = Self::default();
        let mut words = arguments.iter().map(String::as_str);
        while read.operands.len() < most_operands
            && let Some(word) = words.next()
        {
            if word == "--" {
                read.operands.extend(words.by_ref());
            } else if word.starts_with("--") {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (word, None),
                };
                let is_apart = value.is_none() && with_value.contains(&name);
                let value = if is_apart { words.next() } else { value };
                read.options.push((name.to_owned(), value));
            } else if word.len() > 1 && word.starts_with('-') {
                for (at, letter) in word.char_indices().skip(1) {
                    let name = format!("-{letter}");
                    if !with_value.contains(&&*name) {
                        read.options.push((name, None));
                        continue;
                    }
                    let rest = &word[at + letter.len_utf8()..];
                    let value = if rest.is_empty() {
                        words.next()
                    } else {
                        Some(rest)
                    };
                    read.options.push((name, value));
                    break;
                }
            } else {
                read.operands.push(word);
            }
        }
        read
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&&**name))
    }

    /// Returns the values of all of these options.
    pub(super) fn values(&self, names: &[&str]) -> Vec<&'a str> {
        let all = self.options.iter();
        let named = all.filter(|(name, _)| names.contains(&&**name));
        named.filter_map(|(_, value)| *value).collect()
    }

    /// Returns the value of the last of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&'a str> {
        let mut all = self.options.iter().rev();
        all.find(|(name, _)| names.contains(&&**name))
            .and_then(|(_, value)| *value)
    }
}
