//! Turns a session's events into steps.
//!
//! It only chooses the words; `show` decides how they look.

use deskhand_core::{
    decision::DecisionState,
    event::{
        Complete, Event, EventBody, Failure, FilesPlaced, HostContacted, NotDone, Outcome,
        PageOpened, PlacedFile, PlanChanged, PlanStep, QueueChange, Retry, Status, StepState,
        Summarized, ToolResult, ToolUse,
    },
    lease::{LeaseChange, LeaseChanged, LeaseEnd},
    message::Role,
    session::SandboxState,
};
use jiff::Timestamp;

use super::{
    describe::{describe, in_present, one_line},
    spent::Spent,
};

/// Follows one turn and describes its events.
#[derive(Debug, Default)]
pub(super) struct Narrator {
    began_at: Option<Timestamp>,
    /// The ids and descriptions of calls without a result yet.
    open_calls: Vec<(String, String)>,
    /// The model's text since its last call. It is a remark if another call follows, and the answer if not.
    remark: String,
    /// The agent's answer, once there is one.
    pub(super) answer: Option<String>,
    spent: Spent,
    /// The current activity.
    pub(super) activity: String,
    /// The outcome of the turn, once it has ended.
    pub(super) end: Option<TurnEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    Done,
    Stopped,
    Failed,
}

/// One step to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// The time since the first event.
    pub(super) after_ms: u64,
    pub(super) mark: Mark,
    pub(super) text: String,
    pub(super) took_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A call succeeded.
    Done,
    /// A call failed, or there was an error.
    Failed,
    /// The agent made a remark.
    Said,
    /// Other news.
    Note,
}

impl Narrator {
    /// Returns the steps to show for an event.
    pub(super) fn tell(&mut self, event: &Event) -> Vec<Step> {
        let began_at = *self.began_at.get_or_insert(event.at);
        let after = event.at.duration_since(began_at).as_millis();
        // A clock that was set back must not cause a failure.
        let after_ms = u64::try_from(after).unwrap_or(0);
        let step = |(mark, text, took_ms): (Mark, String, Option<u64>)| Step {
            after_ms,
            mark,
            text,
            took_ms,
        };
        self.handle(&event.body).into_iter().map(step).collect()
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the terminal shows steps, and most kinds of event are not steps"
    )]
    fn handle(&mut self, body: &EventBody) -> Vec<(Mark, String, Option<u64>)> {
        match body {
            EventBody::Status(status) => self.status(status),
            EventBody::Message(message) if message.role == Role::Assistant => {
                self.answer = Some(message.content.clone());
                self.remark.clear();
                Vec::new()
            }
            EventBody::Cost(cost) => {
                self.spent.add(cost);
                Vec::new()
            }
            EventBody::Gateway(used) => {
                let text = format!("A program called {} (${:.4})", used.model, used.usd);
                vec![(Mark::Note, text, None)]
            }
            EventBody::Network(contacted) => contacted.blocked.map_or_else(Vec::new, |reason| {
                let HostContacted { host, port, .. } = contacted;
                let text = format!("Blocked {host}:{port}: {}", reason.sentence());
                vec![(Mark::Note, text, None)]
            }),
            EventBody::Model(changed) => {
                let text = format!("{} changed the model to {}", changed.by_name, changed.model);
                vec![(Mark::Note, text, None)]
            }
            EventBody::Retry(retry) => vec![(Mark::Note, retried(retry), None)],
            EventBody::Plan(plan) => vec![(Mark::Note, plan_line(plan), None)],
            EventBody::Artifact(shared) => {
                let text = format!("Shared {} ({} bytes)", shared.name, shared.size);
                vec![(Mark::Note, text, None)]
            }
            EventBody::Placed(placed) => vec![(Mark::Note, placed_line(placed), None)],
            EventBody::Opened(opened) => vec![(Mark::Note, opened_line(opened), None)],
            EventBody::Notice(notice) => vec![(Mark::Note, notice.message.clone(), None)],
            EventBody::Summary(summary) => vec![(Mark::Note, summary_line(summary), None)],
            EventBody::Queue(changed) if changed.change == QueueChange::Held => {
                let text = "A message that waits is held: send or remove it on the page";
                vec![(Mark::Note, text.to_owned(), None)]
            }
            EventBody::Answer(settled) => {
                vec![(Mark::Note, answered(settled.state).to_owned(), None)]
            }
            EventBody::Thinking(_) => {
                self.activity = "Thinking".to_owned();
                Vec::new()
            }
            EventBody::Text(said) => {
                self.activity = "Speaking".to_owned();
                self.remark.push_str(&said.text);
                Vec::new()
            }
            EventBody::ToolUse(call) => self.call(call),
            EventBody::Lease(changed) => self.lease(changed),
            EventBody::ToolResult(result) if result.partial => Vec::new(),
            EventBody::ToolResult(result) => vec![self.result(result)],
            EventBody::Error(failure) => vec![self.failed(failure)],
            EventBody::Complete(complete) => vec![self.completed(complete)],
            _ => Vec::new(),
        }
    }

    fn status(&mut self, status: &Status) -> Vec<(Mark, String, Option<u64>)> {
        if status.sandbox == SandboxState::Starting {
            self.activity = "Starting the desktop".to_owned();
        }
        let reason = status.reason.iter();
        reason
            .map(|reason| (Mark::Note, reason.clone(), None))
            .collect()
    }

    /// Notes a call. The model's text before it was a remark, which is shown now.
    fn call(&mut self, call: &ToolUse) -> Vec<(Mark, String, Option<u64>)> {
        let what = describe(call);
        self.activity = in_present(&what);
        self.open_calls.push((call.call.clone(), what));
        self.take_remark().into_iter().collect()
    }

    fn failed(&mut self, failure: &Failure) -> (Mark, String, Option<u64>) {
        if failure.turn.is_some() {
            self.end = Some(TurnEnd::Failed);
        }
        (Mark::Failed, failure.message.clone(), None)
    }

    fn completed(&mut self, complete: &Complete) -> (Mark, String, Option<u64>) {
        let (end, text) = match complete.outcome {
            Outcome::Done => (TurnEnd::Done, "Done"),
            Outcome::Stopped => (TurnEnd::Stopped, "Stopped"),
            Outcome::Interrupted => (TurnEnd::Stopped, "Interrupted by a new message"),
            Outcome::Enough => (TurnEnd::Stopped, "Ended at its limit"),
        };
        self.end = Some(end);
        let took_ms = Some(complete.duration_ms);
        (Mark::Note, format!("{text}{}", self.spent), took_ms)
    }

    /// Describes a change of control. The agent waits while a person has control.
    fn lease(&mut self, changed: &LeaseChanged) -> Vec<(Mark, String, Option<u64>)> {
        let name = &changed.name;
        let text = match &changed.change {
            LeaseChange::Taken { .. } => {
                self.activity = format!("Waiting until {name} hands back");
                format!("{name} took over mouse and keyboard")
            }
            LeaseChange::Extended { .. } => return Vec::new(),
            LeaseChange::Ended { reason } => {
                self.activity = "Thinking".to_owned();
                match reason {
                    LeaseEnd::HandedBack => format!("{name} handed back"),
                    LeaseEnd::Expired => format!("{name} ran out of time"),
                    LeaseEnd::Disconnected => format!("{name} left without handing back"),
                    LeaseEnd::RightLost => format!("{name} may no longer drive"),
                    LeaseEnd::NotPrivate => format!(
                        "{name} did not get control: programs on the desktop could have watched"
                    ),
                    LeaseEnd::SessionEnded => return Vec::new(),
                }
            }
        };
        vec![(Mark::Note, text, None)]
    }

    fn result(&mut self, result: &ToolResult) -> (Mark, String, Option<u64>) {
        let position = self
            .open_calls
            .iter()
            .position(|(id, _)| *id == result.call);
        let what = match position {
            Some(position) => self.open_calls.remove(position).1,
            None => "Used a tool".to_owned(),
        };
        self.activity = match self.open_calls.first() {
            Some((_, next)) => in_present(next),
            None => "Thinking".to_owned(),
        };
        if let Some(reason) = result.not_done {
            let text = format!("{}: {}", in_present(&what), not_done(reason));
            (Mark::Note, text, None)
        } else if result.is_error {
            let text = format!("{what}: {}", one_line(&result.text));
            (Mark::Failed, text, Some(result.duration_ms))
        } else {
            (Mark::Done, what, Some(result.duration_ms))
        }
    }

    fn take_remark(&mut self) -> Option<(Mark, String, Option<u64>)> {
        let remark = one_line(&std::mem::take(&mut self.remark));
        (!remark.is_empty()).then_some((Mark::Said, remark, None))
    }
}

