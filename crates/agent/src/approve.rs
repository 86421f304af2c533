//! People's approval of a call before it is carried out.

use deskhand_core::{
    decision::{Ask, DecisionKind, Form, Reply, Subject},
    event::NotDone,
    model::ToolCall,
    policy::Verdict,
};

use crate::{
    batch::{Outcome, STOPPED},
    cut::Cut,
    ports::Settled,
    tools::Invocation,
    work::Work,
};

const REFUSED_BY_POLICY: &str = "Not executed: the approval policy of this session refuses it. Do \
                                 not try to reach the same in another way.";
const REFUSED: &str = "Not executed: a person was asked and said no.";
const NOT_APPROVED: &str = "Not executed: a person was asked and nobody answered in time.";
const LOG_LOST: &str = "Not executed: the question could not be stored.";

impl Work {
    /// Asks people for every approval that a call needs. The error is the result of the call.
    pub(crate) async fn agreed(
        &mut self,
        call: &ToolCall,
        invocation: &dyn Invocation,
    ) -> Result<(), Outcome> {
        for ask in self.asks(call, invocation).await? {
            let kind = ask.kind;
            let settled = self
                .people
                .settle(ask, &self.signals, &mut self.stopwatch)
                .await
                .map_err(unsettled)?;
            if settled.reply != Some(Reply::Yes(true)) {
                return Err(refused(kind, &settled));
            }
        }
        Ok(())
    }

    /// Returns the questions that people must say yes to before a call is carried out.
    async fn asks(
        &self,
        call: &ToolCall,
        invocation: &dyn Invocation,
    ) -> Result<Vec<Ask>, Outcome> {
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
        let decisions = &self.people.decisions;
        let policy = decisions.policy().await;
        let policy = policy.map_err(|error| unsettled(error.into()))?;
        let proposal = invocation.proposal();
        let is_owners = invocation.uses_owners_secret();
        match policy.verdict(&proposal) {
            Verdict::Allow if is_owners => {
                let is_for_owner = decisions.is_for_owner().await;
                if !is_for_owner.map_err(|error| unsettled(error.into()))? {
                    asks.push(ask(
                        DecisionKind::OwnerApproval,
                        format!("{}.", proposal.wish),
                    ));
                }
            }
            Verdict::Allow => {}
            Verdict::Ask(prompt) if is_owners => {
                asks.push(ask(DecisionKind::OwnerApproval, prompt));
            }
            Verdict::Ask(prompt) => asks.push(ask(DecisionKind::Approval, prompt)),
            Verdict::Refuse => {
                return Err(Outcome::not_done(REFUSED_BY_POLICY, NotDone::Forbidden));
            }
        }
        // A question from before the interruption needs its answer, even if the policy has changed.
        for before in self.people.asked_about(&call.id) {
            if !asks.iter().any(|ask| ask.kind == before.kind) {
                asks.push(before.clone());
            }
        }
        Ok(asks)
    }
}

fn unsettled(cut: Cut) -> Outcome {
    match cut {
        Cut::LogLost(_) => Outcome::cut(LOG_LOST, cut),
        Cut::Stopped | Cut::Parked | Cut::Enough(_) | Cut::Failed { .. } => {
            Outcome::cut(STOPPED, cut)
        }
    }
}

fn refused(kind: DecisionKind, settled: &Settled) -> Outcome {
    let (text, reason) = if settled.is_answered {
        (REFUSED, NotDone::Refused)
    } else {
        (NOT_APPROVED, NotDone::Unanswered)
    };
    let cut = match kind {
        DecisionKind::Budget => Some(Cut::Enough(None)),
        DecisionKind::Question
        | DecisionKind::Approval
        | DecisionKind::OwnerApproval
        | DecisionKind::SafetyCheck
        | DecisionKind::Network => None,
    };
    Outcome {
        cut,
        ..Outcome::not_done(text, reason)
    }
}
