//! Detects an agent that repeats itself.
//!
//! A round is one answer's calls with their results. The agent repeats itself if its last rounds are like the ones before
//! them: one round again and again, or two or three in turn. Rounds are alike if the calls and their results are, and
//! the pictures afterwards show no difference but a caret or a clock. One failure after another counts too, whatever
//! failed. A round that only looks, or waits patiently for a command, is ignored while it shows the same. A change of the
//! plan is always ignored. Any other difference ends the repetition, and so does a message from a person or a change of
//! control.

use deskhand_core::{
    blob::BlobName, budget::Bound, event::EventBody, id::TurnId, policy::Risk, tool::NativeTool,
};
use serde_json::Value;

use crate::tools::ToolSet;

/// The tool that changes the plan.
const UPDATE_PLAN: &str = "update_plan";
/// The longest cycle that is detected, in rounds.
const LONGEST_CYCLE: usize = 3;
/// The number of consecutive failures that do not count as repetitions yet.
const N_FREE_FAILURES: u32 = 1;
/// The minimum duration of a command that counts as waiting.
const PATIENT_MS: u64 = 5_000;
/// The distance between two places that are meant to be the same, in pixels.
const SAME_PLACE: f64 = 4.0;

/// Returns true if two pictures of the log look the same.
pub(crate) type IsLike<'a> = &'a dyn Fn(&BlobName, &BlobName) -> bool;

/// The agent's current repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// The number of times the last rounds were done in a row.
    pub(crate) n_times: u32,
    /// True if the model was warned since the repetition began.
    pub(crate) is_warned: bool,
}

/// Counts how many times in a row the turn has repeated its last rounds.
pub(crate) fn repeats(
    log: &[EventBody],
    turn: TurnId,
    tools: &ToolSet,
    is_like: IsLike<'_>,
) -> Repeats {
    let mut reading = RoundReader::new(tools, is_like);
    for body in log {
        reading.add(body, turn);
    }
    reading.end_round();
    reading.repeats
}

/// One answer's calls with their results.
#[derive(Debug, Clone, Default)]
struct Round<'a> {
    calls: Vec<(&'a str, &'a Value)>,
    results: Vec<(&'a str, bool)>,
    /// True if a tool reported an error. A command that ends with an exit code is none.
    has_error: bool,
    duration_ms: u64,
    picture: Option<&'a BlobName>,
}

struct RoundReader<'a> {
    tools: &'a ToolSet,
    is_like: IsLike<'a>,
    round: Round<'a>,
    /// The rounds so far, without those that are ignored.
    rounds: Vec<Round<'a>>,
    /// The newest round of each look.
    looks: Vec<Round<'a>>,
    n_failures: u32,
    repeats: Repeats,
}

impl<'a> RoundReader<'a> {
    fn new(tools: &'a ToolSet, is_like: IsLike<'a>) -> Self {
        Self {
            tools,
            is_like,
            round: Round::default(),
            rounds: Vec::new(),
            looks: Vec::new(),
            n_failures: 0,
            repeats: Repeats::default(),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most kinds of event are not part of a round"
    )]
    fn add(&mut self, body: &'a EventBody, turn: TurnId) {
        match body {
            EventBody::ToolUse(tool_use) if tool_use.turn == Some(turn) => {
                if !self.round.results.is_empty() {
                    self.end_round();
                }
                self.round.calls.push((&tool_use.tool, &tool_use.input));
            }
            EventBody::ToolResult(result) if result.turn == Some(turn) && !result.partial => {
                let has_failed = result.is_error || has_exit_code(result.state.as_ref());
                self.round.results.push((&result.text, has_failed));
                self.round.has_error |= result.is_error;
                self.round.duration_ms += result.duration_ms;
            }
            EventBody::Screenshot(screenshot) if screenshot.turn == Some(turn) => {
                self.round.picture = Some(&screenshot.blob);
            }
            EventBody::Notice(notice) if notice.turn == turn && notice.bound == Bound::Repeats => {
                self.end_round();
                self.repeats.is_warned = true;
            }
            EventBody::Message(_) | EventBody::Lease(_) => {
                *self = Self::new(self.tools, self.is_like);
            }
            _ => {}
        }
    }

