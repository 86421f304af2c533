//! Doubles: scripted models that do a task as its author wrote it down, to try out the checker.
//!
//! A session's instructions carry the steps to the scripted model. So they need no file, and survive a restart.

use serde_json::json;

use crate::EvalTask;

/// A model that plays the steps of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Double {
    /// Does the task, so that every checker must pass it.
    Oracle,
    /// Claims to have done it, so that every checker must fail it.
    Fool,
}

impl Double {
    pub const ALL: [Self; 2] = [Self::Oracle, Self::Fool];

    /// Returns the key in the suite.
    pub fn key(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Fool => "fool",
        }
    }

    /// Returns the name of its model.
    pub fn model(self) -> &'static str {
        match self {
            Self::Oracle => "scripted/oracle",
            Self::Fool => "scripted/fool",
        }
    }

    /// Returns the double behind the name of a model.
    pub fn of_model(model: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|double| double.model() == model)
    }

    /// Returns the instructions by which the scripted model plays a task, if the task has steps for it.
    pub fn instructions(self, task: &EvalTask) -> Option<String> {
        let steps = task.steps(self)?;
        let scenario = json!({"chunk_delay_ms": 0, "steps": steps});
        Some(format!("```scenario\n{scenario:#}\n```"))
    }
}
