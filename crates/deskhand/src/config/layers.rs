//! Merges values from the defaults, a file, the environment and flags, by key.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use toml::Value;

use super::Environment;

const DEFAULTS: &str = include_str!("../../config.default.toml");

/// The least similarity of two names, from 0 to 1, for one to be suggested instead of the other.
const ALIKE: f64 = 0.75;
/// The same for environment variables. It is stricter, because many names begin with ours by chance.
/// Kubernetes, for one, sets `DESKHAND_PORT` for a service of that name.
const ALIKE_VARIABLE: f64 = 0.9;

/// Variables that are read elsewhere and are not settings.
const OTHER_VARIABLES: [&str; 3] = ["DESKHAND_CONFIG", "DESKHAND_SERVER", "DESKHAND_TOKEN"];

/// The beginning of the keys that a file may choose. They have no variables, because names of models cannot be part of
/// one.
pub(super) const OPEN: &str = "models.prices.";
/// The table of MCP servers, whose names a file chooses. Their values may be secret, so they are not shown.
pub(super) const SERVERS: &str = "mcp_servers";

/// Every setting with its value after the layers merged so far.
#[derive(Debug)]
pub(crate) struct Layers {
    /// In the order of the defaults. Keys are dotted: `screen.width`.
    settings: Vec<Setting>,
    mistakes: Vec<Mistake>,
    /// The table of MCP servers as the file has it.
    servers: Option<(Value, Source)>,
}

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// Always of the type that the default has.
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => path.display().fmt(f),
            Self::Environment(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// One problem with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) key: String,
    pub(crate) source: Source,
    pub(crate) problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.key, self.source, self.problem)
    }
}

/// Formats all mistakes as one text.
pub(super) fn told_together(mistakes: &[Mistake]) -> String {
    let head = match mistakes.len() {
        1 => "there is a mistake in the settings".to_owned(),
        n => format!("there are {n} mistakes in the settings"),
    };
    mistakes
        .iter()
        .fold(head, |text, mistake| format!("{text}\n  {mistake}"))
}

impl Layers {
    /// Returns the built-in defaults.
    pub(super) fn defaults() -> Result<Self, toml::de::Error> {
        let mut settings = Vec::new();
        for (key, value) in leaves(toml::from_str(DEFAULTS)?) {
            settings.push(Setting {
                key,
                value,
                source: Source::Default,
            });
        }
        Ok(Self {
            settings,
            mistakes: Vec::new(),
            servers: None,
        })
    }

    /// Overrides the values so far with those of a file.
    pub(super) fn add_file(&mut self, path: &Path, mut table: toml::Table) {
        let source = Source::File(path.to_owned());
        let servers = table.remove(SERVERS);
        self.servers = servers.map(|servers| (servers, source.clone()));
        for (key, value) in leaves(table) {
            if key.starts_with(OPEN) {
                self.add_open(key, &value, &source);
                continue;
            }
            let Some(setting) = self.settings.iter_mut().find(|it| it.key == key) else {
                let problem = self.no_such_key(&key);
                self.note(key, &source, problem);
                continue;
            };
            match same_type(&setting.value, value) {
                Ok(value) => {
                    setting.value = value;
                    setting.source = source.clone();
                }
                Err(problem) => self.note(key, &source, problem),
            }
        }
    }

    /// Adds a number whose key the file chooses.
    fn add_open(&mut self, key: String, value: &Value, source: &Source) {
        let whole = value.as_integer();
        let whole = whole.and_then(|whole| whole.to_string().parse().ok());
        let number = value.as_float().or(whole);
        match number {
            Some(number) => self.settings.push(Setting {
                key,
                value: Value::Float(number),
                source: source.clone(),
            }),
            None => self.note(key, source, format!("must be a number, not {value}")),
        }
    }

    /// Returns the numbers whose keys a file chose, without their common beginning.
    pub(super) fn open_numbers(&self) -> Vec<(String, f64)> {
        let open = self.settings.iter().filter_map(|setting| {
            let rest = setting.key.strip_prefix(OPEN)?;
            Some((rest.to_owned(), setting.value.as_float()?))
        });
        open.collect()
    }

    /// Takes the table of MCP servers as the file has it.
    pub(super) fn take_servers(&mut self) -> Option<(Value, Source)> {
        self.servers.take()
    }

