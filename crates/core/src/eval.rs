//! The states of an eval, and of each trial of a task in it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The state of an eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvalState {
    /// Trials run or wait.
    Running,
    /// Every trial has a result.
    Done,
    /// A person ended it early.
    Stopped,
}

/// The state of one trial: one task, given to one model once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialState {
    Waiting,
    Running,
    /// The checker found the task done.
    Passed,
    /// The checker found the task not done, or the model gave up, asked a person or reached a limit of the task.
    Failed,
    /// The trial says nothing about the model: its computer, the set-up or the model's vendor failed.
    Error,
    /// It did not run: the budget of the eval was used up, or it was stopped.
    Skipped,
}

impl EvalState {
    pub const ALL: [Self; 3] = [Self::Running, Self::Done, Self::Stopped];

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Stopped => "stopped",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl TrialState {
    pub const ALL: [Self; 6] = [
        Self::Waiting,
        Self::Running,
        Self::Passed,
        Self::Failed,
        Self::Error,
        Self::Skipped,
    ];

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns true if the trial has a result.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    /// Returns true if the result counts for or against the model.
    pub fn counts(self) -> bool {
        matches!(self, Self::Passed | Self::Failed)
    }
}
