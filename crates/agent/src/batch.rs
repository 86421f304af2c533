//! Carries out the calls of one answer, in order. After an action on the screen that fails, no other is done.
//!
//! The log has all tool uses of an answer together, before the first of them is carried out, and their results follow
//! one by one. So people see at once the whole plan and its progress. Since a new answer can only begin after a
//! result, the log also shows which calls belong to one answer.

use std::time::Duration;

use deskhand_core::{
    event::{EventBody, NotDone, ToolResult, ToolUse},
    id::TurnId,
    model::{HALTED, ToolCall},
    tool::{NativeTool, ResultPart},
};
use tokio::time::Instant;

use crate::{
    after::{After, afters, look_after_last},
    call_context::CallContext,
    cut::Cut,
    tools::{Invocation, ToolFailure, ToolOutput},
    work::Work,
};

/// The result of every call that a stop prevented or cut short.
pub(crate) const STOPPED: &str = "Stopped before it was done.";
const TURN_ENDED: &str = "Not executed: the turn ended before.";
const NO_PICTURE: &str = "\n[The picture of it could not be stored.]";

/// The text and the reason of a call that was not carried out because of another call.
pub(crate) type Skipped = (&'static str, NotDone);

/// The result of one call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) output: ToolOutput,
    /// The reason why the turn cannot continue after it.
    pub(crate) cut: Option<Cut>,
    /// The reason why the call was not carried out, if it did not fail by itself.
    pub(crate) not_done: Option<NotDone>,
}

impl Outcome {
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self {
            output: ToolFailure(text.into()).into(),
            cut: None,
            not_done: None,
        }
    }

    pub(crate) fn not_done(text: impl Into<String>, reason: NotDone) -> Self {
        Self {
            not_done: Some(reason),
            ..Self::failed(text)
        }
    }

    pub(crate) fn cut(text: impl Into<String>, cut: Cut) -> Self {
        Self::of(ToolFailure(text.into()).into(), Some(cut))
    }

    /// Returns the outcome of a call after which the turn continues, or is cut. A call that failed because the turn was
    /// stopped has not failed by itself.
    fn of(output: ToolOutput, cut: Option<Cut>) -> Self {
        let is_stopped = output.is_error && matches!(cut, Some(Cut::Stopped));
        Self {
            output,
            cut,
            not_done: is_stopped.then_some(NotDone::Stopped),
        }
    }

    /// Adds a note for the model and for people.
    pub(crate) fn with_note(mut self, note: &str) -> Self {
        self.output.parts.push(ResultPart::from(note));
        self
    }

    /// Returns the result of the remaining calls, if this outcome prevents them.
    fn skips_rest(&self) -> Option<Skipped> {
        match &self.cut {
            Some(Cut::Stopped | Cut::Parked) => Some((STOPPED, NotDone::Stopped)),
            Some(Cut::Enough(_) | Cut::Failed { .. } | Cut::LogLost(_)) => {
                Some((TURN_ENDED, NotDone::Skipped))
            }
            None => None,
        }
    }
}

impl Work {
    /// Carries out an answer's calls, which are in the log already. Afterwards each of them has its result, unless
    /// the turn is parked.
    pub(crate) async fn carry_out(&mut self, calls: Vec<ToolCall>) -> Result<(), Cut> {
        let read: Vec<_> = calls.iter().map(|call| self.read(call)).collect();
        let actions: Vec<_> = read
            .iter()
            .map(|read| read.as_ref().ok().and_then(|call| call.action()))
            .collect();
        let mut afters = afters(&actions);
        let browses: Vec<bool> = read
            .iter()
            .map(|read| read.as_ref().is_ok_and(|call| call.is_browse()))
            .collect();
        look_after_last(&browses, &mut afters);
        // Later actions were meant for the screen as it would be after a failed one. Commands and files are not.
        let on_screen: Vec<bool> = calls.iter().zip(&read).map(is_for_screen).collect();
        let mut is_halted = false;
        let mut waiting = calls.iter().zip(read).zip(afters).zip(on_screen);
        while let Some((((call, read), after), is_for_screen)) = waiting.next() {
            let started = Instant::now();
            let outcome = match read {
                _ if is_halted && is_for_screen => Outcome::not_done(HALTED, NotDone::Skipped),
                Ok(invocation) => self.run_if_agreed(call, invocation, after).await,
                Err(problem) => Outcome::failed(problem),
            };
            is_halted |= is_for_screen && outcome.output.is_error;
            if let Some(Cut::Parked) = outcome.cut {
                return Err(Cut::Parked);
            }
            // Nobody knows what the computer is like after it was taken away in the middle of an answer.
            let is_taken = self.machine.was_taken_away() && outcome.output.is_error;
            let halted = is_taken.then_some((HALTED, NotDone::Skipped));
            let skipped = outcome.skips_rest().or(halted);
            let (mut bodies, cut) = self.record(call, outcome, started.elapsed()).await;
            // A picture that could not be stored ends the turn although the action was done.
            let ended = cut.is_some().then_some((TURN_ENDED, NotDone::Skipped));
            if let Some(skipped) = skipped.or(ended) {
                let rest = waiting.by_ref().map(|(((call, _), _), _)| call);
                bodies.extend(rest.map(|call| not_executed(self.turn, call, skipped)));
            }
            self.journal.append(bodies).await?;
            if let Some(cut) = cut {
                return Err(cut);
            }
        }
        Ok(())
    }

