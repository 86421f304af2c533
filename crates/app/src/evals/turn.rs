//! The turn of a trial: sends the prompt, counts answers, and ends the turn at a limit of the task.

use std::time::Duration;

use deskhand_core::{
    budget::{Bound, Over},
    decision::{Ask, DecisionKind, Reply},
    event::{Complete, Cost, Event, EventBody, Failure, MessageSaid, Outcome},
    id::{DecisionId, SessionId},
    message::{Delivery, Role},
    viewer::Viewer,
};
use tokio::time::{Instant, timeout_at};

use super::attempt::{Attempt, Later, Unchecked, Verdict, refused};
use crate::{AnswerError, GivenReply, SendPrompt};

/// The time until a trial that the owner's daily budget ended may begin anew. The budget is looked at before.
const DAY_PAUSE: Duration = Duration::from_secs(1);

/// What has been seen of a turn.
#[derive(Debug, Default)]
struct Seen {
    answer: String,
    n_steps: u32,
}

impl Attempt<'_> {
    /// Has the model do the task. Returns its last answer.
    pub(super) async fn have_it_done(
        &self,
        session: SessionId,
        began: Instant,
    ) -> Result<String, Unchecked> {
        let limit = self.trial.task.limits.seconds;
        let until = began + Duration::from_secs(limit.into());
        let turn = timeout_at(until, self.follow(session)).await;
        let ended = turn.unwrap_or_else(|_late| {
            Err(Verdict::failed(format!("not done within its limit of {limit} s")).into())
        });
        match ended {
            Err(Unchecked::Ended(verdict)) => {
                let sessions = &self.evals.0.sessions;
                // A turn that waits for a person would wait for ever. One that has ended needs no end.
                let _ = sessions
                    .stop_turn(Viewer::User(self.trial.owner), session)
                    .await;
                Err(verdict.after(began.elapsed()).into())
            }
            other => other,
        }
    }

    async fn follow(&self, session: SessionId) -> Result<String, Unchecked> {
        let (parts, trial) = (&self.evals.0, self.trial);
        let viewer = Viewer::User(trial.owner);
        let found = parts.sessions.find(viewer, session).await;
        let last_seq = found.map_err(|error| refused(&error))?.last_seq;
        let feed = parts.sessions.follow(viewer, session, last_seq).await;
        let mut feed = feed.map_err(|error| refused(&error))?;
        let prompt = SendPrompt {
            content: trial.task.prompt.clone(),
            delivery: Delivery::Queue,
            model: None,
            effort: None,
            attachments: Vec::new(),
            start_url: trial.task.open.clone(),
        };
        let sent = parts.queue.send(trial.owner, session, prompt).await;
        sent.map_err(|error| refused(&error))?;
        let mut seen = Seen::default();
        loop {
            let events = feed.next().await.map_err(|error| refused(&error))?;
            for event in &events {
                let Ok(Event { body, .. }) = serde_json::from_slice::<Event>(event) else {
                    continue;
                };
                if self.take_in(session, body, &mut seen).await? {
                    return Ok(seen.answer);
                }
            }
        }
    }

    /// Notes an event of the turn. Returns true if the turn is over.
    async fn take_in(
        &self,
        session: SessionId,
        body: EventBody,
        seen: &mut Seen,
    ) -> Result<bool, Unchecked> {
        if let EventBody::Cost(cost) = body {
            self.count(&cost, seen).await?;
        } else if let EventBody::Message(MessageSaid {
            role: Role::Assistant,
            content,
            ..
        }) = body
        {
            seen.answer = content;
        } else if let EventBody::Decision(raised) = body {
            let bound = raised.ask.over.map(|over| over.bound);
            if matches!(bound, Some(Bound::Steps | Bound::Seconds)) {
                self.let_go_on(session, raised.decision).await?;
            } else if raised.ask.stops_turn() {
                return Err(self.asks(&raised.ask));
            }
        } else if let EventBody::Error(Failure {
            turn: Some(_),
            code,
            message,
        }) = body
        {
            return Err(broke_off(&code, message).into());
        } else if let EventBody::Complete(Complete { outcome, .. }) = body {
            return match outcome {
                Outcome::Done => Ok(true),
                Outcome::Stopped | Outcome::Interrupted | Outcome::Enough => {
                    Err(Verdict::error("a person stopped the turn").into())
                }
            };
        }
        Ok(false)
    }

    /// Counts an answer of the model.
    async fn count(&self, cost: &Cost, seen: &mut Seen) -> Result<(), Unchecked> {
        let (parts, trial) = (&self.evals.0, self.trial);
        let is_step = !cost.broken_off && !cost.summary;
        let (run, number) = (trial.run, trial.number);
        let added = parts
            .store
            .add_trial_cost(run, number, u64::from(is_step), cost.usd);
        added.await?;
        seen.n_steps += u32::from(is_step);
        let limit = trial.task.limits.steps;
        if seen.n_steps > limit {
            let reason = format!("not done within its limit of {limit} steps");
            return Err(Verdict::failed(reason).into());
        }
        Ok(())
    }

    /// Raises a limit that the server sets for every turn. The task has limits of its own, which hold anyway.
    async fn let_go_on(&self, session: SessionId, decision: DecisionId) -> Result<(), Unchecked> {
        let (decisions, owner) = (&self.evals.0.decisions, self.trial.owner);
        let yes = GivenReply::Plain(Reply::Yes(true));
        match decisions.answer(owner, session, decision, yes).await {
            Ok(_) | Err(AnswerError::Settled(_)) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Returns the end of a trial that waits for a person. Nobody is there.
    fn asks(&self, ask: &Ask) -> Unchecked {
        match (ask.kind, &ask.over) {
            (DecisionKind::Budget, Some(over)) => self.over(over),
            (
                DecisionKind::Question
                | DecisionKind::Approval
                | DecisionKind::OwnerApproval
                | DecisionKind::SafetyCheck
                | DecisionKind::Budget
                | DecisionKind::Network,
                _,
            ) => Verdict::failed(format!("the agent asked a person: {}", ask.prompt)).into(),
        }
    }

    fn over(&self, over: &Over) -> Unchecked {
        let verdict = match over.bound {
            Bound::SessionUsd => {
                let limit = self.trial.task.limits.usd;
                Verdict::failed(format!("not done within its limit of {limit} US dollars"))
            }
            // These are answered.
            Bound::Steps | Bound::Seconds => {
                Verdict::error("the limits that the server sets for a turn could not be raised")
            }
            Bound::Repeats => Verdict::failed("the agent repeated itself"),
            Bound::SessionTokens => {
                Verdict::error("the tokens that the server allows a session were used up")
            }
            Bound::DayUsd | Bound::DayTokens => {
                return Unchecked::Later(Later {
                    wait: DAY_PAUSE,
                    reason: "your budget for today is used up".to_owned(),
                    day: Some(*over),
                });
            }
            Bound::Unpriced => Verdict::error(
                "the price of the model is not known, so its limit in US dollars cannot be held; an administrator can \
                 set it under `models.prices`",
            ),
        };
        verdict.into()
    }
}

/// Returns the end of a trial whose turn failed.
fn broke_off(code: &str, message: String) -> Verdict {
    match code {
        "model_refused" | "model_silent" => Verdict::failed(message),
        _ => Verdict::error(message),
    }
}
