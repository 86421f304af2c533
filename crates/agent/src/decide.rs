//! What a turn asks people: the agent's own questions, and leave to do something.
//!
//! Whoever waits for a person uses up none of the turn's time. A decision that stands in the log
//! when a turn is taken up again is waited for, not raised anew.

use deskhand_core::{
    decision::{Ask, DecisionKind, DecisionState, Form, Reply, Subject},
    event::{DecisionRaised, DecisionSettled, EventBody},
    id::{DecisionId, TurnId},
    model::{ToolCall, ToolRequest},
    policy::Verdict,
    question::Question,
};
use tokio::time::Instant;

use crate::{
    batch::{After, Outcome, STOPPED},
    ports::Settled,
    work::{Cut, Work},
};

const REFUSED_BY_POLICY: &str = "Not executed: the approval policy of this session refuses it. Do \
                                 not try to reach the same in another way.";
const REFUSED: &str = "Not executed: a person was asked and said no.";
const NOT_APPROVED: &str = "Not executed: a person was asked and nobody answered in time.";
const NO_ANSWER: &str = "Nobody answered in time, and there is no default.";
const LOG_LOST: &str = "Not executed: the question could not be stored.";

/// A decision that was raised before the turn was held up.
#[derive(Debug, Clone)]
pub(crate) struct Raised {
    pub(crate) decision: DecisionId,
    pub(crate) ask: Ask,
    pub(crate) state: DecisionState,
    /// What counts as the answer.
    pub(crate) reply: Option<Reply>,
}

impl Raised {
    /// Whether a person has said yes to it.
    fn is_agreed(&self) -> bool {
        self.reply == Some(Reply::Yes(true))
    }
}

/// Every decision of a turn in its log.
pub(crate) fn raised(log: &[EventBody], turn: TurnId) -> Vec<Raised> {
    let mut raised: Vec<Raised> = Vec::new();
    for body in log {
        if let EventBody::Decision(DecisionRaised {
            turn: of,
            decision,
            ask,
        }) = body
            && *of == turn
        {
            raised.push(Raised {
                decision: *decision,
                ask: ask.clone(),
                state: DecisionState::Open,
                reply: None,
            });
        }
        if let EventBody::Answer(DecisionSettled {
            decision,
            state,
            answer,
            ..
        }) = body
            && let Some(settled) = raised.iter_mut().find(|one| one.decision == *decision)
        {
            settled.state = *state;
            settled.reply.clone_from(answer);
        }
    }
    raised
}

impl Work {
    /// Carries out a call, if everybody agrees who must be asked.
    pub(crate) async fn perform_if_agreed(
        &mut self,
        call: &ToolCall,
        request: ToolRequest,
        after: After,
    ) -> Outcome {
        match self.agreed(call, &request).await {
            Ok(()) => self.perform(call, request, after).await,
            Err(outcome) => outcome,
        }
    }

    /// Whether this call was surely not begun when the turn was held up: it waited for a person.
    pub(crate) fn was_waiting(&self, call: &ToolCall) -> bool {
        call.tool == "ask_user"
            || self
                .raised
                .iter()
                .any(|one| one.ask.call.as_ref() == Some(&call.id) && !one.is_agreed())
    }

    /// Asks whoever must agree to a call. `Err` is what came of the call instead.
    pub(crate) async fn agreed(
        &mut self,
        call: &ToolCall,
        request: &ToolRequest,
    ) -> Result<(), Outcome> {
        for ask in self.asks(call, request).await? {
            let kind = ask.kind;
            let settled = self.decide(ask).await?;
            if settled.reply != Some(Reply::Yes(true)) {
                return Err(refused(kind, &settled));
            }
        }
        Ok(())
    }

