//! The status of an agent, in few bytes.

mod recent;

use deskhand_app::ListDecisions;
use deskhand_core::{
    decision::{Decision, DecisionState, Form},
    id::SessionId,
    session::{Phase, Session},
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use self::recent::{Recent, TurnEnd};
use crate::{call::Call, clip::clip, refusal::CallError};

/// The most bytes of a report on the wire, where it is written twice: as facts and as text.
const MOST_BYTES: usize = 1_800;
/// The lengths to which texts are cut, one after the other, until the report is small enough.
const TEXT_BYTES: [usize; 6] = [500, 250, 120, 60, 30, 16];
/// The most choices of a question that are listed.
const MOST_CHOICES: usize = 12;
/// The most open questions that are read. The agent asks one at a time.
const MOST_QUESTIONS: u32 = 20;

/// The state of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentState {
    /// It is working, or about to.
    Running,
    /// It waits for the answer to a question: answer it with `agent_reply`.
    Waiting,
    /// It has finished its work.
    Completed,
    /// Its work failed.
    Error,
}

/// The status of an agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusReport {
    pub(crate) session_id: String,
    pub(crate) status: AgentState,
    /// True if the session has ended for good.
    pub(crate) ended: bool,
    /// The time at which the session was started, as RFC 3339.
    started_at: String,
    /// The time at which the agent finished, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// The seconds from the start to the end, or until now.
    running_seconds: i64,
    /// The last thing that the agent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_step: Option<String>,
    /// The cost of its models so far, in US dollars.
    cost_usd: f64,
    /// The number of messages that wait for the agent.
    n_queued: usize,
    /// The question that the agent waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<PendingQuestion>,
    /// What the agent reported at its end. A long report is cut here; `agent_log` has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The problem, if the status is error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A question that an agent waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PendingQuestion {
    /// The reason: `question`, `approval`, `owner_approval`, `safety_check`, `budget` or `network`.
    kind: String,
    text: String,
    /// The form of the answer: `text`, `choices`, `yes_no` or `file`.
    form: String,
    /// The choices, if there are any.
    choices: Vec<String>,
}

/// Reports on a session that the caller may see.
pub(crate) async fn look(call: &Call<'_>, id: SessionId) -> Result<StatusReport, CallError> {
    let session = call.app.sessions().find(call.viewer(), id).await?;
    let n_queued = call.app.queue().list(call.viewer(), id).await?.len();
    let question = match session.phase {
        Phase::Waiting => open_question(call, id).await?,
        Phase::Initializing | Phase::Idle | Phase::Running | Phase::Error | Phase::Terminated => {
            None
        }
    };
    let recent = recent::read(call, &session).await?;
    let status = state(&session, n_queued, question.is_some(), recent.end.as_ref());
    let report = report(&session, status, question, recent, call.app.now());
    Ok(fitted(&StatusReport { n_queued, ..report }))
}

/// Returns the question that the turn of a session waits for, if there is one.
pub(crate) async fn open_question(
    call: &Call<'_>,
    id: SessionId,
) -> Result<Option<Decision>, CallError> {
    let open = ListDecisions {
        state: Some(DecisionState::Open),
        before: None,
        limit: MOST_QUESTIONS,
    };
    let page = call.app.decisions().list(call.viewer(), id, open).await?;
    let mut asked = page.decisions.into_iter().map(|named| named.decision);
    Ok(asked.rfind(|decision| decision.ask.stops_turn()))
}

fn state(session: &Session, n_queued: usize, asks: bool, end: Option<&TurnEnd>) -> AgentState {
    let ended = match end {
        Some(TurnEnd {
            problem: Some(_), ..
        }) => AgentState::Error,
        Some(_) | None => AgentState::Completed,
    };
    match session.phase {
        Phase::Initializing | Phase::Running => AgentState::Running,
        Phase::Waiting if asks => AgentState::Waiting,
        // It was answered a moment ago.
        Phase::Waiting => AgentState::Running,
        Phase::Idle | Phase::Error if n_queued > 0 => AgentState::Running,
        Phase::Error => AgentState::Error,
        Phase::Idle | Phase::Terminated => ended,
    }
}

