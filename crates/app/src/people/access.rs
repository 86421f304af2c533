//! Checks that people who were let in may stay.
//!
//! An open connection outlives the request that opened it. So each one checks again when the rights, tokens or
//! sign-ins of its user change, and when its own credential expires.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::Clock,
    id::SessionId,
    right::Right,
    user::{Identity, Scope},
    viewer::Viewer,
};

use crate::{
    App, Credential, FindError, InternalError, Sessions, Users,
    refusal::refusals,
    signals::{Signals, Topic, Waiter},
};

/// The longest wait of a connection before it checks the clock again.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// A person who was let into a session, for as long as they may see it.
#[derive(Debug)]
pub struct Admission {
    standing: Standing,
    credential: Credential,
    session: SessionId,
    users: Users,
    sessions: Sessions,
    clock: Arc<dyn Clock>,
    changes: Waiter,
}

/// A person who was let in, for as long as they are signed in.
#[derive(Debug)]
pub struct Guest {
    identity: Identity,
    credential: Credential,
    users: Users,
    clock: Arc<dyn Clock>,
    changes: Waiter,
}

/// The identity of a person, and their right in a session.
#[derive(Debug, Clone, Copy)]
struct Standing {
    identity: Identity,
    right: Right,
}

/// The reason why a person was not let in.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    #[error("nobody is signed in with these credentials")]
    SignedOut,
    #[error(transparent)]
    Find(#[from] FindError),
}

refusals! {
    AdmitError passes on Find;
    Self::SignedOut => SignedOut("not_signed_in"),
}

impl From<InternalError> for AdmitError {
    fn from(error: InternalError) -> Self {
        Self::Find(FindError::Internal(error))
    }
}

impl App {
    /// Lets a person into a session for as long as they may see it.
    pub async fn admit(
        &self,
        credential: Credential,
        session: SessionId,
    ) -> Result<Admission, AdmitError> {
        let (users, sessions) = (self.users(), self.sessions());
        let changes = subscribe(users, self.signals(), &credential).await?;
        let standing = look(users, sessions, &credential, session).await?;
        Ok(Admission {
            standing,
            credential,
            session,
            users: users.clone(),
            sessions: sessions.clone(),
            clock: Arc::clone(self.clock()),
            changes,
        })
    }

    /// Lets a person in for as long as they are signed in.
    pub async fn welcome(&self, credential: Credential) -> Result<Guest, AdmitError> {
        let users = self.users();
        let changes = subscribe(users, self.signals(), &credential).await?;
        let identity = users.identify(&credential).await?;
        Ok(Guest {
            identity: identity.ok_or(AdmitError::SignedOut)?,
            credential,
            users: users.clone(),
            clock: Arc::clone(self.clock()),
            changes,
        })
    }
}

/// Starts waiting for changes to the access of the person behind a credential. The caller reads their identity and
/// rights after this, so that no change is missed.
async fn subscribe(
    users: &Users,
    signals: &Signals,
    credential: &Credential,
) -> Result<Waiter, AdmitError> {
    let identity = users.identify(credential).await?;
    let identity = identity.ok_or(AdmitError::SignedOut)?;
    Ok(signals.subscribe(Topic::Access(identity.user)))
}

impl Guest {
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Waits until the person is signed out. Calls `on_change` whenever their rights may have changed.
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
    /// Waits until the person may no longer see the session.
    pub async fn lost(mut self) {
        loop {
            self.wait().await;
            if self.look().await.is_err() {
                return;
            }
        }
    }

    /// Waits for the same, or until they gain or lose the right to drive.
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

    pub fn identity(&self) -> &Identity {
        &self.standing.identity
    }

    /// Waits until there is a reason to check again. Returns `false` if the person may no longer see the session, or their
    /// credential only allows reading.
    pub async fn checked_again(&mut self) -> bool {
        self.wait().await;
        match self.look().await {
            Ok(standing) => {
                self.standing = standing;
                self.may_write()
            }
            Err(_) => false,
        }
    }

    /// Returns `true` if their credential allows more than reading.
    pub fn may_write(&self) -> bool {
        self.standing.identity.scope >= Scope::Write
    }

    /// Returns `true` if they may use the mouse and keyboard.
    pub fn may_drive(&self) -> bool {
        self.standing.may_drive()
    }

    /// Waits until there is a reason to check again.
    async fn wait(&mut self) {
        let expires_at = self.standing.identity.expires_at;
        wait(&*self.clock, expires_at, &mut self.changes).await;
    }

    async fn look(&self) -> Result<Standing, AdmitError> {
        look(&self.users, &self.sessions, &self.credential, self.session).await
    }
}

/// Waits until the credential expires, the access changes, or it is time to check the clock again.
async fn wait(clock: &dyn Clock, expires_at: Option<jiff::Timestamp>, changes: &mut Waiter) {
    let left = expires_at.map(|end| {
        // If the time is over already, there is nothing to wait for.
        Duration::try_from(end.duration_since(clock.now())).unwrap_or_default()
    });
    let wait = left.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    // A timeout is one of the reasons to check again.
    let _ = tokio::time::timeout(wait, changes.signalled()).await;
}

/// Reads the current identity and rights of a person. If the database does not respond, they have to reconnect.
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