    pub(crate) fn tool_use(&self, call: &ToolCall) -> EventBody {
        EventBody::ToolUse(ToolUse {
            turn: Some(self.turn),
            call: call.id.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            description: self.tools.describe(call),
            by: None,
            checks: call.checks.clone(),
        })
    }

    /// Parses a call. The error is for the model.
    pub(crate) fn read(&self, call: &ToolCall) -> Result<Box<dyn Invocation>, String> {
        if let Some(problem) = &call.problem {
            return Err(problem.clone());
        }
        let invocation = self
            .tools
            .read(&call.tool, &call.input)
            .map_err(|error| error.to_string())?;
        invocation.check(self.machine.screen)?;
        Ok(invocation)
    }

    /// Carries out a call if people give every approval that it needs.
    pub(crate) async fn run_if_agreed(
        &mut self,
        call: &ToolCall,
        mut invocation: Box<dyn Invocation>,
        after: After,
    ) -> Outcome {
        let mut context = CallContext::new(self, &call.id, after);
        if let Err(failure) = invocation.prepare(&mut context).await {
            return Outcome::of(failure.into(), context.cut);
        }
        if let Err(outcome) = self.agreed(call, &mut *invocation).await {
            return outcome;
        }
        let mut context = CallContext::new(self, &call.id, after);
        let output = invocation.run(&mut context).await;
        Outcome::of(output.unwrap_or_else(ToolOutput::from), context.cut)
    }

    /// Stores the picture of a call. Returns the events of its result, and the reason why the turn cannot continue,
    /// if any.
    pub(crate) async fn record(
        &mut self,
        call: &ToolCall,
        mut outcome: Outcome,
        duration: Duration,
    ) -> (Vec<EventBody>, Option<Cut>) {
        let mut screenshot = None;
        if let Some(frame) = outcome.output.picture.take() {
            match self.album.keep(self.turn, Some(&call.id), frame).await {
                Ok(kept) => screenshot = Some(kept),
                Err(lost) => {
                    let lost = Cut::from(lost);
                    outcome.cut.get_or_insert(lost);
                    outcome = outcome.with_note(NO_PICTURE);
                }
            }
        }
        let result = result(self.turn, call, outcome.output, outcome.not_done, duration);
        let bodies = std::iter::once(result).chain(screenshot).collect();
        (bodies, outcome.cut)
    }
}

/// Returns true if a call uses the screen or the browser. A call that cannot be read is of the tool that it names.
fn is_for_screen((call, read): (&ToolCall, &Result<Box<dyn Invocation>, String>)) -> bool {
    match read {
        Ok(invocation) => invocation.is_for_screen() || invocation.is_browse(),
        Err(_) => [NativeTool::Computer, NativeTool::Browser]
            .iter()
            .any(|tool| tool.name() == call.tool),
    }
}

/// Returns the result of a call that was not carried out because of another call.
pub(crate) fn not_executed(turn: TurnId, call: &ToolCall, (text, reason): Skipped) -> EventBody {
    let output = ToolOutput::from(ToolFailure(text.to_owned()));
    result(turn, call, output, Some(reason), Duration::ZERO)
}

fn result(
    turn: TurnId,
    call: &ToolCall,
    output: ToolOutput,
    not_done: Option<NotDone>,
    duration: Duration,
) -> EventBody {
    EventBody::ToolResult(ToolResult {
        turn: Some(turn),
        call: call.id.clone(),
        text: output.for_people(),
        is_error: output.is_error,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        partial: false,
        parts: output.stored_parts(),
        state: output.state,
        not_done,
    })
}
