//! Changing a session's settings: title, model, effort, instructions, approvals, budget, network and MCP servers.

use deskhand_core::{
    audit::Requester,
    budget::{BadBudget, ChangeBudget},
    id::{SessionId, UserId},
    model::{Effort, UnknownModel},
    network::policy::NetworkPolicy,
    plain::is_deceptive,
    policy::{BadPolicy, Policy},
    right::Right,
    session::{LONGEST_INSTRUCTIONS_BYTES, Session},
    tool_server::spec::McpServerSpec,
    viewer::Viewer,
};
use deskhand_store::{EditRefused, EditSession};

use super::{
    FindError, LONGEST_TITLE, Sessions,
    find::{find, find_with},
};
use crate::{BadMcpServers, BadNetwork, refusal::refusals, signals::Topic};

/// New settings of a session, at least one of them.
#[derive(Debug, Default)]
pub struct ChangeSession {
    pub title: Option<String>,
    pub approvals: Option<Policy>,
    /// The model from the next turn on.
    pub model: Option<String>,
    /// The effort from the next turn on. `Some(None)` leaves it to the server's settings.
    pub effort: Option<Option<Effort>>,
    /// The instructions from the next turn on. Empty for none.
    pub instructions: Option<String>,
    pub budget: Option<ChangeBudget>,
    /// The new network policy, which applies at once.
    pub network: Option<NetworkPolicy>,
    /// All MCP servers of the session. None can be added after its first turn has begun.
    pub mcp_servers: Option<Vec<McpServerSpec>>,
}

/// The reason why instructions are refused.
#[derive(Debug, thiserror::Error)]
pub enum BadInstructions {
    #[error("instructions have at most {LONGEST_INSTRUCTIONS_BYTES} bytes, not {0}")]
    Long(usize),
    #[error("instructions cannot contain the character U+0000")]
    Nul,
}

refusals! {
    BadInstructions passes on;
    Self::Long(_) | Self::Nul => Invalid("bad_instructions"),
}

/// The reason why a title is refused.
#[derive(Debug, thiserror::Error)]
pub enum BadTitle {
    #[error("a title has at most {LONGEST_TITLE} characters")]
    Long,
    #[error(
        "a title cannot contain control characters, or those that change the direction of text"
    )]
    Deceptive,
}

refusals! {
    BadTitle passes on;
    Self::Long => Invalid("long_title"),
    Self::Deceptive => Invalid("bad_title"),
}

/// The reason why a session was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeSessionError {
    #[error(
        "nothing to change: give title, model, effort, instructions, approvals, budget, network or mcp_servers"
    )]
    Nothing,
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error(transparent)]
    BadInstructions(#[from] BadInstructions),
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error(transparent)]
    BadTitle(#[from] BadTitle),
    #[error(transparent)]
    BadNetwork(#[from] BadNetwork),
    #[error(transparent)]
    BadMcpServers(#[from] BadMcpServers),
    #[error(
        "the tools of session {0} were fixed when its first turn began, so no MCP server can be added; create another session"
    )]
    ToolsFixed(SessionId),
    #[error("session {0} has ended; its model cannot be changed")]
    Ended(SessionId),
    #[error(transparent)]
    Find(#[from] FindError),
}

refusals! {
    ChangeSessionError passes on UnknownModel, BadInstructions, BadTitle, BadNetwork, BadMcpServers, Find;
    Self::Nothing => Invalid("malformed"),
    Self::BadPolicy(_) => Invalid("bad_policy"),
    Self::BadBudget(_) => Invalid("bad_budget"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::ToolsFixed(_) => Conflict("tools_fixed"),
}

impl ChangeSession {
    fn check(&self) -> Result<(), ChangeSessionError> {
        if let Some(title) = &self.title {
            check_title(title)?;
        }
        if let Some(policy) = &self.approvals {
            policy.check()?;
        }
        if let Some(instructions) = &self.instructions {
            check_instructions(instructions)?;
        }
        if let Some(budget) = &self.budget {
            budget.check()?;
        }
        Ok(())
    }

    /// Returns the right that the change needs. A driver may change what the agent is to do; only the owner may
    /// change the rest.
    fn needed(&self) -> Result<Right, ChangeSessionError> {
        let of_owner = self.title.is_some()
            || self.approvals.is_some()
            || self.budget.is_some()
            || self.network.is_some()
            || self.mcp_servers.is_some();
        let of_driver =
            self.model.is_some() || self.effort.is_some() || self.instructions.is_some();
        match (of_owner, of_driver) {
            (false, false) => Err(ChangeSessionError::Nothing),
            (false, true) => Ok(Right::Drive),
            (true, _) => Ok(Right::Owner),
        }
    }
}

impl Sessions {
    /// Changes settings of a session, all of them or none.
    pub async fn change(
        &self,
        by: UserId,
        requester: Requester,
        id: SessionId,
        change: ChangeSession,
    ) -> Result<Session, ChangeSessionError> {
        change.check()?;
        if let Some(network) = &change.network {
            self.0.network.check(network)?;
        }
        if let Some(servers) = &change.mcp_servers {
            self.0.tool_servers.check(servers)?;
        }
        let (store, viewer) = (&self.0.store, Viewer::User(by));
        find_with(store, change.needed()?, viewer, id).await?;
        if let Some(model) = &change.model {
            self.0.catalog.check(model)?;
        }
        let has_other_network = change.network.is_some();
        let edit = EditSession {
            by,
            requester,
            title: change.title.map(|title| title.trim().to_owned()),
            model: change.model,
            effort: change.effort,
            instructions: change.instructions,
            approvals: change.approvals,
            budget: change.budget,
            network: change.network,
            mcp_servers: change.mcp_servers,
        };
        let edited = self.0.log.commit(id, edit).await;
        match edited.map_err(FindError::from)? {
            Ok(()) => {}
            Err(EditRefused::NoSession) => return Err(FindError::NoSession(id).into()),
            Err(EditRefused::Ended) => return Err(ChangeSessionError::Ended(id)),
            Err(EditRefused::ToolsFixed) => return Err(ChangeSessionError::ToolsFixed(id)),
        }
        if change.budget.is_some() {
            self.0.signals.send(Topic::SessionBudget(id));
        }
        if has_other_network {
            let rechecked = self.0.network.recheck(id).await;
            rechecked.map_err(FindError::from)?;
        }
        Ok(find(store, viewer, id).await?)
    }
}

pub(super) fn check_title(title: &str) -> Result<(), BadTitle> {
    let title = title.trim();
    if title.chars().count() > LONGEST_TITLE {
        return Err(BadTitle::Long);
    }
    if title.contains(is_deceptive) {
        return Err(BadTitle::Deceptive);
    }
    Ok(())
}

pub(super) fn check_instructions(instructions: &str) -> Result<(), BadInstructions> {
    if instructions.len() > LONGEST_INSTRUCTIONS_BYTES {
        return Err(BadInstructions::Long(instructions.len()));
    }
    if instructions.contains('\0') {
        return Err(BadInstructions::Nul);
    }
    Ok(())
}
