//! Watch links: everybody who has one can watch a session's screen and hear its sound, without signing in.
//!
//! A link ends when it is revoked, when its time is over, and with its session. Its open connections end then, too.
//! While a person has control, watchers see and hear nothing: they are strangers, unlike the people of the session.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    audit::Requester,
    clock::Clock,
    id::{SessionId, WatchLinkId},
    right::Right,
    secret::Secret,
    session::{Phase, Session},
    viewer::Viewer,
    watch_link::WatchLink,
};
use deskhand_store::Store;

use super::{
    audience::Audience,
    users::{hash, random},
    watched::{WatchedSound, WatchedVideo},
};
use crate::{
    Computers, FindError, InternalError, ListenError, NoScreen, WatchVideoError,
    computers::check_screen,
    live::{LiveSessions, attendance::ControlState},
    refusal::refusals,
    sessions::find::{find, find_with},
    signals::{Signals, Topic, Waiter},
};

/// The maximum number of watch links of one session.
const MOST_LINKS: u64 = 50;
/// The lifetime of a link if no other is chosen.
const USUAL_LIFETIME: Duration = Duration::from_hours(24);
/// The shortest and the longest lifetime of a link, in seconds.
const SHORTEST_SECONDS: u64 = 60;
const LONGEST_SECONDS: u64 = 30 * 24 * 3600;
/// The longest wait of a connection before it checks its link again. No signal tells that an owner was disabled.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The watch links of all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct WatchLinks(Arc<WatchLinkParts>);

/// The parts that watching goes through.
#[derive(Debug)]
pub(crate) struct WatchLinkParts {
    pub(crate) store: Store,
    pub(crate) live: LiveSessions,
    pub(crate) computers: Computers,
    pub(crate) signals: Signals,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) audience: Audience,
}

/// The reason why there is no watch link.
#[derive(Debug, thiserror::Error)]
pub enum WatchLinkError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error("session {0} has ended, so there is nothing to watch")]
    Ended(SessionId),
    #[error("a watch link is valid for {SHORTEST_SECONDS} to {LONGEST_SECONDS} seconds, not {0}")]
    Lifetime(u64),
    #[error("session {0} already has {MOST_LINKS} watch links; revoke one first")]
    TooMany(SessionId),
    #[error("session {session} has no watch link {link}")]
    NoLink {
        session: SessionId,
        link: WatchLinkId,
    },
    #[error("could not store the watch link")]
    Internal(#[source] InternalError),
}

refusals! {
    WatchLinkError passes on Find, NoScreen, Internal;
    Self::Ended(_) => Conflict("session_ended"),
    Self::Lifetime(_) => Invalid("bad_lifetime"),
    Self::TooMany(_) => TooMany("too_many_watch_links"),
    Self::NoLink { .. } => NotFound("no_watch_link"),
}

