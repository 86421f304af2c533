//! Reveals the values of secrets for requests of sandboxes, with the consent of their owner.
//!
//! While the agent works on messages of the owner, the policy decides. Otherwise the owner is asked. A yes is valid for
//! this secret at this site until the sandbox ends.

use std::sync::Arc;

use async_trait::async_trait;
use deskhand_core::{
    decision::{Ask, DecisionKind, DecisionState, Form, Reply, Subject},
    id::{SessionId, TurnId},
    network::stand_in::{SecretValues, StandInAccess, UsePlace, UseRefusal},
    policy::{CallSubject, Proposal, Reach, Risk, Verdict},
    secret::Secret,
    vault::SecretName,
};
use deskhand_store::StoreError;

use super::{NetworkAccess, questions::Asking};
use crate::{
    session_computer::{SandboxSecrets, SecretAtSite},
    vault::{FindSecretError, FoundSecret},
};

/// The name of the tool in policies and in the subject of the question.
const TOOL: &str = "http_secret";

/// The uses of secrets in one sandbox.
#[derive(Debug)]
struct SecretUses {
    network: NetworkAccess,
    session: SessionId,
    sandbox: Arc<SandboxSecrets>,
}

/// The party on whose behalf a program acts.
enum Acting {
    /// The owner, who has control.
    Owner,
    /// Another person, who has control, or nobody knows who, because control changes hands.
    Other(TurnId),
    /// The agent.
    Agent(TurnId),
}

impl NetworkAccess {
    /// Returns the stand-ins of a session's running sandbox, if it has some.
    pub(super) fn stand_ins(&self, session: SessionId) -> Option<StandInAccess> {
        let live = self.0.parts.live.get(session)?;
        let sandbox = live.desk.running()?.http_secrets()?;
        let stand_ins = Arc::clone(&sandbox.stand_ins);
        let values = SecretUses {
            network: self.clone(),
            session,
            sandbox,
        };
        Some(StandInAccess {
            stand_ins,
            values: Arc::new(values),
        })
    }
}

#[async_trait]
impl SecretValues for SecretUses {
    async fn reveal(&self, name: &SecretName, place: &UsePlace) -> Result<Secret, UseRefusal> {
        // The secret is looked up first, so that nobody is asked about one that was removed.
        self.find(name, place).await?;
        let at = SecretAtSite {
            name: name.clone(),
            origin: place.origin.clone(),
        };
        self.consent(&at).await?;
        // It may have been changed or removed while people were asked.
        let found = self.find(name, place).await?;
        self.sandbox.note_revealed(name, &found.value);
        self.note_use(&found).await;
        Ok(found.value)
    }

    fn revealed(&self) -> Vec<(String, Secret)> {
        self.sandbox.revealed()
    }
}

impl SecretUses {
    /// Returns a secret with its value, if it may be sent to this place.
    async fn find(&self, name: &SecretName, place: &UsePlace) -> Result<FoundSecret, UseRefusal> {
        let vault = &self.network.0.parts.vault;
        let found = vault.find(self.session, name).await;
        let found = found.map_err(|error| match error {
            FindSecretError::None { .. } => UseRefusal::Gone,
            FindSecretError::Locked(_) => UseRefusal::Locked,
            FindSecretError::Store(error) => self.failed(&error),
        })?;
        let headers = found.http.as_ref().map(|http| &http.headers[..]);
        let is_named = headers.is_some_and(|headers| headers.contains(&place.header));
        if is_named && found.origins.contains(&place.origin) {
            Ok(found)
        } else {
            Err(UseRefusal::Gone)
        }
    }

    async fn consent(&self, at: &SecretAtSite) -> Result<(), UseRefusal> {
        if self.sandbox.is_approved(at) {
            return Ok(());
        }
        let acting = self.acting()?;
        let turn = match acting {
            Acting::Owner => return Ok(()),
            Acting::Other(turn) | Acting::Agent(turn) => turn,
        };
        let is_agent = matches!(acting, Acting::Agent(_));
        let proposal = proposal(at);
        let policy = self.network.0.parts.store.approvals(self.session).await;
        let policy = policy.map_err(|error| self.failed(&error))?;
        match policy
            .ok_or(UseRefusal::NobodyToAsk)?
            .verdict(&proposal, Reach::Connected)
        {
            Verdict::Refuse => Err(UseRefusal::Policy),
            Verdict::Allow if is_agent && self.is_for_owner(turn).await? => Ok(()),
            Verdict::Allow | Verdict::Ask(_) => self.ask(at, turn, &proposal).await,
        }
    }

