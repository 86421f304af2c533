//! Changing a session: its name, its model, what its agent is told and what it must ask.

use deskhand_core::{
    budget::ChangeBudget,
    id::{SessionId, UserId},
    policy::Policy,
    right::Right,
    session::{LONGEST_INSTRUCTIONS_BYTES, Session},
    viewer::Viewer,
};

use super::{BadInstructions, ChangeSessionError, FindError, LONGEST_TITLE, Sessions};

/// What to change of a session. At least one of them.
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
        self.find_with(needed, viewer, id).await?;
        let store = &self.shared.store;
        if let Some(model) = &change.model {
            self.shared.check_model(model)?;
            let changed = self.shared.log.set_model(id, model, by).await;
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
            self.shared.budget_news.send_replace(());
        }
        self.shared.bus.changed(id);
        Ok(self.find(viewer, id).await?)
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