fn report(
    session: &Session,
    status: AgentState,
    question: Option<Decision>,
    recent: Recent,
    now: Timestamp,
) -> StatusReport {
    let is_over = matches!(status, AgentState::Completed | AgentState::Error);
    let end = recent.end.filter(|_| is_over);
    let until = end.as_ref().map_or(now, |end| end.at);
    StatusReport {
        session_id: session.id.to_string(),
        status,
        ended: session.phase == Phase::Terminated,
        started_at: session.created_at.to_string(),
        ended_at: end.as_ref().map(|end| end.at.to_string()),
        running_seconds: until.duration_since(session.created_at).as_secs().max(0),
        last_step: recent.last_step,
        // A ten-thousandth of a cent is exact enough.
        cost_usd: (session.cost_usd * 1e6).round() / 1e6,
        n_queued: 0,
        question: question.map(PendingQuestion::from),
        answer: recent.answer.filter(|_| is_over),
        error: end.and_then(|end| end.problem),
    }
}

impl From<Decision> for PendingQuestion {
    fn from(decision: Decision) -> Self {
        let ask = decision.ask;
        let (form, choices) = match ask.form {
            Form::Text => ("text", Vec::new()),
            Form::YesNo => ("yes_no", Vec::new()),
            Form::File => ("file", Vec::new()),
            Form::Choices { choices, .. } => ("choices", choices),
        };
        Self {
            kind: ask.kind.name().to_owned(),
            text: ask.prompt,
            form: form.to_owned(),
            choices: choices.into_iter().map(|choice| choice.label).collect(),
        }
    }
}

/// Shortens the texts of a report until it is small.
fn fitted(report: &StatusReport) -> StatusReport {
    let mut fitted = report.clone();
    for most in TEXT_BYTES {
        fitted = shortened(report, most);
        if n_bytes(&fitted) <= MOST_BYTES {
            break;
        }
    }
    fitted
}

fn shortened(report: &StatusReport, most: usize) -> StatusReport {
    let cut = |text: &Option<String>| text.as_ref().map(|text| clip(text, most));
    let question = report.question.as_ref().map(|question| {
        let choices = question.choices.iter().take(MOST_CHOICES);
        PendingQuestion {
            text: clip(&question.text, most),
            choices: choices.map(|label| clip(label, most / 4)).collect(),
            ..question.clone()
        }
    });
    StatusReport {
        last_step: cut(&report.last_step),
        answer: cut(&report.answer),
        error: cut(&report.error),
        question,
        ..report.clone()
    }
}

/// Returns the bytes of a report as facts and, with its quotes escaped, as text.
fn n_bytes(report: &StatusReport) -> usize {
    let facts = serde_json::to_string(report).unwrap_or_default();
    let text = serde_json::to_string(&facts).unwrap_or_default();
    facts.len() + text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_small_whatever_is_in_it() {
        let long = "\"ü\\\n".repeat(1_000);
        let report = StatusReport {
            session_id: SessionId::new().to_string(),
            status: AgentState::Waiting,
            ended: false,
            started_at: Timestamp::UNIX_EPOCH.to_string(),
            ended_at: Some(Timestamp::UNIX_EPOCH.to_string()),
            running_seconds: i64::MAX,
            last_step: Some(long.clone()),
            cost_usd: 0.123_456,
            n_queued: 20,
            question: Some(PendingQuestion {
                kind: "question".to_owned(),
                text: long.clone(),
                form: "choices".to_owned(),
                choices: vec![long.clone(); 50],
            }),
            answer: Some(long.clone()),
            error: Some(long),
        };
        let fitted = fitted(&report);
        assert!(n_bytes(&fitted) <= 2_048, "{}", n_bytes(&fitted));
        assert!(fitted.answer.is_some_and(|answer| !answer.is_empty()));
    }
}