    fn end_round(&mut self) {
        let round = std::mem::take(&mut self.round);
        if round.calls.is_empty() || round.is_plan() {
            return;
        }
        // Looking again and again is waiting, not repeating.
        let is_look = round.is_look(self.tools);
        let is_patient = self.is_patient(&round);
        if is_look && !self.is_news(&round) {
            return;
        }
        let waits = is_look || is_patient;
        if waits
            && self
                .rounds
                .last()
                .is_some_and(|last| self.show_the_same(last, &round, is_patient))
        {
            return;
        }
        if waits {
            self.rounds.clear();
            self.n_failures = 0;
            self.repeats = Repeats::default();
            self.rounds.push(round);
            return;
        }
        self.n_failures = if round.has_failed() {
            self.n_failures + 1
        } else {
            0
        };
        self.rounds.push(round);
        let n_cycles = (1..=LONGEST_CYCLE).map(|length| self.n_cycles(length));
        let n_times = n_cycles.max().unwrap_or(0);
        let n_times = n_times.max(self.n_failures.saturating_sub(N_FREE_FAILURES));
        // A repetition that goes on has been warned about.
        let is_warned = self.repeats.is_warned && n_times >= self.repeats.n_times;
        self.repeats = Repeats { n_times, is_warned };
    }

    /// Returns how many times the last `length` rounds were done one after the other.
    fn n_cycles(&self, length: usize) -> u32 {
        let Some(first) = self.rounds.len().checked_sub(length) else {
            return 0;
        };
        let rounds = self.rounds.iter().enumerate().rev().skip(length);
        let alike =
            rounds.take_while(|(index, round)| self.are_alike(round, &self.rounds[index + length]));
        let n_alike = alike.count();
        // Only steps: a round that shows something new in the middle is not part of a cycle.
        let has_look = self.rounds[first..]
            .iter()
            .any(|round| round.is_look(self.tools));
        if has_look || (length > 1 && n_alike < length) {
            return 1;
        }
        u32::try_from(n_alike / length).unwrap_or(u32::MAX) + 1
    }

    fn are_alike(&self, one: &Round<'_>, other: &Round<'_>) -> bool {
        // Pictures last, because they take the longest.
        one.has_calls_of(other)
            && one.results == other.results
            && match (one.picture, other.picture) {
                (Some(one), Some(other)) => (self.is_like)(one, other),
                (one, other) => one == other,
            }
    }

    /// Returns true if a look shows something else than the same look before it, and remembers it.
    fn is_news(&mut self, look: &Round<'a>) -> bool {
        let mut looks = self.looks.iter();
        match looks.position(|before| before.has_calls_of(look)) {
            Some(index) if self.are_alike(&self.looks[index], look) => return false,
            Some(index) => self.looks[index] = look.clone(),
            None => self.looks.push(look.clone()),
        }
        true
    }

    /// Returns true if a round waited for a command that went well, or for the same command as the round before.
    fn is_patient(&self, round: &Round<'_>) -> bool {
        let mut tools = round.calls.iter().map(|(tool, _)| *tool);
        let is_again = || {
            let mut last = self.rounds.last().into_iter();
            !round.has_error && last.any(|last| last.has_calls_of(round))
        };
        round.duration_ms >= PATIENT_MS
            && tools.all(|tool| tool == NativeTool::Shell.name())
            && (!round.has_failed() || is_again())
    }

    fn show_the_same(&self, one: &Round<'_>, other: &Round<'_>, is_patient: bool) -> bool {
        match (one.picture, other.picture) {
            (Some(one), Some(other)) => (self.is_like)(one, other),
            (None, None) => is_patient,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl Round<'_> {
    /// Returns true if none of its calls changes anything.
    fn is_look(&self, tools: &ToolSet) -> bool {
        self.calls.iter().all(|(tool, input)| {
            let risk = tools.read(tool, input).map(|call| call.proposal().risk);
            matches!(risk, Ok(Risk::Looks | Risk::Exempt))
        })
    }

    /// Returns true if it only changes the plan, which shows nothing.
    fn is_plan(&self) -> bool {
        self.calls.iter().all(|(tool, _)| *tool == UPDATE_PLAN)
    }

    fn has_calls_of(&self, other: &Self) -> bool {
        self.calls.len() == other.calls.len()
            && self.calls.iter().zip(&other.calls).all(
                |((tool, input), (other_tool, other_input))| {
                    tool == other_tool && are_near(input, other_input)
                },
            )
    }

    fn has_failed(&self) -> bool {
        self.results.iter().any(|(_, has_failed)| *has_failed)
    }
}

/// Returns true if a command ended with an exit code that means a failure.
fn has_exit_code(state: Option<&Value>) -> bool {
    let code = state.and_then(|state| state["exit_code"].as_i64());
    code.is_some_and(|code| code != 0)
}

/// Returns true if two inputs are the same, except for places that are close to each other.
fn are_near(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    let Some(same) = other.get(name) else {
                        return false;
                    };
                    match (name.as_str(), value.as_f64(), same.as_f64()) {
                        ("x" | "y", Some(one), Some(other)) => (one - other).abs() <= SAME_PLACE,
                        _ => are_near(value, same),
                    }
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| are_near(one, other))
        }
        _ => one == other,
    }
}

#[cfg(test)]
#[path = "loops_tests.rs"]
mod tests;
