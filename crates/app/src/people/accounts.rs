//! User management for administrators.

use deskhand_core::{
    audit::Requester,
    id::UserId,
    secret::Secret,
    user::{BadName, User, UserPage, UserRole, check_name},
};
use deskhand_store::{ChangedUser, CodeReason, NewUser, UserChange};
use jiff::Timestamp;

use super::{sign_ins::INVITATION_LIFE, users::Users};
use crate::{InternalError, refusal::refusals, signals::Topic};

/// The changes to a user.
#[derive(Debug, Default)]
pub struct ChangeUser {
    pub name: Option<String>,
    pub role: Option<UserRole>,
    pub active: Option<bool>,
}

/// The reason why a user was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateUserError {
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error("a user named {0:?} already exists")]
    NameTaken(String),
    #[error("could not create the user")]
    Internal(#[source] InternalError),
}

refusals! {
    CreateUserError passes on Internal;
    Self::BadName(_) => Invalid("bad_name"),
    Self::NameTaken(_) => Conflict("name_taken"),
}

/// The reason why a user was not changed, or got no link.
#[derive(Debug, thiserror::Error)]
pub enum ChangeUserError {
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error("a user named {0:?} already exists")]
    NameTaken(String),
    #[error("there is no user {0}")]
    NoUser(UserId),
    #[error("user {0} is the last administrator; make another user an administrator first")]
    LastAdmin(UserId),
    #[error("user {0:?} is disabled; enable them first")]
    Disabled(String),
    #[error(
        "user {0:?} has signed in before: a link for them has to be a reset, which ends all their sign-ins"
    )]
    HasSignedIn(String),
    #[error("could not change the user")]
    Internal(#[source] InternalError),
}

refusals! {
    ChangeUserError passes on Internal;
    Self::BadName(_) => Invalid("bad_name"),
    Self::NameTaken(_) => Conflict("name_taken"),
    Self::NoUser(_) => NotFound("no_user"),
    Self::LastAdmin(_) => Conflict("last_administrator"),
    Self::Disabled(_) => Conflict("user_disabled"),
    Self::HasSignedIn(_) => Conflict("has_signed_in"),
}

impl Users {
    /// Creates a user. They sign in with a link of [`Users::invite`].
    pub async fn create(
        &self,
        by: Requester,
        name: &str,
        role: UserRole,
    ) -> Result<User, CreateUserError> {
        let name = check_name(name)?;
        let user = User {
            id: UserId::new(),
            name: name.to_owned(),
            role,
            active: true,
            created_at: self.clock.now(),
        };
        let new = NewUser {
            id: user.id,
            name,
            role,
            created_at: user.created_at,
        };
        let stamp = by.at(user.created_at);
        if self.store.insert_user(new, stamp).await? {
            Ok(user)
        } else {
            Err(CreateUserError::NameTaken(user.name))
        }
    }

    /// Lists all users, oldest first.
    pub async fn list(&self, after: Option<UserId>, limit: u32) -> Result<UserPage, InternalError> {
        Ok(self.store.users(after, limit).await?)
    }

    /// Changes a user. A disabled user is signed out everywhere at once.
    pub async fn change(
        &self,
        by: Requester,
        id: UserId,
        change: ChangeUser,
    ) -> Result<User, ChangeUserError> {
        let name = change.name.as_deref().map(check_name).transpose()?;
        let changed = UserChange {
            name,
            role: change.role,
            active: change.active,
        };
        let stamp = by.at(self.clock.now());
        match self.store.change_user(id, changed, stamp).await? {
            ChangedUser::Changed(user) => {
                self.signals.send(Topic::Access(id));
                Ok(user)
            }
            ChangedUser::NoUser => Err(ChangeUserError::NoUser(id)),
            ChangedUser::LastAdmin => Err(ChangeUserError::LastAdmin(id)),
            ChangedUser::NameTaken => Err(ChangeUserError::NameTaken(
                name.unwrap_or_default().to_owned(),
            )),
        }
    }

    /// Creates the code of a sign-in link that an administrator passes on to a user who never signed in.
    ///
    /// With `is_reset` it is for a user who did, and ends all their sign-ins, so that nobody else can use the account
    /// unseen.
    pub async fn invite(
        &self,
        by: Requester,
        id: UserId,
        is_reset: bool,
    ) -> Result<(Secret, Timestamp), ChangeUserError> {
        let user = self.store.user(id).await?;
        let user = user.ok_or(ChangeUserError::NoUser(id))?;
        if !user.active {
            return Err(ChangeUserError::Disabled(user.name));
        }
        if !self.store.has_signed_in(id).await? {
            let reason = CodeReason::Invitation;
            return Ok(self.sign_in_code(by, id, INVITATION_LIFE, reason).await?);
        }
        if !is_reset {
            return Err(ChangeUserError::HasSignedIn(user.name));
        }
        let reason = CodeReason::Reset;
        let code = self.sign_in_code(by, id, INVITATION_LIFE, reason).await?;
        self.signals.send(Topic::Access(id));
        Ok(code)
    }
}
