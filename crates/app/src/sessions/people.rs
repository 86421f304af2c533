//! Who may do what in a session: inviting people, and links that let them in.

use std::time::Duration;

use deskhand_core::{
    id::{SessionId, ShareId, UserId},
    right::Right,
    secret::Secret,
    user::{User, check_name},
    viewer::Viewer,
};
use deskhand_store::{Joined, NewShare, Person, Share, StoreError};
use jiff::Timestamp;

use super::{FindError, Sessions};
use crate::{
    Present,
    users::{hash, random},
};

/// How many people may have a right in one session, its owner aside.
const MOST_PEOPLE: u64 = 100;
/// How many links one session may have.
const MOST_SHARES: u64 = 50;
/// How long a link is good when nobody says.
const SHARE_LIFE: Duration = Duration::from_hours(7 * 24);

/// A link somebody wants.
#[derive(Debug)]
pub struct ShareSession {
    pub right: Right,
    /// A week from now without it.
    pub expires_at: Option<Timestamp>,
}

/// A new link, whose code is shown this once.
#[derive(Debug)]
pub struct MadeShare {
    pub share: Share,
    pub code: Secret,
}

/// Why somebody's right was not told, given or taken.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("there is no user {0:?}")]
    NoUser(String),
    #[error("{name:?} has no right in session {session}")]
    NotIn { session: SessionId, name: String },
    #[error("{name:?} is the owner of session {session}, and stays that")]
    IsOwner { session: SessionId, name: String },
    #[error("{MOST_PEOPLE} people have a right in session {0} already; remove somebody first")]
    TooMany(SessionId),
    #[error("the right could not be stored")]
    Store(#[from] StoreError),
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("a link can give the rights view, suggest and drive")]
    NotToGive,
    #[error("a link cannot end in the past: {0} is over")]
    Over(Timestamp),
    #[error("session {0} has {MOST_SHARES} links already; end one first")]
    TooMany(SessionId),
    #[error("session {session} has no link {share}")]
    NoShare { session: SessionId, share: ShareId },
    #[error("the link could not be stored")]
    Store(#[from] StoreError),
}

/// Why a link let nobody in.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("this link is not good any more; ask whoever sent it for a new one")]
    NoShare,
    #[error("{MOST_PEOPLE} people are in this session already; its owner can make room")]
    Full,
    #[error("could not join the session")]
    Store(#[from] StoreError),
}

impl Sessions {
    /// Everybody who has a right in a session, the owner first.
    pub async fn people(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Person>, FindError> {
        self.find(viewer, id).await?;
        Ok(self.shared.store.people(id).await?)
    }

    /// Whether somebody has the session open.
    pub fn is_here(&self, id: SessionId, user: UserId) -> bool {
        self.shared.presence.is_here(id, user)
    }

    /// Says that somebody has the session open, until the answer is dropped.
    pub async fn enter(&self, user: UserId, id: SessionId) -> Result<Present, FindError> {
        let name = self.shared.store.user(user).await?.map(|user| user.name);
        let name = name.unwrap_or_default();
        Ok(self.shared.presence.enter(id, user, name))
    }

    /// What one person may do in a session. `who` is a name or an id.
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

    /// Gives somebody a right, instead of the one they have. Who makes somebody else the owner may
    /// drive from then on.
    pub async fn grant(
        &self,
        viewer: Viewer,
        id: SessionId,
        who: &str,
        right: Right,
    ) -> Result<Person, PersonError> {
        let session = self.find_with(Right::Owner, viewer, id).await?;
        let user = self.somebody(who).await?.filter(|user| user.active);
        let user = user.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if user.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: user.name,
            });
        }
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        if right == Right::Owner {
            if !store.hand_over(id, session.owner, user.id, now).await? {
                return Err(FindError::NoSession(id).into());
            }
            if let Some(live) = self.awake.get(id) {
                live.set_owner(user.id);
            }
        } else if !store.grant(id, user.id, right, MOST_PEOPLE, now).await? {
            return Err(PersonError::TooMany(id));
        }
        self.shared.access.tell();
        Ok(Person {
            user: user.id,
            name: user.name,
            right,
        })
    }

    /// Takes somebody's right away, their open connections included. Everybody may leave.
    pub async fn remove_person(
        &self,
        user: UserId,
        id: SessionId,
        who: &str,
    ) -> Result<(), PersonError> {
        let session = self.find(Viewer::User(user), id).await?;
        let found = self.somebody(who).await?;
        let leaves = found.as_ref().is_some_and(|found| found.id == user);
        if !leaves {
            self.find_with(Right::Owner, Viewer::User(user), id).await?;
        }
        let found = found.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if found.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: found.name,
            });
        }
        if !self.shared.store.revoke(id, found.id).await? {
            return Err(PersonError::NotIn {
                session: id,
                name: found.name,
            });
        }
        self.shared.access.tell();
        Ok(())
    }

    /// Makes a link that gives a right to whoever follows it.
    pub async fn share(
        &self,
        viewer: Viewer,
        id: SessionId,
        wanted: ShareSession,
    ) -> Result<MadeShare, ShareError> {
        self.find_with(Right::Owner, viewer, id).await?;
        if wanted.right == Right::Owner {
            return Err(ShareError::NotToGive);
        }
        let now = self.shared.clock.now();
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
        if !self.shared.store.insert_share(new, MOST_SHARES).await? {
            return Err(ShareError::TooMany(id));
        }
        Ok(MadeShare { share, code })
    }

    /// The links of a session that are still good, oldest first.
    pub async fn shares(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Share>, ShareError> {
        self.find_with(Right::Owner, viewer, id).await?;
        let now = self.shared.clock.now();
        Ok(self.shared.store.shares(id, now).await?)
    }

    /// Ends a link. Who came in by it stays.
    pub async fn end_share(
        &self,
        viewer: Viewer,
        id: SessionId,
        share: ShareId,
    ) -> Result<(), ShareError> {
        self.find_with(Right::Owner, viewer, id).await?;
        if self.shared.store.delete_share(id, share).await? {
            Ok(())
        } else {
            Err(ShareError::NoShare { session: id, share })
        }
    }

    /// Follows a link. Whoever has its right or more already keeps what they have.
    pub async fn join(&self, user: UserId, code: &Secret) -> Result<SessionId, JoinError> {
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        match store.join(&hash(code), user, MOST_PEOPLE, now).await? {
            Joined::In(session) => {
                self.shared.access.tell();
                Ok(session)
            }
            Joined::NoShare => Err(JoinError::NoShare),
            Joined::Full(_) => Err(JoinError::Full),
        }
    }

    /// The user with this id or name.
    async fn somebody(&self, who: &str) -> Result<Option<User>, StoreError> {
        match who.parse() {
            Ok(id) => self.shared.store.user(id).await,
            Err(_) => match check_name(who) {
                Ok(name) => self.shared.store.user_named(name).await,
                Err(_) => Ok(None),
            },
        }
    }
}
