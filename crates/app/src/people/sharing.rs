//! Sharing sessions: the rights of people in them, and links that let people in.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    audit::Requester,
    budget::Budget,
    clock::Clock,
    id::{SessionId, ShareId, UserId},
    right::{Person, Right, SessionOffer, Share},
    secret::Secret,
    tasks::Tasks,
    user::{User, check_name},
    viewer::Viewer,
};
use deskhand_store::{Departure, Granted, Joined, NewShare, Store, StoreError};
use jiff::Timestamp;

use super::users::{hash, random};
use crate::{
    FindError, InternalError, NetworkAccess, Present,
    feed::{bus::Bus, log::Log},
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
/// The longest lifetime of a link, in days.
const LONGEST_SHARE_DAYS: u64 = 90;
const LONGEST_SHARE_LIFE: Duration = Duration::from_hours(LONGEST_SHARE_DAYS * 24);

/// The people in all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Sharing(pub(super) Arc<SharingParts>);

/// The parts that sharing goes through.
#[derive(Debug)]
pub(crate) struct SharingParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) bus: Arc<Bus>,
    pub(crate) live: LiveSessions,
    pub(crate) network: NetworkAccess,
    /// The budget of a new session.
    pub(crate) budget: Budget,
    pub(crate) signals: Signals,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
}

/// The settings of a new link.
#[derive(Debug)]
pub struct ShareSession {
    pub right: Right,
    /// The time of expiry. A week from now without it.
    pub expires_at: Option<Timestamp>,
    /// True if the link ends with its first use.
    pub is_single_use: bool,
}

/// The result of giving a person a right.
#[derive(Debug)]
pub enum Grant {
    Given(Person),
    /// The person becomes the owner if they accept.
    Offered(SessionOffer),
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
    #[error("{name:?} left session {session}; send them a link if they want to come back")]
    HasLeft { session: SessionId, name: String },
    #[error("{0:?} has not answered too many other offers yet; try again later")]
    TooManyOffers(String),
    #[error("could not store the right")]
    Internal(#[source] InternalError),
}

refusals! {
    PersonError passes on Find, Internal;
    Self::NoUser(_) => NotFound("no_user"),
    Self::NotIn { .. } => NotFound("no_person"),
    Self::IsOwner { .. } => Conflict("is_owner"),
    Self::TooMany(_) => TooMany("too_many_people"),
    Self::HasLeft { .. } => Conflict("has_left"),
    Self::TooManyOffers(_) => TooMany("too_many_offers"),
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
    #[error(
        "a link is valid for at most {LONGEST_SHARE_DAYS} days; choose a time of expiry before {0}"
    )]
    LongLife(Timestamp),
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
    Self::LongLife(_) => Invalid("long_life"),
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
    #[error("the owner of this session removed you from it; ask them to add you again")]
    Removed,
    #[error("could not join the session")]
    Internal(#[source] InternalError),
}

refusals! {
    JoinError passes on Internal;
    Self::NoShare => NotFound("no_share"),
    Self::Full => TooMany("too_many_people"),
    Self::Removed => Forbidden("removed"),
}

impl Sharing {
    pub(crate) fn new(parts: SharingParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Ends links of earlier versions, which had no limit, as late as a link made now.
    pub(crate) async fn shorten_links(&self) -> Result<(), StoreError> {
        let latest = self.0.clock.now() + LONGEST_SHARE_LIFE;
        self.0.store.shorten_shares(latest).await
    }

    /// Lists everyone who has a right in a session, the owner first.
    pub async fn people(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Person>, FindError> {
        find(&self.0.store, viewer, id).await?;
        Ok(self.0.store.people(id).await?)
    }

    /// Returns `true` while a user has the session open.
    pub fn is_here(&self, id: SessionId, user: UserId) -> bool {
        self.0.live.attendance(id).presence.is_here(user)
    }

    /// Records that a user has the session open, until the returned value is dropped.
    pub async fn enter(&self, user: UserId, id: SessionId) -> Result<Present, FindError> {
        let name = self.0.store.user(user).await?.map(|user| user.name);
        let name = name.unwrap_or_default();
        Ok(Present::enter(self.0.live.attendance(id), user, name))
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

    /// Gives a person a right, in place of the one they have. The right of the owner is only offered.
    pub async fn grant(
        &self,
        viewer: Viewer,
        by: Requester,
        id: SessionId,
        who: &str,
        right: Right,
    ) -> Result<Grant, PersonError> {
        let session = find_with(&self.0.store, Right::Owner, viewer, id).await?;
        let user = self.user(who).await?.filter(|user| user.active);
        let user = user.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if user.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: user.name,
            });
        }
        if right == Right::Owner {
            return self.offer(by, &session, user).await.map(Grant::Offered);
        }
        let stamp = by.at(self.0.clock.now());
        let granted = self.0.store.grant(id, user.id, right, MOST_PEOPLE, stamp);
        match granted.await? {
            Granted::Given => {}
            Granted::Full => return Err(PersonError::TooMany(id)),
            Granted::Left => {
                return Err(PersonError::HasLeft {
                    session: id,
                    name: user.name,
                });
            }
        }
        self.0.signals.send(Topic::Access(user.id));
        Ok(Grant::Given(Person {
            user: user.id,
            name: user.name,
            right,
        }))
    }

