//! Whether somebody who was let in may stay.
//!
//! An open connection outlives the request that opened it. So each one looks again whenever
//! anybody's rights, tokens or sign-ins have changed, and when its own proof of who it is ends.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::Clock,
    id::SessionId,
    right::Right,
    user::{Identity, Scope},
    viewer::Viewer,
};
use deskhand_store::StoreError;
use tokio::sync::watch;

use crate::{App, Credential, FindError, Sessions, Users};

/// The longest that a connection waits before it looks at the clock again.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Tells open connections that somebody may do less or more than before. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct AccessChanges(watch::Sender<()>);

/// Somebody who was let into a session and is still there.
#[derive(Debug)]
pub struct Admission {
    standing: Standing,
    credential: Credential,
    session: SessionId,
    users: Users,
    sessions: Sessions,
    clock: Arc<dyn Clock>,
    changes: watch::Receiver<()>,
}

/// Somebody who was let in, whatever they look at.
#[derive(Debug)]
pub struct Guest {
    identity: Identity,
    credential: Credential,
    users: Users,
    clock: Arc<dyn Clock>,
    changes: watch::Receiver<()>,
}

/// What somebody is and may do in a session.
#[derive(Debug, Clone, Copy)]
struct Standing {
    identity: Identity,
    right: Right,
}

/// Why somebody was not let in.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    #[error("nobody is signed in with this")]
    SignedOut,
    #[error(transparent)]
    Find(#[from] FindError),
}

impl AccessChanges {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(()))
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }

    pub(crate) fn tell(&self) {
        self.0.send_replace(());
    }
}

impl From<StoreError> for AdmitError {
    fn from(error: StoreError) -> Self {
        Self::Find(error.into())
    }
}

impl App {
    /// Lets somebody into a session for as long as they may see it.
    pub async fn admit(
        &self,
        credential: Credential,
        session: SessionId,
    ) -> Result<Admission, AdmitError> {
        // Before looking, so that no change is missed.
        let changes = self.access.subscribe();
        let standing = look(&self.users, &self.sessions, &credential, session).await?;
        Ok(Admission {
            standing,
            credential,
            session,
            users: self.users.clone(),
            sessions: self.sessions.clone(),
            clock: Arc::clone(&self.clock),
            changes,
        })
    }
}

impl App {
    /// Lets somebody in for as long as they are who they are.
    pub async fn welcome(&self, credential: Credential) -> Result<Guest, AdmitError> {
        // Before looking, so that no change is missed.
        let changes = self.access.0.subscribe();
        let identity = self.users.identify(&credential).await?;
        Ok(Guest {
            identity: identity.ok_or(AdmitError::SignedOut)?,
            credential,
            users: self.users.clone(),
            clock: Arc::clone(&self.clock),
            changes,
        })
    }
}

impl Guest {
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Waits until nobody is signed in with this any more. Calls `on_change` whenever somebody may do
    /// less or more than before.
    pub async fn lost(mut self, on_change: impl Fn()) {
        loop {
            wait(&*self.clock, self.identity.expires_at, &mut self.changes).await;
            match self.users.identify(&self.credential).await {
                Ok(Some(identity)) => {
                    self.identity = identity;
                    on_change();
                }
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl Standing {
    fn may_drive(self) -> bool {
        self.right >= Right::Drive && self.identity.scope >= Scope::Write
    }
}

impl Admission {
    /// Waits until they may not see the session any more.
    pub async fn lost(mut self) {
        loop {
            self.wait().await;
            if self.look().await.is_err() {
                return;
            }
        }
    }

    /// The same, or until mouse and keyboard become theirs to use, or cease to be.
    pub async fn changed(mut self) {
        let could_drive = self.may_drive();
        loop {
            self.wait().await;
            match self.look().await {
                Ok(standing) if standing.may_drive() == could_drive => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Whether mouse and keyboard are theirs to use.
    pub fn may_drive(&self) -> bool {
        self.standing.may_drive()
    }

    /// Waits until there is reason to look again.
    async fn wait(&mut self) {
        let expires_at = self.standing.identity.expires_at;
        wait(&*self.clock, expires_at, &mut self.changes).await;
    }

    async fn look(&self) -> Result<Standing, AdmitError> {
        look(&self.users, &self.sessions, &self.credential, self.session).await
    }
}

/// Waits until somebody's proof ends, anybody's rights change, or it is time to look at the clock again.
async fn wait(
    clock: &dyn Clock,
    expires_at: Option<jiff::Timestamp>,
    changes: &mut watch::Receiver<()>,
) {
    let left = expires_at.map(|end| {
        // What is over already needs no waiting.
        Duration::try_from(end.duration_since(clock.now())).unwrap_or_default()
    });
    let wait = left.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    // An error means that the app is gone, and then looking fails.
    let _ = tokio::time::timeout(wait, changes.changed()).await;
}

/// What somebody is and may do now. When the database does not answer they have to come back.
async fn look(
    users: &Users,
    sessions: &Sessions,
    credential: &Credential,
    session: SessionId,
) -> Result<Standing, AdmitError> {
    let identity = users.identify(credential).await?;
    let identity = identity.ok_or(AdmitError::SignedOut)?;
    let session = sessions.find(Viewer::User(identity.user), session).await?;
    Ok(Standing {
        identity,
        right: session.right,
    })
}
