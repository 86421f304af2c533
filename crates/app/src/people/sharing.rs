//! Sharing sessions: the rights of people in them, and links that let people in.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::Clock,
    id::{SessionId, ShareId, UserId},
    right::{Person, Right, Share},
    secret::Secret,
    user::{User, check_name},
    viewer::Viewer,
};
use deskhand_store::{Joined, NewShare, Store, StoreError};
use jiff::Timestamp;

use super::users::{hash, random};
use crate::{
    FindError, InternalError, Present,
    live::LiveSessions,
    refusal::refusals,
    sessions::find::{find, find_with},
    signals::{Signals, Topic},
};

/// The maximum number of people with a right in one session, besides its owner.
const MOST_PEOPLE: u64 = 100;
/// The maximum number of links of one session.
const MOST_SHARES: u64 = 50;
/// The default lifetime of a link.
const SHARE_LIFE: Duration = Duration::from_hours(7 * 24);

/// The people in all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Sharing {
    store: Store,
    live: LiveSessions,
    signals: Signals,
    clock: Arc<dyn Clock>,
}

/// The settings of a new link.
#[derive(Debug)]
pub struct ShareSession {
    pub right: Right,
    /// The time of expiry. A week from now without it.
    pub expires_at: Option<Timestamp>,
}

/// A new link. Its code is shown only once.
#[derive(Debug)]
pub struct MadeShare {
    pub share: Share,
    pub code: Secret,
}

/// The reason why the right of a person was not returned, given or taken.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("there is no user {0:?}")]
    NoUser(String),
    #[error("{name:?} has no right in session {session}")]
    NotIn { session: SessionId, name: String },
    #[error("{name:?} is the owner of session {session}; make another user the owner first")]
    IsOwner { session: SessionId, name: String },
    #[error("session {0} is already shared with {MOST_PEOPLE} people; remove one first")]
    TooMany(SessionId),
    #[error("could not store the right")]
    Internal(#[source] InternalError),
}

refusals! {
    PersonError passes on Find, Internal;
    Self::NoUser(_) => NotFound("no_user"),
    Self::NotIn { .. } => NotFound("no_person"),
    Self::IsOwner { .. } => Conflict("is_owner"),
    Self::TooMany(_) => TooMany("too_many_people"),
}

/// The reason why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("a link can give the rights view, suggest and drive")]
    NotToGive,
    #[error("a link cannot expire in the past: {0} is over")]
    Over(Timestamp),
    #[error("session {0} already has {MOST_SHARES} links; end one first")]
    TooMany(SessionId),
    #[error("session {session} has no link {share}")]
    NoShare { session: SessionId, share: ShareId },
    #[error("could not store the link")]
    Internal(#[source] InternalError),
}

refusals! {
    ShareError passes on Find, Internal;
    Self::NotToGive => Invalid("bad_right"),
    Self::Over(_) => Invalid("over"),
    Self::TooMany(_) => TooMany("too_many_shares"),
    Self::NoShare { .. } => NotFound("no_share"),
}

/// The reason why a link was refused.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("this link has ended or expired; ask the person who sent it for a new one")]
    NoShare,
    #[error(
        "this session is already shared with {MOST_PEOPLE} people; ask its owner to remove one"
    )]
    Full,
    #[error("could not join the session")]
    Internal(#[source] InternalError),
}

refusals! {
    JoinError passes on Internal;
    Self::NoShare => NotFound("no_share"),
    Self::Full => TooMany("too_many_people"),
}

