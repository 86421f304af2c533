//! Changing a session: its name, its model, what its agent is told and what it must ask.

use deskhand_core::{
    budget::{BadBudget, ChangeBudget},
    id::{SessionId, UserId},
    model::UnknownModel,
    policy::{BadPolicy, Policy},
    right::Right,
    session::{LONGEST_INSTRUCTIONS_BYTES, Session},
    viewer::Viewer,
};

use super::{
    FindError, LONGEST_TITLE, Sessions,
    find::{find, find_with},
};
use crate::{refusal::refusals, signals::Topic};

/// The changes to a session. At least one of them.
#[derive(Debug, Default)]
pub struct ChangeSession {
    pub title: Option<String>,
    pub approvals: Option<Policy>,
    /// From the next turn on.
    pub model: Option<String>,
    /// From the next turn on; empty for none.
    pub instructions: Option<String>,
    pub budget: Option<ChangeBudget>,
}

/// Reasons instructions are not taken.
#[derive(Debug, thiserror::Error)]
pub enum BadInstructions {
    #[error("instructions have at most {LONGEST_INSTRUCTIONS_BYTES} bytes, not {0}")]
    Long(usize),
    #[error("instructions cannot hold the character U+0000")]
    Nul,
}

refusals! {
    BadInstructions passes on;
    Self::Long(_) | Self::Nul => Invalid("bad_instructions"),
}

/// Reasons a session was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeSessionError {
    #[error("say what to change: title, model, instructions, approvals or budget")]
    Nothing,
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error(transparent)]
    BadInstructions(#[from] BadInstructions),
    #[error(transparent)]
    BadPolicy(#[from] BadPolicy),
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    #[error("a title has at most {LONGEST_TITLE} characters")]
    LongTitle,
    #[error("session {0} has ended; there is no next turn for another model")]
    Ended(SessionId),
    #[error(transparent)]
    Find(#[from] FindError),
}

refusals! {
    ChangeSessionError passes on UnknownModel, BadInstructions, Find;
    Self::Nothing => Invalid("malformed"),
    Self::LongTitle => Invalid("long_title"),
    Self::BadPolicy(_) => Invalid("bad_policy"),
    Self::BadBudget(_) => Invalid("bad_budget"),
    Self::Ended(_) => Conflict("session_ended"),
}

impl Sessions {
    /// Names a session, or changes its model, or what its agent is told, must ask or may use.
    pub async fn change(
        &self,
        by: UserId,
        id: SessionId,
        change: ChangeSession,
    ) -> Result<Session, ChangeSessionError> {
        let title = change.title.as_deref().map(str::trim);
        if title.is_some_and(|title| title.chars().count() > LONGEST_TITLE) {
            return Err(ChangeSessionError::LongTitle);
        }
        if let Some(policy) = &change.approvals {
            policy.check()?;
        }
        if let Some(instructions) = &change.instructions {
            check_instructions(instructions)?;
        }
        if let Some(budget) = &change.budget {
            budget.check()?;
        }
        // Whoever drives tells the agent what to do; the rest is the owner's.
        let of_owner = title.is_some() || change.approvals.is_some() || change.budget.is_some();
        let of_driver = change.model.is_some() || change.instructions.is_some();
        let needed = match (of_owner, of_driver) {
            (false, false) => return Err(ChangeSessionError::Nothing),
            (false, true) => Right::Drive,
            (true, _) => Right::Owner,
        };
        let viewer = Viewer::User(by);
        let store = &self.0.store;
        find_with(store, needed, viewer, id).await?;
        if let Some(model) = &change.model {
            self.0.catalog.check(model)?;
            let changed = self.0.log.set_model(id, model, by).await;
            if !changed.map_err(FindError::from)? {
                return Err(ChangeSessionError::Ended(id));
            }
        }
        if let Some(instructions) = &change.instructions {
            let changed = store.set_instructions(id, instructions).await;
            changed.map_err(FindError::from)?;
        }
        if let Some(title) = title {
            let renamed = store.set_title(viewer, id, title).await;
            if !renamed.map_err(FindError::from)? {
                return Err(FindError::NoSession(id).into());
            }
        }
        if let Some(policy) = &change.approvals {
            let changed = store.set_approvals(id, policy).await;
            changed.map_err(FindError::from)?;
        }
        if let Some(budget) = change.budget {
            let changed = store.set_budget(id, budget).await;
            changed.map_err(FindError::from)?;
            self.0.signals.send(Topic::SessionBudget(id));
        }
        self.0.bus.changed(id);
        Ok(find(store, viewer, id).await?)
    }
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