fn not_done(reason: NotDone) -> &'static str {
    match reason {
        NotDone::Refused => "not run, since a person refused it",
        NotDone::Unanswered => "not run, since nobody answered in time",
        NotDone::Forbidden => "not run, since the approval policy refuses it",
        NotDone::Skipped => "not run",
        NotDone::Stopped => "stopped",
    }
}

fn retried(retry: &Retry) -> String {
    if retry.without_files {
        let message = retry.message.trim_end_matches('.');
        return format!("{message}: asking again without the attached files");
    }
    match &retry.model {
        Some(model) => format!("{}: asking {model} instead", retry.message),
        None => format!(
            "{}: waiting on provider, next try at {}",
            retry.message,
            retry.next_at.strftime("%H:%M:%S")
        ),
    }
}

/// Writes a plan on one line.
fn plan_line(plan: &PlanChanged) -> String {
    let step = |step: &PlanStep| {
        let mark = match step.state {
            StepState::Pending => "○",
            StepState::Doing => "▸",
            StepState::Done => "✓",
        };
        format!("{mark} {}", one_line(&step.text))
    };
    let steps: Vec<_> = plan.steps.iter().map(step).collect();
    format!("Plan: {}", steps.join("  "))
}

/// Formats the files that were written to the desktop as one line.
fn placed_line(placed: &FilesPlaced) -> String {
    let file = |file: &PlacedFile| match (&file.path, &file.problem) {
        (Some(path), _) => path.clone(),
        (None, problem) => format!("not written: {}", problem.as_deref().unwrap_or("unknown")),
    };
    let files: Vec<_> = placed.files.iter().map(file).collect();
    format!("Attached: {}", one_line(&files.join(", ")))
}

fn opened_line(opened: &PageOpened) -> String {
    let url = one_line(opened.url.as_str());
    match &opened.problem {
        Some(problem) => format!("Could not open {url}: {}", one_line(problem)),
        None => format!("Opened {url}"),
    }
}

fn summary_line(summary: &Summarized) -> String {
    match &summary.text {
        Some(text) => format!("Summarized the conversation: {}", one_line(text)),
        None => "Shortened old results, because the conversation became long".to_owned(),
    }
}

fn answered(state: DecisionState) -> &'static str {
    match state {
        DecisionState::Answered => "Answered",
        DecisionState::Expired => "Nobody answered in time",
        DecisionState::Withdrawn | DecisionState::Open => "No longer asked",
    }
}

#[cfg(test)]
#[path = "narrator_tests.rs"]
mod tests;
