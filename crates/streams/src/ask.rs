//! Asks a model for a step, within the stream's budget.

use std::collections::HashMap;

use deskhand_app::{Refusal, SendPrompt};
use deskhand_core::{
    budget::Bound,
    decision::{Ask, DecisionKind},
    event::{Complete, Cost, Event, EventBody, Failure, MessageSaid, Outcome},
    id::SessionId,
    message::{Delivery, Role},
    viewer::Viewer,
};
use deskhand_jamie::ErrorCode;

use crate::{
    fault::Fault,
    flow::Flow,
    step::{Step, StepReport},
};

/// The part of the budget after whose use a warning is logged.
const WARN_AT: f64 = 0.8;
/// The beginning of the names of models that only play scenarios.
pub(crate) const SCRIPTED: &str = "scripted/";

impl Flow<'_> {
    /// Has a model do a step. Returns its report, or nothing if its answer is not one.
    pub(crate) async fn ask(
        &mut self,
        session: SessionId,
        step: Step,
    ) -> Result<Option<StepReport>, Fault> {
        if let Some(fault) = self.model_fault() {
            return Err(fault);
        }
        let (app, owner) = (self.streams.0.app.clone(), self.owner());
        let viewer = Viewer::User(owner);
        let found = app.sessions().find(viewer, session).await;
        let found = found.map_err(|error| unavailable(&error))?;
        let followed = app.sessions().follow(viewer, session, found.last_seq).await;
        let mut feed = followed.map_err(|error| unavailable(&error))?;
        let prompt = SendPrompt {
            content: step.task(),
            delivery: Delivery::Queue,
            model: None,
            effort: None,
            attachments: Vec::new(),
            start_url: None,
        };
        tracing::info!(stream.id = %self.request.session_id, step = step.name(), "a model is asked for a step of a stream");
        let sent = app.queue().send(owner, session, prompt).await;
        sent.map_err(|error| unavailable(&error))?;
        let mut turn = ModelTurn::default();
        loop {
            let events = feed.next().await.map_err(|error| unavailable(&error))?;
            for event in &events {
                let Ok(Event { body, .. }) = serde_json::from_slice::<Event>(event) else {
                    continue;
                };
                match self.take_in(body, &mut turn).await {
                    Ok(None) => {}
                    Ok(Some(TurnOver)) => {
                        let report = turn.answer.as_deref().and_then(StepReport::read);
                        return match report.as_ref().and_then(StepReport::fault) {
                            Some(fault) => Err(fault),
                            None => Ok(report),
                        };
                    }
                    Err(fault) => {
                        // A turn that waits for a person would wait for ever. One that has ended needs no end.
                        let _ = app.sessions().stop_turn(viewer, session).await;
                        return Err(fault);
                    }
                }
            }
        }
    }

    /// Returns the reason why no model can be asked, if there is one.
    pub(crate) fn model_fault(&self) -> Option<Fault> {
        if let Some(problem) = &self.model_problem {
            return Some(Fault::new(ErrorCode::NoApiKey, problem.clone()));
        }
        let inner = &self.streams.0;
        let is_scripted = inner.app.catalog().list().default.starts_with(SCRIPTED);
        let is_chosen = inner.settings.model.is_some();
        (!is_chosen && is_scripted).then(|| ErrorCode::NoApiKey.into())
    }

    async fn take_in(
        &mut self,
        body: EventBody,
        turn: &mut ModelTurn,
    ) -> Result<Option<TurnOver>, Fault> {
        let id = self.request.session_id;
        if let EventBody::Cost(cost) = body {
            self.count(&cost).await?;
        } else if let EventBody::ToolUse(used) = body {
            tracing::info!(event = "agent.iteration", session_id = %id, iteration = self.n_steps, action_type = used.tool, "a model acts");
            turn.tools.insert(used.call, used.tool);
        } else if let EventBody::ToolResult(result) = body {
            if let (false, Some(action)) = (result.partial, turn.tools.remove(&result.call)) {
                let success = !result.is_error;
                tracing::info!(event = "agent.action", session_id = %id, action, success, "a model acted");
            }
        } else if let EventBody::Message(MessageSaid {
            role: Role::Assistant,
            content,
            ..
        }) = body
        {
            turn.answer = Some(content);
        } else if let EventBody::Decision(raised) = body {
            if raised.ask.stops_turn() {
                return Err(waits(&raised.ask));
            }
        } else if let EventBody::Error(Failure {
            turn: Some(_),
            code,
            ..
        }) = body
        {
            return Err(failed(&code));
        } else if let EventBody::Complete(Complete { outcome, bound, .. }) = body {
            return match outcome {
                Outcome::Done => Ok(Some(TurnOver)),
                Outcome::Stopped | Outcome::Interrupted => Err(Fault::new(
                    ErrorCode::AgentStuck,
                    "a person stopped the agent",
                )),
                Outcome::Enough => Err(bound.map_or(ErrorCode::AgentStuck, over).into()),
            };
        }
        Ok(None)
    }

    /// Counts an answer of a model.
    async fn count(&mut self, cost: &Cost) -> Result<(), Fault> {
        let (inner, id) = (&self.streams.0, self.request.session_id);
        let limit = inner.settings.budget_usd;
        let warned = self.cost_usd >= WARN_AT * limit;
        self.n_steps += 1;
        self.cost_usd += cost.usd;
        inner.store.add_stream_cost(id, 1, cost.usd).await?;
        if !warned && self.cost_usd >= WARN_AT * limit {
            tracing::warn!(event = "agent.budget_warning", session_id = %id, spent_usd = self.cost_usd, limit_usd = limit, "the budget of a stream is nearly used up");
        }
        if self.n_steps >= inner.settings.most_steps {
            return Err(ErrorCode::MaxIterations.into());
        }
        // A stream that was tried again has another session with a budget of its own.
        if self.cost_usd >= limit {
            return Err(ErrorCode::BudgetExceeded.into());
        }
        Ok(())
    }
}