    /// Overrides the values so far with those of the environment.
    pub(super) fn add_environment(&mut self, environment: &Environment) {
        for at in 0..self.settings.len() {
            let name = variable(&self.settings[at].key);
            if let Some(text) = environment.get(&name) {
                self.set_text(at, text, Source::Environment(name));
            }
        }
        let known: Vec<String> = self.settings.iter().map(|it| variable(&it.key)).collect();
        let unknown = environment.0.iter().map(|(name, _)| name).filter(|name| {
            name.starts_with("DESKHAND_")
                && !known.contains(name)
                && !OTHER_VARIABLES.contains(&name.as_str())
        });
        for name in unknown {
            if let Some(meant) = closest(name, known.iter(), ALIKE_VARIABLE) {
                self.mistakes.push(Mistake {
                    key: name.clone(),
                    source: Source::Environment("environment".to_owned()),
                    problem: format!("there is no such setting; did you mean {meant}?"),
                });
            }
        }
    }

    /// Overrides one value with that of a flag.
    pub(super) fn add_flag(&mut self, key: &str, flag: &'static str, text: &str) {
        if let Some(at) = self.settings.iter().position(|it| it.key == key) {
            self.set_text(at, text, Source::Flag(flag));
        }
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().map(|setting| setting.key.as_str())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// Replaces the value by `text`: the one in effect, or a form of it that is safe to show.
    pub(super) fn work_out(&mut self, key: &str, text: &str) {
        if let Some(setting) = self.settings.iter_mut().find(|it| it.key == key) {
            setting.value = Value::String(text.to_owned());
        }
    }

    pub(super) fn note(&mut self, key: String, source: &Source, problem: String) {
        self.mistakes.push(Mistake {
            key,
            source: source.clone(),
            problem,
        });
    }

    /// Takes all mistakes, in the order of the settings. Unknown keys come last.
    pub(super) fn take_mistakes(&mut self) -> Vec<Mistake> {
        let mut mistakes = std::mem::take(&mut self.mistakes);
        let place = |mistake: &Mistake| {
            let same = |setting: &Setting| setting.key == mistake.key;
            self.settings.iter().position(same).unwrap_or(usize::MAX)
        };
        mistakes.sort_by_key(place);
        mistakes
    }

    fn set_text(&mut self, at: usize, text: &str, source: Source) {
        let setting = &mut self.settings[at];
        match of_type(&setting.value, text) {
            Ok(value) => {
                setting.value = value;
                setting.source = source;
            }
            Err(problem) => {
                let key = setting.key.clone();
                self.note(key, &source, problem);
            }
        }
    }

    fn no_such_key(&self, key: &str) -> String {
        let keys = self.settings.iter().map(|setting| &setting.key);
        match closest(key, keys, ALIKE) {
            Some(meant) => format!("there is no such setting; did you mean {meant}?"),
            None => "there is no such setting; `deskhand config` lists all".to_owned(),
        }
    }
}

/// Writes the settings as a TOML file, with a comment that names the origin of each value.
impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut section = "";
        for setting in &self.settings {
            let (table, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
            if table != section {
                match table.strip_prefix(OPEN) {
                    Some(model) => writeln!(f, "\n[{OPEN}{model:?}]")?,
                    None => writeln!(f, "\n[{table}]")?,
                }
                section = table;
            }
            let line = format!("{name} = {}", setting.value);
            writeln!(f, "{line:<48} # {}", setting.source)?;
        }
        Ok(())
    }
}

/// Returns the name of the environment variable of a setting.
pub(super) fn variable(key: &str) -> String {
    format!("DESKHAND_{}", key.replace('.', "_").to_uppercase())
}

/// Returns a table's values with their dotted keys, in order.
fn leaves(table: toml::Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => found.extend(
                leaves(inner)
                    .into_iter()
                    .map(|(rest, value)| (format!("{key}.{rest}"), value)),
            ),
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Array(_) => found.push((key, value)),
        }
    }
    found
}

/// Returns the known name that is most similar to `name`, if one is similar enough.
fn closest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a String>,
    at_least: f64,
) -> Option<&'a String> {
    known
        .map(|candidate| {
            (
                strsim::normalized_damerau_levenshtein(name, candidate),
                candidate,
            )
        })
        .filter(|(alike, _)| *alike >= at_least)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

/// Returns `value` if it has the type of `default`. An integer is accepted for a float.
fn same_type(default: &Value, value: Value) -> Result<Value, String> {
    if let (Value::Float(_), Value::Integer(whole)) = (default, &value) {
        return of_type(default, &whole.to_string());
    }
    if default.same_type(&value) {
        return Ok(value);
    }
    Err(format!("must be {}, not {value}", kind(default)))
}

/// Parses `text` as a value of the type of `default`.
fn of_type(default: &Value, text: &str) -> Result<Value, String> {
    let value = match default {
        Value::Integer(_) => text.parse().ok().map(Value::Integer),
        Value::Float(_) => text.parse().ok().map(Value::Float),
        Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
        Value::String(_) => Some(Value::String(text.to_owned())),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    };
    value.ok_or_else(|| format!("must be {}, not {text:?}", kind(default)))
}

/// Returns the type of a value in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text in quotes",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a time",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}
