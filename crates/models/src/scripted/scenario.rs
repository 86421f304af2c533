//! The file format of a scenario.

use std::collections::BTreeMap;

use deskhand_core::{
    decision::DecisionKind,
    model::{Check, Price, PriceSource, Usage},
};
use serde::Deserialize;
use serde_saphyr::{DefaultMessageFormatter, Location, MessageFormatter, Spanned};

use super::{
    CheckCall, call::ScriptedCall, check, one_or_more::OneOrMore, picture::Colour, role::Role,
    trouble::Trouble,
};

/// The delay between two chunks if the scenario gives none.
const DEFAULT_CHUNK_DELAY_MS: u64 = 15;

/// A model's answers, turn by turn.
///
/// Invariant, kept by [`Scenario::read`]: there is at least one turn, every turn has a step, a turn's last step ends
/// the turn and no other does, and every placeholder has a value when its step is played.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) chunk_delay_ms: u64,
    /// The model to play, if it is not a model of its own.
    pub(super) role: Option<Role>,
    /// The price, if it costs anything.
    pub(super) price: Option<Price>,
    turns: Vec<Vec<Step>>,
}

/// An error in a scenario, with its position.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub(super) struct ReadScenarioError {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) problem: String,
}

impl ReadScenarioError {
    pub(super) fn at(location: Location, problem: impl Into<String>) -> Self {
        Self {
            line: location.line().max(1),
            column: location.column().max(1),
            problem: problem.into(),
        }
    }
}

impl Scenario {
    pub(super) fn read(
        yaml: &str,
        check_call: Option<&CheckCall>,
    ) -> Result<Self, ReadScenarioError> {
        let file: ScenarioFile = serde_saphyr::from_str(yaml).map_err(|error| {
            let location = error.location().unwrap_or(Location::UNKNOWN);
            ReadScenarioError::at(location, problem(&error))
        })?;
        let chunk_delay_ms = file.chunk_delay_ms.unwrap_or(DEFAULT_CHUNK_DELAY_MS);
        let role = file.plays.as_ref().map(role).transpose()?;
        let price = file.price.map(PriceFile::read).transpose()?;
        Ok(Self {
            chunk_delay_ms,
            role,
            price: price.or(role.and_then(|role| role.price)),
            turns: check::turns(file, check_call)?,
        })
    }

    /// Returns the steps for the prompt with this number, counted from 1. The last turn repeats.
    pub(super) fn steps(&self, n_prompts: usize) -> &[Step] {
        let index = n_prompts.max(1).min(self.turns.len()) - 1;
        self.turns.get(index).map_or(&[], Vec::as_slice)
    }
}

fn role(plays: &Spanned<String>) -> Result<Role, ReadScenarioError> {
    Role::named(&plays.value).map_err(|problem| ReadScenarioError::at(plays.referenced, problem))
}

/// Describes an error without its position, which [`ReadScenarioError`] formats itself.
fn problem(error: &serde_saphyr::Error) -> String {
    let text = DefaultMessageFormatter.format_message(error.without_snippet());
    // YAML's own messages may quote the file, and a message stays on one line.
    text.lines().next().unwrap_or_default().to_owned()
}

/// The whole file: either `turns`, or `steps` for a single turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    plays: Option<Spanned<String>>,
    chunk_delay_ms: Option<u64>,
    price: Option<PriceFile>,
    pub(super) turns: Option<Vec<TurnFile>>,
    pub(super) steps: Option<Vec<Spanned<Step>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnFile {
    pub(super) steps: Vec<Spanned<Step>>,
}

/// The price of a million tokens, in US dollars. Omitted prices equal the price of input.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    input: f64,
    cache_write: Option<f64>,
    cache_read: Option<f64>,
    output: Option<f64>,
}

