//! Services of sandboxes that people open in their browsers: programs that listen on ports, and VS Code.
//!
//! People who may drive a session may use its services, since they could do the same at the desktop. Its owner can share
//! single ports with everybody in the session. A person opens a service with a short-lived token for this service of this
//! session. The token is bound to the credential with which it was requested, and grants no more than that.

mod token;

use std::{future::ready, num::NonZeroU16, sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    audit::Requester,
    clock::Clock,
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, ByteStream, ComputerError, ListeningPort, Streams},
    secret::Secret,
    service::Service,
    session::{Phase, SandboxState, Session},
    viewer::Viewer,
};
use deskhand_store::Store;
use futures::SinkExt;
use jiff::Timestamp;
use tokio::{sync::OnceCell, time::timeout};

use self::token::PassKey;
pub use self::token::{AppPass, PassKind};
use crate::{
    Credential, FindError, InternalError, LockedError, Vault, WakeError,
    live::LiveSessions,
    refusal::refusals,
    session_computer::SessionComputer,
    sessions::find::{find, find_with},
    signals::{Signals, Topic},
};

/// The maximum time that a request waits for a sandbox that is starting.
const START_PATIENCE: Duration = Duration::from_secs(2);
/// The purpose from which the key of all tokens is derived.
const KEY_PURPOSE: &[u8] = b"deskhand app tokens 1";
/// The right that a person needs to use a service that is not shared.
const NEEDED: Right = Right::Drive;

/// The services of all sandboxes. Clones share them.
#[derive(Debug, Clone)]
pub struct Apps(Arc<AppsParts>);

/// The parts that services need.
#[derive(Debug)]
pub(crate) struct AppsParts {
    pub(crate) store: Store,
    pub(crate) live: LiveSessions,
    pub(crate) vault: Vault,
    pub(crate) signals: Signals,
    pub(crate) clock: Arc<dyn Clock>,
    /// True if sandboxes have VS Code.
    pub(crate) has_code: bool,
    pub(crate) key: OnceCell<PassKey>,
}

/// The ports of a session.
#[derive(Debug)]
pub struct SessionPorts {
    /// The ports on which programs listen.
    pub listening: Vec<ListeningPort>,
    /// The ports that everybody in the session may use.
    pub shared: Vec<u16>,
}

/// A new token for one service.
#[derive(Debug)]
pub struct IssuedPass {
    pub service: Service,
    pub token: Secret,
    pub expires_at: Timestamp,
}

/// The reason why no token was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssuePassError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {0} has ended, and its computer is gone")]
    Ended(SessionId),
    #[error(
        "VS Code is not installed on this server; an administrator can install it with `scripts/setup code`"
    )]
    NoCode,
    #[error(transparent)]
    Locked(#[from] LockedError),
    #[error("could not issue a token")]
    Internal(#[source] InternalError),
}

refusals! {
    IssuePassError passes on Find, Internal;
    Self::Ended(_) => Gone("sandbox_gone"),
    Self::NoCode => Unavailable("no_code_server"),
    Self::Locked(_) => Unavailable("secrets_locked"),
}

/// The reason why a service cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ReachServiceError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the session has ended, and its computer is gone")]
    Ended,
    #[error("the computer is asleep")]
    Asleep {
        /// True if this person may start it.
        may_wake: bool,
    },
    #[error("the computer is starting")]
    Starting,
    #[error("nothing listens on port {0}")]
    NothingListens(u16),
    #[error("another person has control of the computer")]
    SomebodyElse,
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error("{0}")]
    Failed(String),
}

/// The effect of a request on a sleeping session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waking {
    /// A person opens the service, which wakes the session.
    Wakes,
    /// A page sends the request by itself. A forgotten page must not keep a sandbox running.
    LetsSleep,
}

