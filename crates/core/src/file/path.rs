//! Paths in a sandbox.

use serde::{Deserialize, Serialize};

/// The longest path. It is below the kernel's limit, to leave room for a temporary name.
const LONGEST_PATH_BYTES: usize = 3800;
const LONGEST_NAME_BYTES: usize = 255;

/// A path in a sandbox: absolute, or in the home folder if its first part is `~`.
///
/// No part of it is empty, `.` or `..`, so it is unambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

/// The error for a text that is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a path of a file: use /tmp/a.txt, or ~/a.txt for the home folder, without the parts . and .."
)]
pub struct BadFilePath(String);

impl FilePath {
    /// Returns the home folder.
    pub fn home() -> Self {
        Self("~".to_owned())
    }

    /// Returns the path as it was given: `~/a.txt` or `/tmp/a.txt`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part, or nothing for `/` and `~`.
    pub fn name(&self) -> Option<&str> {
        let (_, name) = self.0.rsplit_once('/')?;
        Some(name).filter(|name| !name.is_empty())
    }

    /// Returns the folder that the path is in, or nothing for `/` and `~`.
    pub fn parent(&self) -> Option<Self> {
        self.name()?;
        let (parent, _) = self.0.rsplit_once('/')?;
        Some(Self(
            if parent.is_empty() { "/" } else { parent }.to_owned(),
        ))
    }

    /// Returns true if any part begins with a dot. Programs keep credentials in such files.
    pub fn is_hidden(&self) -> bool {
        is_hidden(&self.0)
    }

    /// Returns the absolute path in a sandbox with this home folder.
    pub fn absolute(&self, home: &str) -> String {
        match self.0.strip_prefix('~') {
            Some(rest) => format!("{home}{rest}"),
            None => self.0.clone(),
        }
    }
}

/// Returns true if any part of a path begins with a dot.
pub fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

impl std::str::FromStr for FilePath {
    type Err = BadFilePath;

    /// Reads `/tmp/a.txt`, `~/a.txt` or `~`. One slash at the end is ignored.
    fn from_str(text: &str) -> Result<Self, BadFilePath> {
        let bad = || BadFilePath(text.chars().take(200).collect());
        if text == "/" {
            return Ok(Self(text.to_owned()));
        }
        let trimmed = text.strip_suffix('/').unwrap_or(text);
        let rest = match trimmed.strip_prefix('~') {
            Some("") => return Ok(Self::home()),
            Some(rest) => rest,
            None => trimmed,
        };
        let parts = rest.strip_prefix('/').ok_or_else(bad)?;
        let is_good = |part: &str| {
            !matches!(part, "" | "." | "..")
                && part.len() <= LONGEST_NAME_BYTES
                && !part.contains('\0')
        };
        if trimmed.len() > LONGEST_PATH_BYTES || !parts.split('/').all(is_good) {
            return Err(bad());
        }
        Ok(Self(trimmed.to_owned()))
    }
}

impl TryFrom<String> for FilePath {
    type Error = BadFilePath;

    fn try_from(text: String) -> Result<Self, BadFilePath> {
        text.parse()
    }
}

impl From<FilePath> for String {
    fn from(path: FilePath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_absolute_or_in_the_home_folder() {
        for (text, absolute) in [
            ("/", "/"),
            ("~", "/home/agent"),
            ("~/", "/home/agent"),
            ("~/a b/ü", "/home/agent/a b/ü"),
            ("/tmp/x/", "/tmp/x"),
            ("/tmp/...", "/tmp/..."),
        ] {
            let path: FilePath = text.parse().unwrap();
            assert_eq!(path.absolute("/home/agent"), absolute);
        }
        let long = format!("/{}", "x".repeat(256));
        for text in [
            "", "a", "./a", "~a", "//", "/a//b", "/a/../b", "/..", "~/.", "/a\0", "/a//", &long,
        ] {
            assert!(text.parse::<FilePath>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_path_knows_its_folder() {
        let path: FilePath = "~/a/b".parse().unwrap();
        assert_eq!(path.name(), Some("b"));
        let folder = path.parent().unwrap();
        assert_eq!(folder.as_str(), "~/a");
        assert_eq!(folder.parent().unwrap(), FilePath::home());
        assert_eq!(FilePath::home().parent(), None);
        let path: FilePath = "/a".parse().unwrap();
        assert_eq!(path.parent().unwrap().as_str(), "/");
        assert_eq!(path.parent().unwrap().parent(), None);
    }
}
