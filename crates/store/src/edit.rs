//! Changes to the settings of a session: title, model, effort, instructions, approvals, budget, network and MCP
//! servers.

use deskhand_core::{
    audit::{AuditAction, Requester},
    budget::{Amount, Budget, ChangeBudget},
    event::{EventBody, ModelChanged, SessionChanged},
    id::UserId,
    model::Effort,
    network::policy::NetworkPolicy,
    policy::Policy,
    tool_server::spec::McpServerSpec,
};

use crate::{
    approvals::{policy, with_policy},
    audit::NewEntry,
    budgets::{budget, granted, nano, stored_tokens, used},
    commit::{Change, HeldSession},
    database::{Row, StoreError, from_json, json, stored_count},
    messages::effort,
    network::network_policy,
    people::name_of,
};

/// Changes settings of a session, all of them together. Absent settings stay as they are.
#[derive(Debug)]
pub struct EditSession {
    pub by: UserId,
    /// The same person, for the audit log.
    pub requester: Requester,
    pub title: Option<String>,
    /// The model from the next turn on. An ended session refuses it.
    pub model: Option<String>,
    /// The effort from the next turn on. `Some(None)` leaves it to the server's settings.
    pub effort: Option<Option<Effort>>,
    /// The instructions from the next turn on.
    pub instructions: Option<String>,
    pub approvals: Option<Policy>,
    /// The change to the budget. Amounts granted in addition to the old budget end with it.
    pub budget: Option<ChangeBudget>,
    pub network: Option<NetworkPolicy>,
    /// The MCP servers. None can be added once the tools of the session are fixed.
    pub mcp_servers: Option<Vec<McpServerSpec>>,
}

/// The reason why settings are not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditRefused {
    NoSession,
    /// The session has ended and needs no model.
    Ended,
    /// The tools of the session are fixed, and an MCP server would add others.
    ToolsFixed,
}

/// The settings that a session gets anew when its owner changes.
#[derive(Debug)]
pub(crate) struct FreshSettings {
    pub(crate) approvals: Policy,
    pub(crate) budget: Budget,
    pub(crate) network: NetworkPolicy,
}

/// The settings in a session's row.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    title: String,
    model: String,
    effort: Option<Effort>,
    instructions: String,
    /// The last person who wrote the instructions, or confirmed them by storing the same text again.
    instructions_by: Option<uuid::Uuid>,
    approvals: Policy,
    budget: Budget,
    granted: Amount,
    network: NetworkPolicy,
    mcp_servers: Vec<McpServerSpec>,
}

impl Change for EditSession {
    type Output = ();
    type Refusal = EditRefused;

    fn no_session(&self) -> EditRefused {
        EditRefused::NoSession
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), EditRefused>, StoreError> {
        if self.model.is_some() && session.is_terminated() {
            return Ok(Err(EditRefused::Ended));
        }
        let (by, requester) = (self.by, self.requester);
        let before = read(session).await?;
        let after = self.applied_to(before.clone());
        if adds_server(&before, &after) && has_fixed_tools(session).await? {
            return Ok(Err(EditRefused::ToolsFixed));
        }
        change(session, by, requester, &before, after).await?;
        Ok(Ok(()))
    }
}

impl EditSession {
    fn applied_to(self, before: Settings) -> Settings {
        let change = self.budget.unwrap_or_default();
        let instructor = self.instructions.as_ref().map(|_| self.by.0);
        Settings {
            instructions_by: instructor.or(before.instructions_by),
            title: self.title.unwrap_or(before.title),
            model: self.model.unwrap_or(before.model),
            effort: self.effort.unwrap_or(before.effort),
            instructions: self.instructions.unwrap_or(before.instructions),
            approvals: self.approvals.unwrap_or(before.approvals),
            budget: before.budget.with(change),
            granted: Amount {
                usd: change.usd.map_or(before.granted.usd, |_| 0.0),
                tokens: change.tokens.map_or(before.granted.tokens, |_| 0),
            },
            network: self.network.unwrap_or(before.network),
            mcp_servers: self.mcp_servers.unwrap_or(before.mcp_servers),
        }
    }
}

fn adds_server(before: &Settings, after: &Settings) -> bool {
    let is_new = |server: &McpServerSpec| {
        let mut known = before.mcp_servers.iter();
        !known.any(|known| known.name == server.name)
    };
    after.mcp_servers.iter().any(is_new)
}

/// Returns true if the first turn of the session has begun.
async fn has_fixed_tools(session: &mut HeldSession) -> Result<bool, StoreError> {
    let sql = "SELECT briefing IS NOT NULL AS is_fixed FROM sessions WHERE id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    row.map_or(Ok(false), |row| row.get("is_fixed"))
}

impl Settings {
    /// Returns the event for all changes except the model, which has its own.
    fn difference_to(self, before: &Self, by: UserId, by_name: String) -> SessionChanged {
        let has_other_budget = (self.budget, self.granted) != (before.budget, before.granted);
        SessionChanged {
            by,
            by_name,
            title: other(self.title, &before.title),
            effort: other(self.effort, &before.effort),
            instructions: other(self.instructions, &before.instructions),
            approvals: other(self.approvals, &before.approvals),
            budget: has_other_budget.then_some(self.budget),
            network: other(self.network, &before.network),
            mcp_servers: other(self.mcp_servers, &before.mcp_servers),
        }
    }
}

