//! Reads typed values from the layers and records mistakes in them.

use std::{
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::{Path, PathBuf, absolute},
};

use deskhand_core::secret::Secret;
use tracing_subscriber::filter::Targets;

use super::{Environment, Layers, Mistake, Source};

/// Reads settings one by one.
///
/// For a wrong value it records a mistake and returns a placeholder, so that reading continues and one run finds
/// all mistakes.
pub(super) struct Reader<'a> {
    layers: Layers,
    environment: &'a Environment,
}

impl<'a> Reader<'a> {
    pub(super) fn new(layers: Layers, environment: &'a Environment) -> Self {
        Self {
            layers,
            environment,
        }
    }

    /// Returns the layers, with the values in effect, and all mistakes.
    pub(super) fn finish(mut self) -> (Layers, Vec<Mistake>) {
        let mistakes = self.layers.take_mistakes();
        (self.layers, mistakes)
    }

    /// Records a mistake in the value of `key`.
    pub(super) fn mistake(&mut self, key: &str, problem: &str) {
        let source = self
            .layers
            .get(key)
            .map_or(Source::Default, |it| it.source.clone());
        self.layers
            .note(key.to_owned(), &source, problem.to_owned());
    }

    /// Returns the numbers whose keys a file chose, without their common beginning.
    pub(super) fn open_numbers(&self) -> Vec<(String, f64)> {
        self.layers.open_numbers()
    }

    /// Takes the table of MCP servers as the file has it.
    pub(super) fn take_servers(&mut self) -> Option<(toml::Value, Source)> {
        self.layers.take_servers()
    }

    /// Records a mistake in a value that is not one of the listed settings.
    pub(super) fn mistake_in(&mut self, source: &Source, key: String, problem: String) {
        self.layers.note(key, source, problem);
    }

    /// Returns true if the value does not come from the defaults.
    pub(super) fn is_chosen(&self, key: &str) -> bool {
        self.layers
            .get(key)
            .is_some_and(|it| it.source != Source::Default)
    }

    /// Reads an integer within bounds.
    pub(super) fn integer<N>(&mut self, key: &str, bounds: RangeInclusive<N>) -> N
    where
        N: TryFrom<i64> + PartialOrd + Copy + std::fmt::Display,
    {
        let whole = self.layers.get(key).and_then(|it| it.value.as_integer());
        let number = whole.and_then(|whole| N::try_from(whole).ok());
        if let Some(number) = number.filter(|number| bounds.contains(number)) {
            return number;
        }
        let (least, most) = (*bounds.start(), *bounds.end());
        let given = whole.map_or_else(|| "nothing".to_owned(), |whole| whole.to_string());
        self.mistake(key, &format!("must be from {least} to {most}, not {given}"));
        least
    }

    /// Reads a boolean.
    pub(super) fn yes_or_no(&self, key: &str) -> bool {
        let given = self.layers.get(key).and_then(|it| it.value.as_bool());
        given.unwrap_or_default()
    }

    /// Reads a number within bounds.
    pub(super) fn number(&mut self, key: &str, bounds: RangeInclusive<f64>) -> f64 {
        let given = self
            .layers
            .get(key)
            .and_then(|it| it.value.as_float())
            .unwrap_or(f64::NAN);
        if bounds.contains(&given) {
            return given;
        }
        let (least, most) = (bounds.start(), bounds.end());
        self.mistake(key, &format!("must be from {least} to {most}, not {given}"));
        *bounds.start()
    }