impl PriceFile {
    fn read(self) -> Result<Price, ReadScenarioError> {
        let price = Price {
            input: self.input,
            cache_write: self.cache_write.unwrap_or(self.input),
            cache_read: self.cache_read.unwrap_or(self.input),
            output: self.output.unwrap_or(self.input),
            long: None,
            source: PriceSource::Set,
        };
        let all = [
            price.input,
            price.cache_write,
            price.cache_read,
            price.output,
        ];
        if all.iter().all(|usd| (0.0..=1e6).contains(usd)) {
            return Ok(price);
        }
        let problem = "a price is 0 to 1000000 US dollars for a million tokens";
        Err(ReadScenarioError::at(Location::UNKNOWN, problem))
    }
}

/// The usage of an answer, in tokens.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsageFile {
    input: u64,
    cache_write: u64,
    cache_read: u64,
    output: u64,
}

impl UsageFile {
    pub(super) fn read(self) -> Usage {
        Usage {
            input: self.input,
            cache_write: self.cache_write,
            cache_read: self.cache_read,
            output: self.output,
            ..Usage::default()
        }
    }
}

/// An answer of the model. The fields are in the order in which they are played.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// The conditions on the results that the step was shown.
    #[serde(default)]
    pub(super) expect: Expect,
    /// The rule for looking at the screen again while it is not yet as expected.
    pub(super) retry: Option<Retry>,
    /// Parts of the texts that the step was shown, by the name of their placeholder.
    #[serde(default)]
    pub(super) capture: BTreeMap<String, Capture>,
    /// The delay before the first chunk.
    #[serde(default)]
    pub(super) delay_ms: u64,
    /// The delay before every chunk, instead of the scenario's.
    pub(super) chunk_delay_ms: Option<u64>,
    #[serde(default)]
    pub(super) thinking: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) calls: Vec<ScriptedCall>,
    /// The check that a person must agree to before the calls, as a vendor's model would request it.
    pub(super) safety_check: Option<String>,
    /// The check that a person must agree to because the budget is spent.
    pub(super) budget: Option<String>,
    /// The usage of the answer.
    pub(super) usage: Option<UsageFile>,
    /// The answer became too long, and the model continues with the next step.
    #[serde(default)]
    pub(super) unfinished: bool,
    /// The errors that come before the step succeeds, one after the other.
    #[serde(default)]
    pub(super) error: OneOrMore<Trouble>,
}

impl Step {
    /// Returns the checks that a person must agree to before the calls.
    pub(super) fn checks(&self) -> Vec<Check> {
        let check =
            |kind, prompt: &Option<String>| prompt.clone().map(|prompt| Check { kind, prompt });
        let budget = check(DecisionKind::Budget, &self.budget);
        let safety = check(DecisionKind::SafetyCheck, &self.safety_check);
        budget.into_iter().chain(safety).collect()
    }

    /// Returns true if no step can follow in the turn.
    pub(super) fn ends_turn(&self) -> bool {
        self.always_fails() || (self.calls.is_empty() && !self.unfinished)
    }

    /// Returns true if the step never succeeds.
    pub(super) fn always_fails(&self) -> bool {
        self.error.0.iter().any(|trouble| trouble.times.is_none())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// No result was an error.
    #[serde(default)]
    pub(super) no_errors: bool,
    /// The results contain all of these.
    #[serde(default)]
    pub(super) text_contains: OneOrMore<String>,
    /// The report of a hand-back contains all of these.
    #[serde(default)]
    pub(super) handed_back: OneOrMore<String>,
    /// The last results came with a picture.
    #[serde(default)]
    pub(super) picture: bool,
    /// The newest picture has all of these.
    #[serde(default)]
    pub(super) colour: OneOrMore<Colour>,
    /// The newest picture has at least one of these.
    #[serde(default)]
    pub(super) any_colour: OneOrMore<Colour>,
    /// The number of pixels that a colour needs to count.
    #[serde(default = "one")]
    pub(super) min_pixels: usize,
}

fn one() -> usize {
    1
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    pub(super) times: usize,
    pub(super) wait_ms: u64,
}

/// A part of a text: everything after the first `after`, up to the next `until`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Capture {
    pub(super) after: String,
    /// The end of the part. Without it, the part ends with the text.
    pub(super) until: Option<String>,
}