/// Gives a session the settings of a new one, for its new owner. Earlier usage does not count towards the budget.
pub(crate) async fn reset_settings(
    session: &mut HeldSession,
    owner: UserId,
    requester: Requester,
    fresh: FreshSettings,
) -> Result<(), StoreError> {
    let sql = "SELECT cost_nanousd, tokens FROM sessions WHERE id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    let used = row.map_or(Ok(Amount::default()), |row| used(&row))?;
    let before = read(session).await?;
    let after = Settings {
        approvals: fresh.approvals,
        budget: fresh.budget,
        granted: used,
        network: fresh.network,
        // The giver chose them, and their tools would act for the new owner.
        mcp_servers: Vec::new(),
        ..before.clone()
    };
    change(session, owner, requester, &before, after).await
}

/// Stores settings, with events and audit entries about the changes.
async fn change(
    session: &mut HeldSession,
    by: UserId,
    requester: Requester,
    before: &Settings,
    after: Settings,
) -> Result<(), StoreError> {
    if after == *before {
        return Ok(());
    }
    write(session, &after).await?;
    let by_name = name_of(&mut session.tx, by).await?;
    if after.model != before.model {
        let changed = EventBody::Model(ModelChanged {
            model: after.model.clone(),
            by,
            by_name: by_name.clone(),
        });
        session.tell(&changed).await?;
    }
    let changed = after.difference_to(before, by, by_name);
    audit(session, &changed, requester).await?;
    if !changed.is_empty() {
        session.tell(&EventBody::Changed(changed)).await?;
    }
    Ok(())
}

/// Records changes to the approvals, the budget, the network and the MCP servers.
async fn audit(
    session: &mut HeldSession,
    changed: &SessionChanged,
    requester: Requester,
) -> Result<(), StoreError> {
    let (id, owner, stamp) = (session.id, session.owner, requester.at(session.at));
    if let Some(policy) = &changed.approvals {
        let entry = NewEntry::new(AuditAction::ApprovalsChanged).about(owner);
        let entry = with_policy(entry.within(id), policy);
        entry.append(&mut session.tx, stamp).await?;
    }
    if let Some(budget) = &changed.budget {
        let usd = budget.usd.map(|usd| format!("${usd}"));
        let tokens = budget.tokens.map(|tokens| format!("{tokens} tokens"));
        let words: Vec<_> = usd.into_iter().chain(tokens).collect();
        let words = if words.is_empty() {
            "no limit".to_owned()
        } else {
            words.join(" and ")
        };
        let entry = NewEntry::new(AuditAction::BudgetChanged).about(owner);
        let entry = entry.within(id).with("budget", words);
        entry.append(&mut session.tx, stamp).await?;
    }
    if let Some(network) = &changed.network {
        let entry = NewEntry::new(AuditAction::NetworkChanged).about(owner);
        let entry = entry.within(id).with("mode", network.mode);
        let entry = entry.with("allow", &network.allow);
        entry.append(&mut session.tx, stamp).await?;
    }
    if let Some(servers) = &changed.mcp_servers {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let entry = NewEntry::new(AuditAction::McpServersChanged).about(owner);
        let entry = entry.within(id).with("servers", names.join(", "));
        entry.append(&mut session.tx, stamp).await?;
    }
    Ok(())
}

fn other<T: PartialEq>(after: T, before: &T) -> Option<T> {
    Some(after).filter(|after| after != before)
}

async fn read(session: &mut HeldSession) -> Result<Settings, StoreError> {
    let sql = "SELECT title, model, effort, instructions, instructions_by, approvals, budget_nanousd, \
               budget_tokens, granted_nanousd, granted_tokens, network, mcp_servers \
               FROM sessions WHERE id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("session {}", session.id)))?;
    settings(&row)
}

fn settings(row: &Row) -> Result<Settings, StoreError> {
    Ok(Settings {
        title: row.get("title")?,
        model: row.get("model")?,
        effort: effort(row)?,
        instructions: row.get("instructions")?,
        instructions_by: row.get("instructions_by")?,
        approvals: policy(row)?,
        budget: budget(row)?,
        granted: granted(row)?,
        network: network_policy(row)?,
        mcp_servers: from_json(row.get("mcp_servers")?)?,
    })
}

async fn write(session: &mut HeldSession, settings: &Settings) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET title = $1, model = $2, instructions = $3, approvals = $4, \
               budget_nanousd = $5, budget_tokens = $6, granted_nanousd = $7, granted_tokens = $8, \
               network = $9, instructions_by = $10, mcp_servers = $11, effort = $12 WHERE id = $13";
    let values = [
        settings.title.as_str().into(),
        settings.model.as_str().into(),
        settings.instructions.as_str().into(),
        json(&settings.approvals)?.into(),
        settings.budget.usd.map(nano).into(),
        stored_tokens(settings.budget.tokens),
        nano(settings.granted.usd).into(),
        stored_count(settings.granted.tokens),
        json(&settings.network)?.into(),
        settings.instructions_by.into(),
        json(&settings.mcp_servers)?.into(),
        settings.effort.map(Effort::as_str).into(),
        session.id.0.into(),
    ];
    session.tx.execute(sql, values).await?;
    Ok(())
}
