//! Models that play the scenario in the instructions of their session, as evals give them the steps of a task.

use std::sync::Arc;

use deskhand_core::model::{Chunk, Model, ModelError, ModelRequest, Pictures};
use futures::stream::BoxStream;

use super::{
    CheckCall, playing,
    scenario::{ReadScenarioError, Scenario},
    trouble::Failures,
};

/// The names of these models. They differ only for people.
pub(super) const NAMES: [&str; 2] = ["oracle", "fool"];

/// The lines around the scenario.
const BEGIN: &str = "```scenario\n";
const END: &str = "\n```";

/// Plays whatever scenario its instructions contain.
pub(super) struct GivenModel {
    pub(super) check_call: Option<CheckCall>,
    pub(super) failures: Arc<Failures>,
}

impl std::fmt::Debug for GivenModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GivenModel").finish_non_exhaustive()
    }
}

impl Model for GivenModel {
    fn pictures(&self) -> Pictures {
        Pictures::Newest
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let check_call = self.check_call.clone();
        let source = "the scenario in the instructions".to_owned();
        let failures = Arc::clone(&self.failures);
        let read = move |request: &ModelRequest| {
            let yaml = scenario(&request.system)?;
            let scenario = Scenario::read(yaml, check_call.as_ref());
            let scenario = scenario.map_err(|error: ReadScenarioError| {
                format!("the scenario in the instructions has an error: {error}")
            });
            scenario.map(Arc::new)
        };
        playing(read, source, failures, request)
    }
}

/// Finds the scenario in a system prompt.
fn scenario(system: &str) -> Result<&str, String> {
    let begun = system.rsplit_once(BEGIN).map(|(_, rest)| rest);
    let whole = begun.and_then(|rest| rest.split_once(END));
    whole.map(|(yaml, _)| yaml).ok_or_else(|| {
        "this model plays the scenario in the instructions of its session, between the lines ```scenario and ```, and \
         there is none; `deskhand eval` gives it one"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_is_the_last_block_of_the_instructions() {
        let system = "Be good.\n\n```scenario\nold\n```\n\n```scenario\nsteps:\n  - text: a\n```\n";
        assert_eq!(scenario(system), Ok("steps:\n  - text: a"));
        for none in [
            "",
            "```scenario",
            "```scenario\nsteps: []",
            "``` scenario\na\n```",
        ] {
            assert!(
                scenario(none).unwrap_err().contains("there is none"),
                "{none}"
            );
        }
    }
}