    /// What people must agree to before a call is carried out.
    async fn asks(&mut self, call: &ToolCall, request: &ToolRequest) -> Result<Vec<Ask>, Outcome> {
        let ask = |kind: DecisionKind, prompt: String| Ask {
            call: Some(call.id.clone()),
            kind,
            prompt,
            form: Form::YesNo,
            subject: Some(Subject {
                tool: call.tool.clone(),
                input: call.input.clone(),
            }),
            over: None,
            default: None,
            expires_at: None,
        };
        let mut asks: Vec<_> = call
            .checks
            .iter()
            .map(|check| ask(check.kind, check.prompt.clone()))
            .collect();
        let policy = self.decisions.policy().await;
        let policy = policy.map_err(|error| Outcome::cut(LOG_LOST, Cut::LogLost(error)))?;
        match policy.verdict(request) {
            Verdict::Allow => {}
            Verdict::Ask(prompt) => asks.push(ask(DecisionKind::Approval, prompt)),
            Verdict::Refuse => return Err(Outcome::failed(REFUSED_BY_POLICY)),
        }
        // What was asked once is still asked, also when the policy has changed.
        for one in &self.raised {
            let is_known = asks.iter().any(|ask| ask.kind == one.ask.kind);
            if one.ask.call.as_ref() == Some(&call.id)
                && one.ask.kind != DecisionKind::Question
                && !is_known
            {
                asks.push(one.ask.clone());
            }
        }
        Ok(asks)
    }

    /// Asks the agent's question; the answer is the result.
    pub(crate) async fn ask(&mut self, call: &ToolCall, question: &Question) -> Outcome {
        let ask = match question.ask(&call.id, self.clock.now()) {
            Ok(ask) => ask,
            Err(problem) => {
                return Outcome::failed(format!("The question was not asked: {problem}."));
            }
        };
        let settled = match self.decide(ask).await {
            Ok(settled) => settled,
            Err(outcome) => return outcome,
        };
        let outcome = match (settled.reply, settled.file) {
            (None, _) => return Outcome::failed(NO_ANSWER),
            (Some(_), Some(file)) => self.keep_file(call, settled.decision, &file).await,
            (Some(reply), None) => Outcome::done(in_words(&reply)),
        };
        if settled.is_answered {
            return outcome;
        }
        Outcome {
            text: format!(
                "{}\n[Nobody answered in time; this is the default.]",
                outcome.text
            ),
            ..outcome
        }
    }

    /// Raises a decision, unless that was done before, and waits until it is settled. `Err` is what
    /// came of the call when the turn cannot wait.
    async fn decide(&mut self, ask: Ask) -> Result<Settled, Outcome> {
        let before = self
            .raised
            .iter()
            .find(|one| one.ask.call == ask.call && one.ask.kind == ask.kind);
        let id = match before {
            Some(before) => before.decision,
            None => {
                let id = DecisionId::new();
                let raised = self.decisions.raise(id, ask).await;
                raised.map_err(|error| Outcome::cut(LOG_LOST, Cut::LogLost(error)))?;
                id
            }
        };
        let began = Instant::now();
        let settled = tokio::select! {
            biased;
            () = self.parking.cancelled() => Err(Outcome::cut(STOPPED, Cut::Parked)),
            settled = self.decisions.settled(id) => Ok(settled),
            () = self.stop.cancelled() => Err(Outcome::cut(STOPPED, Cut::Stopped)),
        };
        self.stopwatch.waited_since(began);
        settled
    }
}

fn refused(kind: DecisionKind, settled: &Settled) -> Outcome {
    let text = if settled.is_answered {
        REFUSED
    } else {
        NOT_APPROVED
    };
    match kind {
        DecisionKind::Budget => Outcome::cut(text, Cut::Enough(None)),
        DecisionKind::Question | DecisionKind::Approval | DecisionKind::SafetyCheck => {
            Outcome::failed(text)
        }
    }
}

fn in_words(reply: &Reply) -> String {
    match reply {
        Reply::Text(text) => text.clone(),
        Reply::Choices(values) => values.join(", "),
        Reply::Yes(true) => "yes".to_owned(),
        Reply::Yes(false) => "no".to_owned(),
        Reply::File(head) => head.name.clone(),
    }
}
