//! Approval policies of sessions, and the defaults of users.

use deskhand_core::{
    audit::{AuditAction, AuditStamp, Requester},
    decision::{AnswerScope, Ask, Reply, Settlement},
    event::{EventBody, SessionChanged},
    id::{SessionId, UserId},
    policy::{Policy, Rule},
};

use crate::{
    audit::NewEntry,
    commit::HeldSession,
    database::{Row, Store, StoreError, Transaction, from_json, json},
    people::name_of,
};

impl Store {
    /// Returns the policy of a user's new sessions. Returns `None` if there is no such user.
    pub async fn default_approvals(&self, user: UserId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM users WHERE id = $1";
        let row = self.one(sql, [user.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }

    /// Sets the policy of a user's new sessions.
    pub async fn set_default_approvals(
        &self,
        user: UserId,
        policy: &Policy,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let sql = "UPDATE users SET approvals = $1 WHERE id = $2";
        tx.execute(sql, [json(policy)?.into(), user.0.into()])
            .await?;
        let changed = NewEntry::new(AuditAction::DefaultApprovalsChanged).about(user);
        let changed = with_policy(changed, policy);
        changed.append(&mut tx, stamp).await?;
        tx.commit().await
    }

    /// Returns the policy of a session. Returns `None` if there is no such session.
    pub async fn approvals(&self, session: SessionId) -> Result<Option<Policy>, StoreError> {
        let sql = "SELECT approvals FROM sessions WHERE id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map(|row| policy(&row)).transpose()
    }
}

/// Returns the policy of a user's new sessions.
pub(crate) async fn default_policy(
    tx: &mut Transaction,
    user: UserId,
) -> Result<Policy, StoreError> {
    let sql = "SELECT approvals FROM users WHERE id = $1";
    let row = tx.one(sql, [user.0.into()]).await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("user {user}")))?;
    policy(&row)
}

/// The rule that an answer adds, with the person who gave it.
struct AnsweredRule<'a> {
    rule: &'a Rule,
    scope: AnswerScope,
    by: UserId,
}

impl<'a> AnsweredRule<'a> {
    fn of(ask: &'a Ask, settlement: &Settlement) -> Option<Self> {
        match (&ask.rule, settlement.reply(), settlement.by()) {
            (Some(rule), Some(Reply::YesFor(scope)), Some(by)) => Some(Self {
                rule,
                scope: *scope,
                by,
            }),
            _ => None,
        }
    }
}

/// Adds the rule of an answered question to the session's policy, and to the one of the owner's new sessions if it always
/// holds. Returns `false` and adds nothing if one of them is full.
pub(crate) async fn add_answered_rule(
    session: &mut HeldSession,
    ask: &Ask,
    settlement: &Settlement,
) -> Result<bool, StoreError> {
    let Some(answered) = AnsweredRule::of(ask, settlement) else {
        return Ok(true);
    };
    let is_for_owner = answered.scope == AnswerScope::Always;
    let mut policies = vec![session_policy(session).await?];
    if is_for_owner {
        policies.push(default_policy(&mut session.tx, session.owner).await?);
    }
    let has_room = |mut policy: Policy| policy.add(answered.rule.clone()).is_ok();
    if !policies.into_iter().all(has_room) {
        return Ok(false);
    }
    add_to_session(session, &answered).await?;
    if is_for_owner {
        add_for_owner(session, &answered).await?;
    }
    Ok(true)
}

async fn session_policy(session: &mut HeldSession) -> Result<Policy, StoreError> {
    let sql = "SELECT approvals FROM sessions WHERE id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("session {}", session.id)))?;
    policy(&row)
}

async fn add_to_session(
    session: &mut HeldSession,
    answered: &AnsweredRule<'_>,
) -> Result<(), StoreError> {
    let before = session_policy(session).await?;
    let mut policy = before.clone();
    if policy.add(answered.rule.clone()).is_err() || policy == before {
        return Ok(());
    }
    let sql = "UPDATE sessions SET approvals = $1 WHERE id = $2";
    let values = [json(&policy)?.into(), session.id.0.into()];
    session.tx.execute(sql, values).await?;
    let entry = NewEntry::new(AuditAction::ApprovalsChanged).about(session.owner);
    let entry = with_policy(entry.within(session.id), &policy);
    let stamp = Requester::from(answered.by).at(session.at);
    entry.append(&mut session.tx, stamp).await?;
    let changed = EventBody::Changed(SessionChanged {
        by: answered.by,
        by_name: name_of(&mut session.tx, answered.by).await?,
        title: None,
        instructions: None,
        approvals: Some(policy),
        budget: None,
        network: None,
        mcp_servers: None,
        effort: None,
    });
    session.tell(&changed).await?;
    Ok(())
}

async fn add_for_owner(
    session: &mut HeldSession,
    answered: &AnsweredRule<'_>,
) -> Result<(), StoreError> {
    let before = default_policy(&mut session.tx, session.owner).await?;
    let mut policy = before.clone();
    if policy.add(answered.rule.clone()).is_err() || policy == before {
        return Ok(());
    }
    let sql = "UPDATE users SET approvals = $1 WHERE id = $2";
    let values = [json(&policy)?.into(), session.owner.0.into()];
    session.tx.execute(sql, values).await?;
    let entry = NewEntry::new(AuditAction::DefaultApprovalsChanged).about(session.owner);
    let entry = with_policy(entry.within(session.id), &policy);
    let stamp = Requester::from(answered.by).at(session.at);
    entry.append(&mut session.tx, stamp).await
}

/// Adds a policy to an audit entry.
pub(crate) fn with_policy(entry: NewEntry, policy: &Policy) -> NewEntry {
    entry.with("mode", policy.mode).with("rules", &policy.rules)
}

pub(crate) fn policy(row: &Row) -> Result<Policy, StoreError> {
    from_json(row.get("approvals")?)
}
