//! People's approval of a call before it is carried out.

use std::time::Duration;

use deskhand_core::{
    browser::{ElementAt, PointedElement},
    decision::{Ask, DecisionKind, Form, Reply, Subject},
    event::NotDone,
    model::{REFUSED_BECAUSE, ToolCall},
    policy::{Policy, Reach, Risk, Rule, Verdict},
    sandbox::{Actor, Call, ComputerExt, FindElement},
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
/// The most time for finding an element, with everything that the computer still does before.
const FIND_MAX: Duration = Duration::from_secs(5);
const PAGE_CHANGED: &str =
    "Not executed: the page has changed since a person was asked. Look at it again.";
const LOG_LOST: &str = "Not executed: the question could not be stored.";

impl Work {
    /// Finds out what a click or a key is for, and asks people for every approval that the call needs. The error is the
    /// result of the call.
    pub(crate) async fn agreed(
        &mut self,
        call: &ToolCall,
        invocation: &mut dyn Invocation,
    ) -> Result<(), Outcome> {
        let policy = self.policy().await?;
        let at = invocation
            .element()
            .filter(|_| policy.depends_on_element(&invocation.proposal()));
        let Some(at) = at else {
            return self.approved(call, &*invocation).await.map(drop);
        };
        let seen = self.find_element(at.clone()).await?;
        if let Some(element) = &seen {
            invocation.note_element(element.clone());
        }
        if self.was_asked_about_another(call, &*invocation) {
            return Err(Outcome::not_done(PAGE_CHANGED, NotDone::Skipped));
        }
        // People may take hours.
        if self.approved(call, &*invocation).await? && !is_same(seen, self.find_element(at).await?)
        {
            return Err(Outcome::not_done(PAGE_CHANGED, NotDone::Skipped));
        }
        Ok(())
    }

    /// Returns true if people were asked about this call before an interruption, when another element was there.
    fn was_asked_about_another(&self, call: &ToolCall, invocation: &dyn Invocation) -> bool {
        let rule = invocation.proposal().rule();
        let asked = self.people.asked_about(&call.id);
        let mut rules = asked.filter(|ask| ask.kind == DecisionKind::Approval);
        rules.any(|ask| ask.rule.is_some() && ask.rule != rule)
    }

    /// Asks people for every approval that a call needs, and returns true if there was one. The error is the result of
    /// the call.
    pub(crate) async fn approved(
        &mut self,
        call: &ToolCall,
        invocation: &dyn Invocation,
    ) -> Result<bool, Outcome> {
        let policy = self.policy().await?;
        let asks = self.asks(call, invocation, &policy).await?;
        let is_asked = !asks.is_empty();
        for ask in asks {
            let kind = ask.kind;
            let settled = self
                .people
                .settle(ask, &self.signals, &mut self.stopwatch)
                .await
                .map_err(unsettled)?;
            if !settled.reply.as_ref().is_some_and(Reply::is_yes) {
                return Err(refused(kind, &settled));
            }
        }
        Ok(is_asked)
    }

    async fn policy(&self) -> Result<Policy, Outcome> {
        let policy = self.people.decisions.policy().await;
        policy.map_err(|error| unsettled(error.into()))
    }

    /// Returns the element that a click or a key is for, if the computer knows it.
    async fn find_element(&mut self, at: ElementAt) -> Result<Option<PointedElement>, Outcome> {
        let computer = match self.machine.computer(&self.signals).await {
            Ok(computer) => computer,
            // The call says so itself.
            Err(Cut::Failed { .. }) => return Ok(None),
            Err(cut) => return Err(unsettled(cut)),
        };
        let found = computer.perform(Call::by(Actor::Agent), FindElement { at });
        let found = tokio::select! {
            biased;
            cut = self.signals.stopped() => return Err(unsettled(cut)),
            found = tokio::time::timeout(FIND_MAX, found) => found,
        };
        // A computer that cannot be asked does not carry out the call either.
        Ok(found
            .ok()
            .and_then(Result::ok)
            .and_then(|found| found.element))
    }

    /// Returns the questions that people must say yes to before a call is carried out.
    async fn asks(
        &self,
        call: &ToolCall,
        invocation: &dyn Invocation,
        policy: &Policy,
    ) -> Result<Vec<Ask>, Outcome> {
        let ask = |kind: DecisionKind, prompt: String, rule: Option<Rule>| Ask {
            call: Some(call.id.clone()),
            kind,
            prompt,
            form: Form::YesNo,
            subject: Some(Subject {
                tool: call.tool.clone(),
                input: call.input.clone(),
            }),
            over: None,
            rule,
            default: None,
            expires_at: None,
        };
        let mut asks: Vec<_> = call
            .checks
            .iter()
            .map(|check| ask(check.kind, check.prompt.clone(), None))
            .collect();
        let decisions = &self.people.decisions;
        let proposal = invocation.proposal();
        let reach = match proposal.risk {
            Risk::ByCommand => decisions.reach().await,
            // It makes no difference to other calls.
            Risk::Exempt | Risk::Looks | Risk::Harmless | Risk::Risky(_) => Ok(Reach::Connected),
        };
        let reach = reach.map_err(|error| unsettled(error.into()))?;
        let is_owners = invocation.uses_owners_secret();
        match policy.verdict(&proposal, reach) {
            Verdict::Allow if is_owners => {
                let is_for_owner = decisions.is_for_owner().await;
                if !is_for_owner.map_err(|error| unsettled(error.into()))? {
                    let prompt = format!("{}.", proposal.wish);
                    asks.push(ask(DecisionKind::OwnerApproval, prompt, None));
                }
            }
            Verdict::Allow => {}
            Verdict::Ask(prompt) if is_owners => {
                asks.push(ask(DecisionKind::OwnerApproval, prompt, None));
            }
            Verdict::Ask(prompt) => {
                asks.push(ask(DecisionKind::Approval, prompt, proposal.rule()));
            }
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

/// Returns true if a person would take both for the same element.
fn is_same(before: Option<PointedElement>, now: Option<PointedElement>) -> bool {
    let marks = |element: PointedElement| (element.origin, element.role, element.name);
    before.map(marks) == now.map(marks)
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
    let because = settled.reply.as_ref().and_then(Reply::reason);
    let (text, reason) = match because {
        Some(because) => (format!("{REFUSED_BECAUSE} {because}"), NotDone::Refused),
        None if settled.is_answered => (REFUSED.to_owned(), NotDone::Refused),
        None => (NOT_APPROVED.to_owned(), NotDone::Unanswered),
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
