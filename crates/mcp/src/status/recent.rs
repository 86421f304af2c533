//! The newest facts of a session's log: its last step, and the end of its last turn.

use deskhand_core::{
    event::{EventBody, LoggedEvent},
    message::Role,
    session::{Phase, Session},
};
use jiff::Timestamp;

use crate::{call::Call, refusal::CallError};

/// The number of events that are read at once, from the newest backwards, and the most pages. The end of a turn and its
/// answer are among the newest events. Only a step before a very long text may be missed.
const PAGE: u32 = 100;
const MOST_PAGES: u64 = 10;

/// The newest facts of a log.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) last_step: Option<String>,
    /// The end of the last turn, if that has ended.
    pub(super) end: Option<TurnEnd>,
    /// The answer that the last turn gave.
    pub(super) answer: Option<String>,
    /// True if the beginning of the last turn was seen, so that everything before it is of no interest.
    is_whole: bool,
}

/// The end of a turn.
#[derive(Debug)]
pub(super) struct TurnEnd {
    pub(super) at: Timestamp,
    /// The problem that ended it, if one did.
    pub(super) problem: Option<String>,
}

/// Reads the newest facts of a session's log.
pub(super) async fn read(call: &Call<'_>, session: &Session) -> Result<Recent, CallError> {
    let mut recent = Recent::default();
    let is_working = matches!(session.phase, Phase::Running | Phase::Waiting);
    let mut before = session.last_seq + 1;
    for _ in 0..MOST_PAGES {
        let after = before.saturating_sub(u64::from(PAGE) + 1);
        let sessions = call.app.sessions();
        let events = sessions
            .events(call.viewer(), session.id, after, PAGE)
            .await?;
        let older = events.iter().rev().filter(|event| event.seq < before);
        for event in older {
            recent.take(event);
        }
        let is_done = recent.last_step.is_some() && (is_working || recent.end.is_some());
        if after == 0 || recent.is_whole || is_done {
            break;
        }
        before = after + 1;
    }
    Ok(recent)
}

impl Recent {
    /// Takes the next older event into account.
    fn take(&mut self, event: &LoggedEvent) {
        let matters = [
            "status", "message", "opened", "tool_use", "error", "complete",
        ];
        if self.is_whole || !matters.contains(&&*event.kind) {
            return;
        }
        // An event of a newer server is not for us.
        let Ok(event) = event.read() else {
            return;
        };
        if let EventBody::Status(status) = &event.body {
            // An end that was not seen by now does not exist: this turn is still going on.
            self.is_whole = status.prompt.is_some();
        } else if let EventBody::ToolUse(used) = event.body {
            let step = used.description.unwrap_or(used.tool);
            self.last_step.get_or_insert(step);
        } else if let EventBody::Opened(opened) = event.body {
            let did = if opened.problem.is_some() {
                "Could not open"
            } else {
                "Opened"
            };
            let step = format!("{did} {}", opened.url.as_str());
            self.last_step.get_or_insert(step);
        } else if let EventBody::Complete(_) = event.body {
            self.end.get_or_insert(TurnEnd {
                at: event.at,
                problem: None,
            });
        } else if let EventBody::Error(failure) = &event.body
            && failure.turn.is_some()
        {
            self.end.get_or_insert(TurnEnd {
                at: event.at,
                problem: Some(failure.message.clone()),
            });
        } else if let EventBody::Message(said) = event.body
            && said.role == Role::Assistant
        {
            self.answer.get_or_insert(said.content);
        }
    }
}
