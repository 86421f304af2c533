//! Resumes a turn that was interrupted when the server was stopped or killed.
//!
//! A complete answer in the log is not requested again. Of the calls without a result, the first may or may not have
//! been carried out, and the model is told so; the others were not. A call that waited for a person was not carried
//! out, and continues to wait.

use deskhand_core::{
    event::{EventBody, NotDone},
    id::TurnId,
    model::{HALTED, ToolCall},
};
use tokio::time::Instant;

use crate::{
    after::After,
    batch::{Outcome, not_executed},
    context::Blocks,
    cut::Cut,
    work::Work,
};

const FATE_UNKNOWN: &str = "The server stopped during this action, so it is not known whether it was done. The \
                            computer was restarted: files are kept, open programs are gone.";
const RESTARTED: &str = "Not executed: the server and the computer were restarted while the turn waited for a \
                         person. Files are kept, open programs are gone.";
const RESTARTED_NOTE: &str = "\n[The server and the computer were restarted while the turn waited for a person: \
                              files are kept, open programs and the state of the shell are gone.]";

/// The progress of a turn, read from the log.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The number of complete answers.
    pub(crate) n_steps: u32,
    /// The number of blocks of thinking and text.
    pub(crate) n_blocks: u32,
    /// Calls without a result.
    open: Vec<ToolCall>,
    /// The text since the last complete answer.
    text: Blocks,
    has_calls: bool,
    /// The text of answers that became too long, if nothing else came after them.
    pub(crate) begun: String,
    /// The text of the last complete answer, if it made no calls and nothing came after it.
    last_words: Option<String>,
}

impl Progress {
    pub(crate) fn read(log: &[EventBody], turn: TurnId) -> Self {
        let mut progress = Self::default();
        for body in log {
            progress.add(body, turn);
        }
        progress
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most kinds of event say nothing about the progress of a turn"
    )]
    fn add(&mut self, body: &EventBody, turn: TurnId) {
        match body {
            EventBody::Thinking(said) | EventBody::Text(said) if said.turn == turn => {
                self.n_blocks = self.n_blocks.max(said.block + 1);
                self.last_words = None;
                if matches!(body, EventBody::Text(_)) {
                    self.text.push(said);
                }
            }
            EventBody::ToolUse(tool_use) if tool_use.turn == Some(turn) => {
                self.open.push(ToolCall {
                    id: tool_use.call.clone(),
                    tool: tool_use.tool.clone(),
                    input: tool_use.input.clone(),
                    checks: tool_use.checks.clone(),
                    problem: None,
                });
                self.has_calls = true;
            }
            EventBody::ToolResult(result) if result.turn == Some(turn) && !result.partial => {
                if let Some(index) = self.open.iter().position(|call| call.id == result.call) {
                    self.open.remove(index);
                }
            }
            EventBody::Cost(cost) if cost.turn == turn && !cost.broken_off && !cost.summary => {
                self.n_steps = self.n_steps.max(cost.step);
                let words = std::mem::take(&mut self.text).whole();
                let only_spoke = !std::mem::take(&mut self.has_calls);
                let is_end = only_spoke && !cost.unfinished && !cost.aside;
                if !only_spoke {
                    self.begun.clear();
                } else if cost.unfinished {
                    self.begun.push_str(&words);
                }
                self.last_words = Some(words).filter(|words| is_end && !words.trim().is_empty());
            }
            // A person steers the turn, so that was not its end.
            EventBody::Message(_) => {
                self.last_words = None;
                self.begun.clear();
            }
            EventBody::Retry(retry) if retry.turn == turn && retry.refused => {
                self.text = Blocks::default();
            }
            // The model continued where it broke off.
            EventBody::Retry(retry) if retry.turn == turn => self.text.join(),
            // An answer that broke off is requested again.
            EventBody::Status(status) if status.turn == Some(turn) => {
                self.text = Blocks::default();
            }
            _ => {}
        }
    }
}

impl Work {
    /// Closes the calls that were left open. Returns the turn's last words if it has already said them.
    pub(crate) async fn pick_up(&mut self, progress: Progress) -> Result<Option<String>, Cut> {
        let mut open = progress.open.into_iter();
        if let Some(call) = open.next() {
            let started = Instant::now();
            let (outcome, skipped) = if self.was_waiting(&call) {
                (self.wait_on(&call).await, (RESTARTED, NotDone::Skipped))
            } else {
                let halted = (HALTED, NotDone::Skipped);
                (Outcome::failed(FATE_UNKNOWN), halted)
            };
            if let Some(Cut::Parked) = outcome.cut {
                return Err(Cut::Parked);
            }
            let (mut bodies, cut) = self.record(&call, outcome, started.elapsed()).await;
            bodies.extend(open.map(|call| not_executed(self.turn, &call, skipped)));
            self.journal.append(bodies).await?;
            if let Some(cut) = cut {
                return Err(cut);
            }
        }
        Ok(progress.last_words)
    }

    /// Returns true if a call was certainly not carried out before the interruption, or can safely be repeated.
    fn was_waiting(&self, call: &ToolCall) -> bool {
        let can_be_run = match self.read(call) {
            Ok(invocation) => invocation.is_repeatable(),
            // An invalid call cannot have been carried out.
            Err(_) => true,
        };
        can_be_run || self.people.held_up(&call.id)
    }

    /// Resumes a call that waited for a person. A call that was meant for the earlier screen is not made on the
    /// current one.
    async fn wait_on(&mut self, call: &ToolCall) -> Outcome {
        let invocation = match self.read(call) {
            Ok(invocation) => invocation,
            Err(problem) => return Outcome::failed(problem),
        };
        if invocation.is_for_screen() {
            return match self.approved(call, &*invocation).await {
                Ok(_) => Outcome::not_done(RESTARTED, NotDone::Skipped),
                Err(outcome) => outcome,
            };
        }
        self.run_if_agreed(call, invocation, After::Nothing)
            .await
            .with_note(RESTARTED_NOTE)
    }
}