impl Sharing {
    pub(crate) fn new(
        store: Store,
        live: LiveSessions,
        signals: Signals,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            live,
            signals,
            clock,
        }
    }

    /// Lists everyone who has a right in a session, the owner first.
    pub async fn people(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Person>, FindError> {
        find(&self.store, viewer, id).await?;
        Ok(self.store.people(id).await?)
    }

    /// Returns `true` while a user has the session open.
    pub fn is_here(&self, id: SessionId, user: UserId) -> bool {
        self.live.attendance(id).presence.is_here(user)
    }

    /// Records that a user has the session open, until the returned value is dropped.
    pub async fn enter(&self, user: UserId, id: SessionId) -> Result<Present, FindError> {
        let name = self.store.user(user).await?.map(|user| user.name);
        let name = name.unwrap_or_default();
        Ok(Present::enter(self.live.attendance(id), user, name))
    }

    /// Returns the right of one person in a session. `who` is a name or an id.
    pub async fn person(
        &self,
        viewer: Viewer,
        id: SessionId,
        who: &str,
    ) -> Result<Person, PersonError> {
        let people = self.people(viewer, id).await?;
        let person = people.into_iter().find(|person| {
            person.user.to_string() == who || person.name.to_lowercase() == who.to_lowercase()
        });
        person.ok_or_else(|| PersonError::NotIn {
            session: id,
            name: who.to_owned(),
        })
    }

    /// Gives a person a right, in place of the one they have. An owner who makes another person the owner keeps the
    /// right to drive.
    pub async fn grant(
        &self,
        viewer: Viewer,
        id: SessionId,
        who: &str,
        right: Right,
    ) -> Result<Person, PersonError> {
        let session = find_with(&self.store, Right::Owner, viewer, id).await?;
        let user = self.user(who).await?.filter(|user| user.active);
        let user = user.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if user.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: user.name,
            });
        }
        let (store, now) = (&self.store, self.clock.now());
        if right == Right::Owner {
            if !store.hand_over(id, session.owner, user.id, now).await? {
                return Err(FindError::NoSession(id).into());
            }
            if let Some(live) = self.live.get(id) {
                live.set_owner(user.id);
            }
            self.signals.send(Topic::Access(session.owner));
            // From now on the session spends from another user's daily budget.
            self.signals.send(Topic::SessionBudget(id));
        } else if !store.grant(id, user.id, right, MOST_PEOPLE, now).await? {
            return Err(PersonError::TooMany(id));
        }
        self.signals.send(Topic::Access(user.id));
        Ok(Person {
            user: user.id,
            name: user.name,
            right,
        })
    }

    /// Revokes the right of a person, and closes their open connections. Everyone may leave.
    pub async fn remove(&self, user: UserId, id: SessionId, who: &str) -> Result<(), PersonError> {
        let session = find(&self.store, Viewer::User(user), id).await?;
        let found = self.user(who).await?;
        let leaves = found.as_ref().is_some_and(|found| found.id == user);
        if !leaves {
            find_with(&self.store, Right::Owner, Viewer::User(user), id).await?;
        }
        let found = found.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if found.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: found.name,
            });
        }
        if !self.store.revoke(id, found.id).await? {
            return Err(PersonError::NotIn {
                session: id,
                name: found.name,
            });
        }
        self.signals.send(Topic::Access(found.id));
        Ok(())
    }

    /// Creates a link that gives a right to everyone who follows it.
    pub async fn share(
        &self,
        viewer: Viewer,
        id: SessionId,
        wanted: ShareSession,
    ) -> Result<MadeShare, ShareError> {
        find_with(&self.store, Right::Owner, viewer, id).await?;
        if wanted.right == Right::Owner {
            return Err(ShareError::NotToGive);
        }
        let now = self.clock.now();
        let expires_at = wanted.expires_at.unwrap_or(now + SHARE_LIFE);
        if expires_at <= now {
            return Err(ShareError::Over(expires_at));
        }
        let code = Secret::new(random());
        let share = Share {
            id: ShareId::new(),
            right: wanted.right,
            created_at: now,
            expires_at,
        };
        let new = NewShare {
            session: id,
            hash: &hash(&code),
            share: &share,
        };
        if !self.store.insert_share(new, MOST_SHARES).await? {
            return Err(ShareError::TooMany(id));
        }
        Ok(MadeShare { share, code })
    }

    /// Lists the valid links of a session, oldest first.
    pub async fn shares(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Share>, ShareError> {
        find_with(&self.store, Right::Owner, viewer, id).await?;
        let now = self.clock.now();
        Ok(self.store.shares(id, now).await?)
    }

    /// Ends a link. People who joined by it stay.
    pub async fn end_share(
        &self,
        viewer: Viewer,
        id: SessionId,
        share: ShareId,
    ) -> Result<(), ShareError> {
        find_with(&self.store, Right::Owner, viewer, id).await?;
        if self.store.delete_share(id, share).await? {
            Ok(())
        } else {
            Err(ShareError::NoShare { session: id, share })
        }
    }

    /// Follows a link. A person who already has its right or a higher one keeps what they have.
    pub async fn join(&self, user: UserId, code: &Secret) -> Result<SessionId, JoinError> {
        let (store, now) = (&self.store, self.clock.now());
        match store.join(&hash(code), user, MOST_PEOPLE, now).await? {
            Joined::In(session) => {
                self.signals.send(Topic::Access(user));
                Ok(session)
            }
            Joined::NoShare => Err(JoinError::NoShare),
            Joined::Full(_) => Err(JoinError::Full),
        }
    }

    /// Finds the user with this id or name.
    async fn user(&self, who: &str) -> Result<Option<User>, StoreError> {
        match who.parse() {
            Ok(id) => self.store.user(id).await,
            Err(_) => match check_name(who) {
                Ok(name) => self.store.user_named(name).await,
                Err(_) => Ok(None),
            },
        }
    }
}
