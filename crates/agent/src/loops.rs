//! Detects an agent that repeats itself.
//!
//! A round is one answer's calls with their results. The agent repeats itself if its rounds are the same in
//! everything: the calls, their results, and the picture afterwards. A round that only looks is ignored while it
//! shows the same picture. Any other difference ends the repetition, and so does a message from a person or a change
//! of control.

use deskhand_core::{blob::BlobName, budget::Bound, event::EventBody, id::TurnId, policy::Risk};
use serde_json::Value;

use crate::tools::ToolSet;

/// The agent's current repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// The number of times the last round was done in a row.
    pub(crate) n_times: u32,
    /// True if the model was warned since the repetition began.
    pub(crate) is_warned: bool,
}

/// Counts how many times in a row the turn has repeated its last round.
pub(crate) fn repeats(log: &[EventBody], turn: TurnId, tools: &ToolSet) -> Repeats {
    let mut reading = RoundReader::new(tools);
    for body in log {
        reading.add(body, turn);
    }
    reading.end_round();
    reading.repeats
}

/// One answer's calls with their results.
#[derive(Debug, Default, PartialEq)]
struct Round<'a> {
    calls: Vec<(&'a str, &'a Value)>,
    results: Vec<(&'a str, bool)>,
    picture: Option<&'a BlobName>,
}

#[derive(Debug)]
struct RoundReader<'a> {
    tools: &'a ToolSet,
    round: Round<'a>,
    last: Option<Round<'a>>,
    repeats: Repeats,
}

impl<'a> RoundReader<'a> {
    fn new(tools: &'a ToolSet) -> Self {
        Self {
            tools,
            round: Round::default(),
            last: None,
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
                self.round.results.push((&result.text, result.is_error));
            }
            EventBody::Screenshot(screenshot) if screenshot.turn == Some(turn) => {
                self.round.picture = Some(&screenshot.blob);
            }
            EventBody::Notice(notice) if notice.turn == turn && notice.bound == Bound::Repeats => {
                self.end_round();
                self.repeats.is_warned = true;
            }
            EventBody::Message(_) | EventBody::Lease(_) => *self = Self::new(self.tools),
            _ => {}
        }
    }

    fn end_round(&mut self) {
        let round = std::mem::take(&mut self.round);
        if round.calls.is_empty() {
            return;
        }
        let shows_the_same = self
            .last
            .as_ref()
            .is_some_and(|last| round.picture.is_some() && last.picture == round.picture);
        let is_look = round.is_look(self.tools);
        if is_look && shows_the_same {
            return;
        }
        if !is_look && self.last.as_ref() == Some(&round) {
            self.repeats.n_times += 1;
            return;
        }
        // Looking again and again is waiting, not repeating.
        self.repeats = Repeats {
            n_times: u32::from(!is_look),
            is_warned: false,
        };
        self.last = Some(round);
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
}

#[cfg(test)]
#[path = "loops_tests.rs"]
mod tests;