    /// Reads one of a few words.
    pub(super) fn one_of<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> T {
        let given = self.text(key);
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == given) {
            return *meaning;
        }
        let listed: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        self.mistake(
            key,
            &format!("must be {}, not {given:?}", listed.join(" or ")),
        );
        words[0].1
    }

    /// Reads an address and a port. The name `localhost` is accepted as an address.
    pub(super) fn address(&mut self, key: &str) -> SocketAddr {
        let given = self.text(key);
        let spelled_out = match given.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => given.clone(),
        };
        spelled_out.parse().unwrap_or_else(|_| {
            // The parser's error has no details worth showing.
            let example = "an address and a port such as 127.0.0.1:7878";
            self.mistake(key, &format!("must be {example}, not {given:?}"));
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
        })
    }

    /// Reads an HTTP or HTTPS address. Returns `None` if it is empty.
    pub(super) fn url(&mut self, key: &str) -> Option<String> {
        let given = self.text(key);
        if given.is_empty() {
            return None;
        }
        let host = given
            .strip_prefix("http://")
            .or_else(|| given.strip_prefix("https://"));
        if host.is_none_or(|host| host.trim_matches('/').is_empty()) {
            self.mistake(
                key,
                &format!("must begin with http:// or https://, not {given:?}"),
            );
        }
        Some(given.trim_end_matches('/').to_owned())
    }

    /// Reads the address of a database. Returns `None` if it is empty.
    ///
    /// Only the returned secret keeps the password; the layers show the address without it.
    pub(super) fn database(&mut self, key: &str) -> Option<Secret> {
        let given = self.text(key);
        if given.is_empty() {
            return None;
        }
        let shown = deskhand_store::shown_address(&given);
        if !["sqlite:///", "postgres://", "postgresql://"]
            .iter()
            .any(|scheme| given.starts_with(scheme))
        {
            let wanted = "sqlite:///PATH or postgres://USER:PASSWORD@HOST/NAME";
            self.mistake(key, &format!("must be {wanted}, not {shown:?}"));
        }
        self.layers.work_out(key, &shown);
        Some(Secret::new(given))
    }

    /// Reads a secret and hides it in the layers. Returns `None` if it is empty.
    pub(super) fn secret(&mut self, key: &str) -> Option<Secret> {
        let given = self.text_or_nothing(key)?;
        self.layers.work_out(key, "(hidden)");
        Some(Secret::new(given))
    }

    /// Reads a text. Returns `None` if it is empty.
    pub(super) fn text_or_nothing(&self, key: &str) -> Option<String> {
        Some(self.text(key)).filter(|text| !text.is_empty())
    }

    pub(super) fn environment(&self) -> &'a Environment {
        self.environment
    }

    /// Reads a filter for log lines.
    pub(super) fn log_level(&mut self, key: &str) -> String {
        let given = self.text(key);
        if given.parse::<Targets>().is_err() {
            let mistake = format!(
                "must be off, error, warn, info, debug or trace, or a filter such as info,deskhand_app=debug, not \
                 {given:?}"
            );
            self.mistake(key, &mistake);
        }
        given
    }

    /// Reads the data folder. If it is empty, returns the one that the XDG conventions name.
    pub(super) fn data_dir(&mut self, key: &str) -> PathBuf {
        let usual = match (
            self.environment.get("XDG_DATA_HOME"),
            self.environment.get("HOME"),
        ) {
            (Some(data), _) => PathBuf::from(data).join("deskhand"),
            (None, Some(home)) => PathBuf::from(home).join(".local/share/deskhand"),
            (None, None) => {
                if self.text(key).is_empty() {
                    let way_out = "set a folder, since HOME is not set";
                    self.mistake(key, way_out);
                }
                PathBuf::new()
            }
        };
        self.path(key, &usual)
    }

    /// Reads the path of a file and makes it absolute. Returns `None` if it is empty.
    pub(super) fn file(&mut self, key: &str) -> Option<PathBuf> {
        self.text_or_nothing(key)?;
        Some(self.path(key, Path::new("")))
    }

    /// Reads the path of a file or folder and makes it absolute. An empty one stands for `usual`.
    pub(super) fn path(&mut self, key: &str, usual: &Path) -> PathBuf {
        let given = self.text(key);
        let path = match (
            given.as_str(),
            given.strip_prefix("~/"),
            self.environment.get("HOME"),
        ) {
            ("", _, _) => usual.to_owned(),
            (_, Some(rest), Some(home)) => Path::new(home).join(rest),
            (_, _, _) => PathBuf::from(&given),
        };
        // This fails only for an empty path or a deleted working directory. The first use of the path
        // reports it.
        let path = absolute(&path).unwrap_or(path);
        self.layers.work_out(key, &path.to_string_lossy());
        path
    }

    pub(super) fn text(&self, key: &str) -> String {
        let text = self.layers.get(key).and_then(|it| it.value.as_str());
        text.unwrap_or_default().to_owned()
    }
}
