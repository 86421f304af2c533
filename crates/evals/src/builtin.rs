//! The suites that come with the program.

use crate::{ReadSuiteError, Suite};

/// A suite that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    pub name: &'static str,
    pub yaml: &'static str,
}

/// All built-in suites.
pub const BUILT_IN: &[BuiltIn] = &[BuiltIn {
    name: "desktop",
    yaml: include_str!("builtin/desktop.yaml"),
}];

impl BuiltIn {
    /// Finds a suite by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|suite| suite.name == name)
    }

    pub fn suite(&self) -> Result<Suite, ReadSuiteError> {
        Suite::read(self.yaml)
    }
}

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