/// A model's turn so far.
#[derive(Debug, Default)]
struct ModelTurn {
    answer: Option<String>,
    /// The tools of the calls that have no result yet.
    tools: HashMap<String, String>,
}

/// The model has ended its turn.
#[derive(Debug)]
struct TurnOver;

/// Returns the code of a bound.
fn over(bound: Bound) -> ErrorCode {
    match bound {
        Bound::SessionUsd
        | Bound::SessionTokens
        | Bound::DayUsd
        | Bound::DayTokens
        | Bound::Unpriced => ErrorCode::BudgetExceeded,
        Bound::Steps => ErrorCode::MaxIterations,
        Bound::Seconds => ErrorCode::Timeout,
        Bound::Repeats => ErrorCode::AgentStuck,
    }
}

/// Returns the error of a turn that waits for a person, whom a stream does not have.
fn waits(ask: &Ask) -> Fault {
    match (ask.kind, &ask.over) {
        (DecisionKind::Budget, Some(limit)) => over(limit.bound).into(),
        (DecisionKind::Budget, None)
        | (
            DecisionKind::Question
            | DecisionKind::Approval
            | DecisionKind::OwnerApproval
            | DecisionKind::SafetyCheck
            | DecisionKind::Network,
            _,
        ) => Fault::new(ErrorCode::AgentStuck, "the agent asked a person for help"),
    }
}

/// Returns the error of a turn that failed with this code.
fn failed(code: &str) -> Fault {
    match code {
        "sandbox_failed" => ErrorCode::SandboxFailed.into(),
        "model_failed" | "model_silent" => ErrorCode::AnthropicDown.into(),
        "model_refused" => ErrorCode::AgentStuck.into(),
        _ => ErrorCode::Unknown.into(),
    }
}

/// Returns the error of an operation of the session.
fn unavailable(error: &impl Refusal) -> Fault {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "a model could not be asked"
    );
    Fault::new(ErrorCode::StreamDropped, error.facts().message)
}
