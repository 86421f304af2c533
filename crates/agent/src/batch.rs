//! Carrying out the calls of one answer, in order, up to the first that fails.
//!
//! In the log all tool uses of an answer stand together, before the first of them is carried out,
//! and their results follow one by one. Whoever watches sees at once what is planned and what is
//! done of it; and since a new answer can only begin after a result, the log says which calls
//! belonged to one answer.

use std::time::Duration;

use deskhand_core::{
    action::Action,
    event::{EventBody, Screenshot, ToolResult, ToolUse},
    id::TurnId,
    model::{Image, ToolCall, ToolRequest},
    sandbox::Frame,
};
use tokio::time::Instant;

use crate::work::{Cut, Work};

/// A vendor wants exactly these words.
pub(crate) const HALTED: &str = "Not executed: an earlier computer action in this turn failed.";
/// Said of everything that a stop prevented or cut short.
pub(crate) const STOPPED: &str = "Stopped before it was done.";
const TURN_ENDED: &str = "Not executed: the turn ended before.";

/// What came of one call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) frame: Option<Frame>,
    /// Why the turn cannot go on after it.
    pub(crate) cut: Option<Cut>,
}

impl Outcome {
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            frame: None,
            cut: None,
        }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::done(text)
        }
    }

    pub(crate) fn cut(text: impl Into<String>, cut: Cut) -> Self {
        Self {
            cut: Some(cut),
            ..Self::failed(text)
        }
    }
}

/// What an action is followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next action, at once.
    Nothing,
    /// The next action, once the screen has settled. A program may take a while to move the focus
    /// after a click or a chord, and what is typed before that goes to the wrong place.
    Settle,
    /// A picture for the model.
    Picture,
}

/// What each request is followed by. The last action is followed by a picture. What may move the
/// focus or open something settles before another action; so does typing before the mouse is
/// used, since a program may work off keys later than clicks.
fn afters(requests: &[Result<ToolRequest, String>]) -> Vec<After> {
    let after = |(index, request)| {
        let Some(action) = action(request) else {
            return After::Nothing;
        };
        let next = requests[index + 1..].iter().find_map(self::action);
        match (action, next) {
            (_, None) => After::Picture,
            (action, _) if action.is_look() => After::Picture,
            (action, _) if may_move_focus(action) => After::Settle,
            (Action::Type { .. }, Some(next)) if uses_mouse(next) => After::Settle,
            (_, Some(_)) => After::Nothing,
        }
    };
    requests.iter().enumerate().map(after).collect()
}

fn may_move_focus(action: &Action) -> bool {
    matches!(
        action,
        Action::Click { .. }
            | Action::Drag { .. }
            | Action::MouseUp { .. }
            | Action::Scroll { .. }
            | Action::Key { .. }
            | Action::HoldKey { .. }
    )
}

fn uses_mouse(action: &Action) -> bool {
    matches!(
        action,
        Action::Click { .. } | Action::Drag { .. } | Action::MouseDown { .. }
    )
}

fn action(request: &Result<ToolRequest, String>) -> Option<&Action> {
    match request {
        Ok(ToolRequest::Computer(action)) => Some(action),
        Ok(
            ToolRequest::Bash(_)
            | ToolRequest::Editor(_)
            | ToolRequest::AskUser(_)
            | ToolRequest::FillSecret(_),
        )
        | Err(_) => None,
    }
}

impl Work {
    /// Carries out an answer's calls, which the log has already. Every one of them has its
    /// result afterwards, unless the turn is parked.
    pub(crate) async fn carry_out(&mut self, calls: Vec<ToolCall>) -> Result<(), Cut> {
        let requests: Vec<_> = calls.iter().map(|call| self.read(call)).collect();
        let afters = afters(&requests);
        let mut waiting = calls.iter().zip(requests).zip(afters);
        while let Some(((call, request), after)) = waiting.next() {
            let started = Instant::now();
            let outcome = match request {
                Ok(request) => self.perform_if_agreed(call, request, after).await,
                Err(problem) => Outcome::failed(problem),
            };
            if let Some(Cut::Parked) = outcome.cut {
                return Err(Cut::Parked);
            }
            let skipped = match (&outcome.cut, outcome.is_error) {
                (Some(Cut::Stopped | Cut::Parked), _) => Some(STOPPED),
                (Some(Cut::Enough(_) | Cut::Failed { .. } | Cut::LogLost(_)), _) => {
                    Some(TURN_ENDED)
                }
                (None, true) => Some(HALTED),
                (None, false) => None,
            };
            let (mut bodies, cut) = self.record(call, outcome, started.elapsed()).await;
            // A picture that could not be kept ends the turn although the action was done.
            let skipped = skipped.or(cut.is_some().then_some(TURN_ENDED));
            if let Some(text) = skipped {
                let turn = self.turn;
                bodies.extend(waiting.by_ref().map(|((call, _), _)| {
                    result(turn, call, Outcome::failed(text), Duration::ZERO)
                }));
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
            by: None,
            checks: call.checks.clone(),
        })
    }

    /// The request that a call makes, or what is wrong with it, for the model.
    pub(crate) fn read(&self, call: &ToolCall) -> Result<ToolRequest, String> {
        if let Some(problem) = &call.problem {
            return Err(problem.clone());
        }
        let request =
            ToolRequest::parse(&call.tool, &call.input).map_err(|error| error.to_string())?;
        if let ToolRequest::Computer(action) = &request {
            action
                .check(self.screen)
                .map_err(|error| error.to_string())?;
        }
        Ok(request)
    }

    /// The events for what came of a call, with its picture kept, and why the turn cannot go on.
    pub(crate) async fn record(
        &mut self,
        call: &ToolCall,
        mut outcome: Outcome,
        duration: Duration,
    ) -> (Vec<EventBody>, Option<Cut>) {
        let mut cut = outcome.cut.take();
        let mut screenshot = None;
        if let Some(frame) = outcome.frame.take() {
            match self.keep(call, frame).await {
                Ok(kept) => screenshot = Some(kept),
                Err(lost) => {
                    outcome
                        .text
                        .push_str("\n[The picture of it could not be kept.]");
                    cut = cut.or(Some(lost));
                }
            }
        }
        let result = result(self.turn, call, outcome, duration);
        (std::iter::once(result).chain(screenshot).collect(), cut)
    }

    async fn keep(&mut self, call: &ToolCall, frame: Frame) -> Result<EventBody, Cut> {
        let (bytes, format) = (frame.bytes, frame.format);
        let blob = self.blobs.put(bytes.clone(), format).await?;
        self.images.insert(blob.clone(), Image { bytes, format });
        Ok(EventBody::Screenshot(Screenshot {
            turn: Some(self.turn),
            call: Some(call.id.clone()),
            blob,
            width: frame.size.width,
            height: frame.size.height,
        }))
    }
}

pub(crate) fn result(
    turn: TurnId,
    call: &ToolCall,
    outcome: Outcome,
    duration: Duration,
) -> EventBody {
    EventBody::ToolResult(ToolResult {
        turn: Some(turn),
        call: call.id.clone(),
        text: outcome.text,
        is_error: outcome.is_error,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        partial: false,
    })
}