/// The reason why somebody with a link cannot watch.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("this watch link is not valid: it has expired or was revoked; ask for a new one")]
    NoLink,
    #[error(transparent)]
    Video(#[from] WatchVideoError),
    #[error(transparent)]
    Sound(#[from] ListenError),
    #[error("too many people watch this session; try again later")]
    Full,
    #[error("could not read the watch link")]
    Internal(#[source] InternalError),
}

refusals! {
    WatchError passes on Video, Sound, Internal;
    Self::NoLink => NotFound("no_watch_link"),
    Self::Full => TooMany("too_many_watchers"),
}

/// The state of what a link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchState {
    /// The computer does not run yet, or not at the moment.
    NotStarted,
    Live,
    /// The session has ended.
    Ended,
}

/// A watcher who was let in by a link.
#[derive(Debug)]
pub struct WatchAccess {
    link: WatchLink,
    session: Session,
    token_hash: String,
    links: WatchLinks,
    changes: Waiter,
}

impl WatchLinks {
    pub(crate) fn new(parts: WatchLinkParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Creates a link by which everybody can watch a session. The page is at [`watch_path`] of its token, which is
    /// returned only once.
    pub async fn create(
        &self,
        viewer: Viewer,
        by: Requester,
        session: SessionId,
        lifetime: Option<Duration>,
    ) -> Result<(WatchLink, Secret), WatchLinkError> {
        let found = find_with(&self.0.store, Right::Owner, viewer, session).await?;
        check_screen(&found)?;
        if found.phase == Phase::Terminated {
            return Err(WatchLinkError::Ended(session));
        }
        let lifetime = lifetime.unwrap_or(USUAL_LIFETIME);
        if !(SHORTEST_SECONDS..=LONGEST_SECONDS).contains(&lifetime.as_secs()) {
            return Err(WatchLinkError::Lifetime(lifetime.as_secs()));
        }
        let (token, now) = (Secret::new(format!("dhw_{}", random())), self.0.clock.now());
        let link = WatchLink {
            id: WatchLinkId::new(),
            session,
            created_at: now,
            expires_at: now + lifetime,
        };
        let (hash, stamp) = (hash(&token), by.at(now));
        let inserted = self
            .0
            .store
            .insert_watch_link(&link, &hash, MOST_LINKS, stamp);
        if inserted.await? {
            Ok((link, token))
        } else {
            Err(WatchLinkError::TooMany(session))
        }
    }

    /// Lists the valid links of a session, oldest first.
    pub async fn list(
        &self,
        viewer: Viewer,
        session: SessionId,
    ) -> Result<Vec<WatchLink>, WatchLinkError> {
        find_with(&self.0.store, Right::Owner, viewer, session).await?;
        let now = self.0.clock.now();
        Ok(self.0.store.watch_links(session, now).await?)
    }

    /// Revokes a link, and closes its open connections.
    pub async fn revoke(
        &self,
        viewer: Viewer,
        by: Requester,
        session: SessionId,
        link: WatchLinkId,
    ) -> Result<(), WatchLinkError> {
        find_with(&self.0.store, Right::Owner, viewer, session).await?;
        let stamp = by.at(self.0.clock.now());
        if !self.0.store.delete_watch_link(session, link, stamp).await? {
            return Err(WatchLinkError::NoLink { session, link });
        }
        self.0.signals.send(Topic::WatchLink(link));
        Ok(())
    }

    /// Lets in somebody who has the token of a link, for as long as the link is valid.
    pub async fn open(&self, token: &Secret) -> Result<WatchAccess, WatchError> {
        let token_hash = hash(token);
        let link = self.read(&token_hash).await?.ok_or(WatchError::NoLink)?;
        let changes = self.0.signals.subscribe(Topic::WatchLink(link.id));
        // Read again, so that no change is missed.
        let link = self.read(&token_hash).await?.ok_or(WatchError::NoLink)?;
        // The link is the watcher's right to see it.
        let session = find(&self.0.store, Viewer::System, link.session).await;
        Ok(WatchAccess {
            session: session.map_err(WatchVideoError::from)?,
            link,
            token_hash,
            links: self.clone(),
            changes,
        })
    }

    /// Returns the number of people who watch a session by links.
    pub fn n_watchers(&self, session: SessionId) -> usize {
        self.0.audience.names(session).len()
    }

    async fn read(&self, token_hash: &str) -> Result<Option<WatchLink>, WatchError> {
        let now = self.0.clock.now();
        Ok(self.0.store.watch_link(token_hash, now).await?)
    }
}

impl WatchAccess {
    pub fn link(&self) -> WatchLinkId {
        self.link.id
    }

    /// Returns the title of the session, which may be empty.
    pub fn title(&self) -> &str {
        &self.session.title
    }

    pub fn state(&self) -> WatchState {
        if self.session.phase == Phase::Terminated {
            return WatchState::Ended;
        }
        match self.parts().live.running_computer(self.session.id) {
            Some(_) => WatchState::Live,
            None => WatchState::NotStarted,
        }
    }

    /// Returns the names of everybody who watches the session, in the order in which they came.
    pub fn watchers(&self) -> Vec<String> {
        self.parts().audience.names(self.session.id)
    }

    /// Returns true while a person has control, so that watchers see and hear nothing.
    pub fn is_paused(&self) -> bool {
        self.control().is_held()
    }

    /// Begins to watch the screen, under a name that the other watchers see.
    pub async fn video(&self, name: Option<&str>) -> Result<WatchedVideo, WatchError> {
        let parts = self.parts();
        let seat = parts.audience.sit_down(self.session.id, name);
        let seat = seat.ok_or(WatchError::Full)?;
        let control = self.control();
        // The link is the watcher's right to see it.
        let video = parts.computers.watch_video(Viewer::System, self.session.id);
        Ok(WatchedVideo::new(video.await?, control, seat))
    }

    /// Begins to hear the sound.
    pub async fn sound(&self) -> Result<WatchedSound, WatchError> {
        let control = self.control();
        // The link is the watcher's right to hear it.
        let sound = self
            .parts()
            .computers
            .listen(Viewer::System, self.session.id);
        Ok(WatchedSound::new(sound.await?, control))
    }

    /// Waits until the link is no longer valid.
    pub async fn lost(mut self) {
        loop {
            let left = self
                .link
                .expires_at
                .duration_since(self.parts().clock.now());
            // If the time is over already, there is nothing to wait for.
            let left = Duration::try_from(left).unwrap_or_default();
            // A timeout is one of the reasons to check again.
            let _ = tokio::time::timeout(left.min(LONGEST_WAIT), self.changes.signalled()).await;
            match self.links.read(&self.token_hash).await {
                Ok(Some(_)) => {}
                // If the database does not respond, watchers have to reconnect.
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn control(&self) -> ControlState {
        self.parts()
            .live
            .attendance(self.session.id)
            .control_state()
    }

    fn parts(&self) -> &WatchLinkParts {
        &self.links.0
    }
}

/// Returns the path of the page at which a link is watched.
pub fn watch_path(token: &Secret) -> String {
    format!("/watch/{}", token.expose())
}