    fn acting(&self) -> Result<Acting, UseRefusal> {
        let live = self.network.0.parts.live.get(self.session);
        let live = live.ok_or(UseRefusal::NobodyToAsk)?;
        if live.desk.is_driven_by(live.owner()) {
            return Ok(Acting::Owner);
        }
        // A question belongs to a turn.
        let (turn, _) = live.at_work().ok_or(UseRefusal::NobodyToAsk)?;
        // While control changes hands, a program could be of either side.
        Ok(if live.desk.is_held() {
            Acting::Other(turn)
        } else {
            Acting::Agent(turn)
        })
    }

    async fn is_for_owner(&self, turn: TurnId) -> Result<bool, UseRefusal> {
        let store = &self.network.0.parts.store;
        let is_for_owner = store.is_turn_of_owner(self.session, turn).await;
        is_for_owner.map_err(|error| self.failed(&error))
    }

    /// Asks the owner, and waits for the answer. Requests with the same secret for the same site share one question.
    async fn ask(
        &self,
        at: &SecretAtSite,
        turn: TurnId,
        proposal: &Proposal,
    ) -> Result<(), UseRefusal> {
        let (network, session) = (&self.network, self.session);
        let waiter = network.waiter(session);
        let id = match self.sandbox.asking(at, turn) {
            Asking::Answered(answer) => return answer,
            Asking::Full => return Err(UseRefusal::TooManyQuestions),
            Asking::Asked(id) => id,
            Asking::New(id) => {
                let question = self.question(at, proposal);
                let problem = match network.raise(session, turn, id, &question).await {
                    Ok(true) => None,
                    // The turn has just ended.
                    Ok(false) => Some(UseRefusal::NobodyToAsk),
                    Err(error) => Some(self.failed(&error)),
                };
                if let Some(reason) = problem {
                    self.sandbox.settled(at, id, None);
                    network.wake(session);
                    return Err(reason);
                }
                id
            }
        };
        let is_asked = || self.sandbox.is_asked(at, id);
        let answered = match network.settled(session, id, waiter, is_asked).await {
            Ok(Some((DecisionState::Answered, Some(reply)))) if reply.is_yes() => Ok(()),
            Ok(Some((DecisionState::Answered, _))) => Err(UseRefusal::Denied),
            Ok(_) => Err(UseRefusal::NotAnswered),
            Err(error) => Err(self.failed(&error)),
        };
        if answered.is_ok() {
            self.sandbox.approve(at);
        }
        // If the database failed, the next request waits for the same question. A yes was remembered above.
        if answered != Err(UseRefusal::Failed) {
            self.sandbox.settled(at, id, answered.err().map(Err));
        }
        answered
    }

    fn question(&self, at: &SecretAtSite, proposal: &Proposal) -> Ask {
        let SecretAtSite { name, origin } = at;
        Ask {
            call: None,
            kind: DecisionKind::OwnerApproval,
            prompt: format!("{}. A yes holds until the desktop stops.", proposal.wish),
            form: Form::YesNo,
            subject: Some(Subject {
                tool: TOOL.to_owned(),
                input: serde_json::json!({"name": name, "site": origin}),
            }),
            over: None,
            rule: None,
            default: Some(Reply::Yes(false)),
            expires_at: Some(self.network.expiry()),
        }
    }

    /// Stores that a secret was used, at most once a minute.
    async fn note_use(&self, found: &FoundSecret) {
        let parts = &self.network.0.parts;
        if !self.sandbox.is_use_due(found.id, parts.clock.now()) {
            return;
        }
        if let Err(error) = parts.vault.note_use(self.session, found.id).await {
            let error = &error as &dyn std::error::Error;
            tracing::error!(session.id = %self.session, error, "could not store the use of a secret");
        }
    }

    fn failed(&self, error: &StoreError) -> UseRefusal {
        let error = error as &dyn std::error::Error;
        tracing::error!(session.id = %self.session, error, "could not decide about the use of a secret");
        UseRefusal::Failed
    }
}

fn proposal(at: &SecretAtSite) -> Proposal {
    let SecretAtSite { name, origin } = at;
    Proposal {
        tool: TOOL.to_owned(),
        subject: CallSubject::text(name.to_string()),
        risk: Risk::Risky(None),
        wish: format!("A program wants to use the secret {name} in requests to {origin}"),
    }
}
