//! A suite: tasks with their set-up, their checker and their limits.

mod file;
mod read;

use std::collections::BTreeMap;

use deskhand_core::{browser::WebUrl, computer::ComputerKind, file::FilePath};
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Location;

use crate::Double;

/// The longest suite. It has to fit into the body of a request, as a text in JSON.
pub const LARGEST_SUITE_BYTES: usize = 512 * 1024;

/// A suite that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    pub name: String,
    pub description: String,
    /// At least one, each with a name of its own.
    pub tasks: Vec<EvalTask>,
}

/// A task, with everything that decides whether it was done.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalTask {
    pub name: String,
    pub tags: Vec<String>,
    /// The prompt.
    pub prompt: String,
    /// Instructions for the agent besides those for every agent. Empty if there are none.
    pub instructions: String,
    pub computer: ComputerKind,
    pub network: SuiteNetwork,
    /// Text files to write before the prompt.
    pub files: Vec<(FilePath, String)>,
    /// Pages by name, which a server in the sandbox shows.
    pub pages: BTreeMap<String, String>,
    /// The page that the browser opens before the agent reads the prompt.
    pub open: Option<WebUrl>,
    /// A shell script that runs before the prompt.
    pub setup: Option<String>,
    /// A shell script that runs after the turn. The task was done if it exits with 0.
    pub check: String,
    pub limits: TaskLimits,
    /// The steps of a scenario that does the task.
    oracle: Option<Value>,
    /// The steps of a scenario that does not.
    fool: Option<Value>,
}

/// The hosts that programs of a task may contact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteNetwork {
    /// None, so that a result depends on nothing outside.
    #[default]
    Closed,
    /// Those that the server's settings allow in new sessions.
    Usual,
}

/// The limits of a task. A turn that reaches one ends, and the task was not done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskLimits {
    /// The answers of the model.
    pub steps: u32,
    /// The time from the prompt to the end of the turn.
    pub seconds: u32,
    /// US dollars.
    pub usd: f64,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            steps: 50,
            seconds: 600,
            usd: 1.0,
        }
    }
}

/// A mistake in a suite, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ReadSuiteError {
    pub line: u64,
    pub column: u64,
    pub problem: String,
}

impl ReadSuiteError {
    fn at(location: Location, problem: impl Into<String>) -> Self {
        Self {
            line: location.line().max(1),
            column: location.column().max(1),
            problem: problem.into(),
        }
    }
}

impl Suite {
    /// Reads a suite and checks it.
    pub fn read(yaml: &str) -> Result<Self, ReadSuiteError> {
        read::suite(yaml)
    }

    pub fn task(&self, name: &str) -> Option<&EvalTask> {
        self.tasks.iter().find(|task| task.name == name)
    }
}

impl EvalTask {
    /// Returns the steps of a double, if the task has them.
    pub fn steps(&self, double: Double) -> Option<&Value> {
        match double {
            Double::Oracle => self.oracle.as_ref(),
            Double::Fool => self.fool.as_ref(),
        }
    }
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