    /// Revokes the right of a person, and closes their open connections. Everyone may leave.
    pub async fn remove(
        &self,
        user: UserId,
        by: Requester,
        id: SessionId,
        who: &str,
    ) -> Result<(), PersonError> {
        let store = &self.0.store;
        let session = find(store, Viewer::User(user), id).await?;
        let found = self.user(who).await?;
        let how = if found.as_ref().is_some_and(|found| found.id == user) {
            Departure::Left
        } else {
            find_with(store, Right::Owner, Viewer::User(user), id).await?;
            Departure::Removed
        };
        let found = found.ok_or_else(|| PersonError::NoUser(who.to_owned()))?;
        if found.id == session.owner {
            return Err(PersonError::IsOwner {
                session: id,
                name: found.name,
            });
        }
        let stamp = by.at(self.0.clock.now());
        if !store.revoke(id, found.id, how, stamp).await? {
            return Err(PersonError::NotIn {
                session: id,
                name: found.name,
            });
        }
        self.0.signals.send(Topic::Access(found.id));
        Ok(())
    }

    /// Creates a link that gives a right to everyone who follows it.
    pub async fn share(
        &self,
        viewer: Viewer,
        by: Requester,
        id: SessionId,
        wanted: ShareSession,
    ) -> Result<MadeShare, ShareError> {
        find_with(&self.0.store, Right::Owner, viewer, id).await?;
        if wanted.right == Right::Owner {
            return Err(ShareError::NotToGive);
        }
        let now = self.0.clock.now();
        let expires_at = wanted.expires_at.unwrap_or(now + SHARE_LIFE);
        if expires_at <= now {
            return Err(ShareError::Over(expires_at));
        }
        let latest = now + LONGEST_SHARE_LIFE;
        if expires_at > latest {
            return Err(ShareError::LongLife(latest));
        }
        let code = Secret::new(random());
        let share = Share {
            id: ShareId::new(),
            right: wanted.right,
            created_at: now,
            expires_at,
            is_single_use: wanted.is_single_use,
        };
        let new = NewShare {
            session: id,
            hash: &hash(&code),
            share: &share,
        };
        let stamp = by.at(now);
        if !self.0.store.insert_share(new, MOST_SHARES, stamp).await? {
            return Err(ShareError::TooMany(id));
        }
        Ok(MadeShare { share, code })
    }

    /// Lists the valid links of a session, oldest first.
    pub async fn shares(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Share>, ShareError> {
        find_with(&self.0.store, Right::Owner, viewer, id).await?;
        let now = self.0.clock.now();
        Ok(self.0.store.shares(id, now).await?)
    }

    /// Ends a link. People who joined by it stay.
    pub async fn end_share(
        &self,
        viewer: Viewer,
        by: Requester,
        id: SessionId,
        share: ShareId,
    ) -> Result<(), ShareError> {
        find_with(&self.0.store, Right::Owner, viewer, id).await?;
        let stamp = by.at(self.0.clock.now());
        if self.0.store.delete_share(id, share, stamp).await? {
            Ok(())
        } else {
            Err(ShareError::NoShare { session: id, share })
        }
    }

    /// Follows a link. A person who already has its right or a higher one keeps what they have, and so does a person
    /// for whom the owner chose a right. A person whom the owner removed is refused.
    pub async fn join(
        &self,
        user: UserId,
        by: Requester,
        code: &Secret,
    ) -> Result<SessionId, JoinError> {
        let stamp = by.at(self.0.clock.now());
        let code = hash(code);
        let joined = self.0.store.join(&code, user, MOST_PEOPLE, stamp);
        match joined.await? {
            Joined::In(session) => {
                self.0.signals.send(Topic::Access(user));
                Ok(session)
            }
            Joined::NoShare => Err(JoinError::NoShare),
            Joined::Full(_) => Err(JoinError::Full),
            Joined::Removed => Err(JoinError::Removed),
        }
    }

    /// Finds the user with this id or name.
    async fn user(&self, who: &str) -> Result<Option<User>, StoreError> {
        match who.parse() {
            Ok(id) => self.0.store.user(id).await,
            Err(_) => match check_name(who) {
                Ok(name) => self.0.store.user_named(name).await,
                Err(_) => Ok(None),
            },
        }
    }
}