impl Apps {
    pub(crate) fn new(parts: AppsParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the ports of a session. A sleeping session has no listening ports.
    pub async fn ports(&self, viewer: Viewer, id: SessionId) -> Result<SessionPorts, FindError> {
        find(&self.0.store, viewer, id).await?;
        let computer = self.0.live.running_computer(id);
        Ok(SessionPorts {
            listening: computer
                .map(|computer| computer.ports())
                .unwrap_or_default(),
            shared: self.0.store.shared_ports(id).await?,
        })
    }

    /// Shares a port with everybody in the session, or stops sharing it. Only the owner may do this.
    pub async fn share_port(
        &self,
        by: Requester,
        viewer: Viewer,
        id: SessionId,
        port: NonZeroU16,
        is_shared: bool,
    ) -> Result<(), FindError> {
        let store = &self.0.store;
        find_with(store, Right::Owner, viewer, id).await?;
        let stamp = by.at(self.0.clock.now());
        if is_shared {
            store.share_port(id, port.get(), stamp).await?;
        } else {
            store.unshare_port(id, port.get(), stamp).await?;
            // Open connections check their access again.
            for person in store.people(id).await? {
                self.0.signals.send(Topic::Access(person.user));
            }
        }
        Ok(())
    }

    /// Finds a session in which this person may use a service.
    async fn find(
        &self,
        user: UserId,
        id: SessionId,
        service: Service,
    ) -> Result<Session, FindError> {
        let session = find(&self.0.store, Viewer::User(user), id).await?;
        if session.right >= NEEDED {
            return Ok(session);
        }
        let shared = self.0.store.shared_ports(id).await?;
        if service.port().is_some_and(|port| shared.contains(&port)) {
            return Ok(session);
        }
        Err(FindError::NotAllowed {
            session: id,
            has: session.right,
            needed: NEEDED,
        })
    }

    /// Returns true if this person may use a service now.
    pub async fn may_use(&self, user: UserId, id: SessionId, service: Service) -> bool {
        self.find(user, id, service).await.is_ok()
    }

    /// Returns true if sandboxes have VS Code.
    pub fn has_code(&self) -> bool {
        self.0.has_code
    }

    /// Issues a token that opens one service of a session for this person: the given one, or else VS Code.
    pub async fn issue(
        &self,
        user: UserId,
        credential: Credential,
        id: SessionId,
        named: Option<Service>,
    ) -> Result<IssuedPass, IssuePassError> {
        let service = named.unwrap_or(Service::Code);
        let session = self.find(user, id, service).await?;
        if session.phase == Phase::Terminated {
            return Err(IssuePassError::Ended(id));
        }
        if named == Some(Service::Code) && !self.0.has_code {
            return Err(IssuePassError::NoCode);
        }
        let now = self.0.clock.now();
        let pass = AppPass {
            kind: PassKind::Open,
            user,
            credential,
            session: id,
            service,
            issued_at: now,
            since: now,
            landing: None,
        };
        Ok(IssuedPass {
            service,
            token: self.seal(&pass).await?,
            expires_at: pass.expires_at(),
        })
    }

    /// Verifies a token of this kind for this service. Returns `None` if it is invalid or has expired.
    pub async fn read(
        &self,
        token: &Secret,
        kind: PassKind,
        session: SessionId,
        service: Service,
    ) -> Result<Option<AppPass>, LockedError> {
        let key = self.key().await?;
        let pass = key.open(token, self.0.clock.now());
        Ok(pass
            .filter(|pass| pass.kind == kind && pass.session == session && pass.service == service))
    }

    /// Returns the value of the cookie that keeps a person signed in to a service. `landing` is the path that they open
    /// next.
    pub async fn stay(&self, pass: &AppPass, landing: &str) -> Result<Secret, LockedError> {
        let stay = AppPass {
            kind: PassKind::Stay,
            issued_at: self.0.clock.now(),
            landing: Some(token::landing_of(landing)),
            ..pass.clone()
        };
        self.seal(&stay).await
    }

    /// Returns true if the person was redirected to this path a moment ago.
    pub fn has_just_landed(&self, pass: &AppPass, path: &str) -> bool {
        pass.has_just_landed(path, self.0.clock.now())
    }

    /// Wakes the session for a person who opens a service. Does nothing if it is awake already or they may not wake it.
    pub async fn wake(
        &self,
        user: UserId,
        id: SessionId,
        service: Service,
    ) -> Result<(), ReachServiceError> {
        let computer = self.computer(user, id, service, Waking::Wakes).await;
        match computer {
            // The page that they open next explains it.
            Ok(_) | Err(ReachServiceError::Starting | ReachServiceError::Asleep { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens a connection to a service.
    pub async fn reach(
        &self,
        user: UserId,
        id: SessionId,
        service: Service,
        waking: Waking,
    ) -> Result<ByteStream, ReachServiceError> {
        let (computer, right) = self.computer(user, id, service, waking).await?;
        let opened = computer.open(service.target(), Actor::Person(user)).await;
        let stream = opened.map_err(|error| match error {
            ComputerError::NothingListens(port) => ReachServiceError::NothingListens(port),
            ComputerError::Refused { .. } => ReachServiceError::SomebodyElse,
            ComputerError::Gone | ComputerError::Ended(_) | ComputerError::FateUnknown => {
                ReachServiceError::Starting
            }
            ComputerError::Failed(_) | ComputerError::Cancelled | ComputerError::NoSoundCard => {
                ReachServiceError::Failed(error.to_string())
            }
        })?;
        // The agent may have written the page behind a port. If its requests counted as work, such a page could keep the
        // network open for the agent's programs.
        let is_work = service == Service::Code && right >= Right::Drive;
        Ok(self.keeping_awake(id, stream, is_work))
    }

    /// Returns the computer of a session in which this person may use a service, and their right in it.
    async fn computer(
        &self,
        user: UserId,
        id: SessionId,
        service: Service,
        waking: Waking,
    ) -> Result<(Arc<SessionComputer>, Right), ReachServiceError> {
        let session = self.find(user, id, service).await?;
        if session.phase == Phase::Terminated {
            return Err(ReachServiceError::Ended);
        }
        if let Some(computer) = self.0.live.running_computer(id) {
            return Ok((computer, session.right));
        }
        let may_wake = session.right >= Right::Suggest;
        match waking {
            Waking::Wakes if may_wake => Ok((self.start(&session).await?, session.right)),
            Waking::LetsSleep if session.sandbox == SandboxState::Starting => {
                Err(ReachServiceError::Starting)
            }
            Waking::Wakes | Waking::LetsSleep => Err(ReachServiceError::Asleep { may_wake }),
        }
    }

    async fn start(&self, session: &Session) -> Result<Arc<SessionComputer>, ReachServiceError> {
        let guard = self.0.live.wake(session).await?;
        // If this times out, the sandbox continues to start in the background.
        let started = timeout(START_PATIENCE, guard.desk.computer()).await;
        let started = started.map_err(|_late| ReachServiceError::Starting)?;
        started.map_err(|error| ReachServiceError::Failed(error.message))
    }

    /// Counts everything that the person sends as use of the session, and also as work if `is_work` is true.
    fn keeping_awake(&self, id: SessionId, stream: ByteStream, is_work: bool) -> ByteStream {
        let live = self.0.live.get(id);
        let outgoing = stream.outgoing.with(move |piece: Bytes| {
            if let Some(live) = &live {
                if is_work {
                    live.activity.note_directed();
                } else {
                    live.activity.touch();
                }
            }
            ready(Ok::<_, std::io::Error>(piece))
        });
        ByteStream {
            incoming: stream.incoming,
            outgoing: Box::pin(outgoing),
        }
    }

    async fn seal(&self, pass: &AppPass) -> Result<Secret, LockedError> {
        Ok(self.key().await?.seal(pass))
    }

    async fn key(&self) -> Result<&PassKey, LockedError> {
        let derive = || async {
            let key = self.0.vault.derived_key(KEY_PURPOSE).await?;
            Ok(PassKey::new(key))
        };
        self.0.key.get_or_try_init(derive).await
    }
}
