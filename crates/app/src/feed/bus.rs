//! News about all sessions that a user may see, and notices to the user.
//!
//! The bus is not a log: a client first gets a snapshot and then the differences. For each client the bus keeps only
//! the set of sessions that it has not read yet, so a slow client sees fewer steps, delays no one, and ends up with
//! the truth.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use deskhand_core::{
    id::{DecisionId, SessionId, UserId},
    right::Right,
    session::{Phase, SandboxState, Session},
    viewer::Viewer,
};
use deskhand_store::{Store, StoreError};
use tokio::sync::Notify;

use crate::{InternalError, refusal::Refusal};

/// The number of sessions in the snapshot, the newest ones. Others follow when they change.
const SNAPSHOT: u32 = 200;
/// The number of notices that may wait for a client. If there are more, the oldest are dropped.
const MOST_NOTICES: usize = 16;

/// The clients that follow all sessions of their users.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    clients: Mutex<Vec<Weak<Client>>>,
    /// Sessions that changed and that no client was told about yet.
    changed: Mutex<HashSet<SessionId>>,
    nudge: Arc<Notify>,
}

#[derive(Debug)]
struct Client {
    user: UserId,
    pending: Mutex<Pending>,
    nudge: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    /// True if all sessions have to be compared.
    is_all: bool,
    sessions: HashSet<SessionId>,
    notices: VecDeque<Notice>,
}

/// A message to a user that cannot wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Stable, for programs.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// One client's view of a user's sessions.
#[derive(Debug)]
pub struct SessionsFeed {
    client: Arc<Client>,
    store: Store,
    /// The summary that the client has of each session. `None` before the snapshot.
    sent: Option<HashMap<SessionId, Summary>>,
}

/// The part of a session whose change is news.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    phase: Phase,
    sandbox: SandboxState,
    title: String,
    model: String,
    right: Right,
    decisions: Vec<DecisionId>,
}

/// A session as one client of the bus sees it.
#[derive(Debug)]
pub struct BusSession {
    pub session: Session,
    /// Open decisions that the user may answer, oldest first.
    pub decisions: Vec<DecisionId>,
}

/// One piece of news.
#[derive(Debug)]
pub enum News {
    /// All sessions, the newest first.
    Snapshot(Vec<BusSession>),
    /// A session is new or has changed.
    Session(Box<BusSession>),
    /// The user can no longer see the session.
    Gone(SessionId),
    Notice(Notice),
}

impl Notice {
    /// Creates a notice about a refusal.
    pub(crate) fn of(refusal: &impl Refusal) -> Self {
        let facts = refusal.facts();
        Self {
            code: facts.code,
            message: facts.message,
        }
    }
}

impl Bus {
    /// Records that a session's summary may have changed.
    pub(crate) fn changed(&self, session: SessionId) {
        if lock(&self.clients).is_empty() {
            return;
        }
        lock(&self.changed).insert(session);
        self.nudge.notify_one();
    }

    /// Sends a notice to all clients of a user.
    pub(crate) fn notify(&self, user: UserId, notice: &Notice) {
        for client in self.clients().iter().filter(|client| client.user == user) {
            let mut pending = lock(&client.pending);
            pending.notices.push_back(notice.clone());
            if pending.notices.len() > MOST_NOTICES {
                pending.notices.pop_front();
            }
            drop(pending);
            client.nudge.notify_one();
        }
    }

    fn connect(&self, user: UserId) -> Arc<Client> {
        let pending = Pending {
            is_all: true,
            ..Pending::default()
        };
        let client = Arc::new(Client {
            user,
            pending: Mutex::new(pending),
            nudge: Notify::new(),
        });
        client.nudge.notify_one();
        lock(&self.clients).push(Arc::downgrade(&client));
        client
    }

    /// Returns the nudge of the job that tells clients about changes.
    pub(crate) fn nudge(&self) -> &Arc<Notify> {
        &self.nudge
    }

    /// Returns the clients that are still connected.
    fn clients(&self) -> Vec<Arc<Client>> {
        let mut clients = lock(&self.clients);
        clients.retain(|client| client.strong_count() > 0);
        clients.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Tells clients about changed sessions that they may see. Failures are left for the next call.
pub(crate) async fn spread(bus: &Bus, store: &Store) -> Result<(), StoreError> {
    let changed = std::mem::take(&mut *lock(&bus.changed));
    let mut failed = None;
    for session in changed {
        if let Err(error) = tell(bus, store, session).await {
            tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not load the audience of a session");
            lock(&bus.changed).insert(session);
            failed = Some(error);
        }
    }
    failed.map_or(Ok(()), Err)
}

async fn tell(bus: &Bus, store: &Store, session: SessionId) -> Result<(), StoreError> {
    let clients = bus.clients();
    if clients.is_empty() {
        return Ok(());
    }
    let people = store.people(session).await?;
    let people: HashSet<_> = people.into_iter().map(|person| person.user).collect();
    for client in clients
        .iter()
        .filter(|client| people.contains(&client.user))
    {
        lock(&client.pending).sessions.insert(session);
        client.nudge.notify_one();
    }
    Ok(())
}

impl SessionsFeed {
    pub(crate) fn new(bus: &Bus, store: &Store, user: UserId) -> Self {
        Self {
            client: bus.connect(user),
            store: store.clone(),
            sent: None,
        }
    }

    /// Waits until there is news. Cancelling it loses nothing.
    pub async fn ready(&self) {
        self.client.nudge.notified().await;
    }

    /// Returns a function to call when rights may have changed: all sessions are compared again.
    pub fn refresher(&self) -> impl Fn() + Send + use<> {
        let client = Arc::clone(&self.client);
        move || {
            lock(&client.pending).is_all = true;
            client.nudge.notify_one();
        }
    }

    /// Returns the news since the last call.
    pub async fn read(&mut self) -> Result<Vec<News>, InternalError> {
        let pending = std::mem::take(&mut *lock(&self.client.pending));
        let mut news: Vec<_> = pending.notices.into_iter().map(News::Notice).collect();
        let viewer = Viewer::User(self.client.user);
        let Some(sent) = &mut self.sent else {
            let page = self.store.sessions(viewer, None, SNAPSHOT).await?;
            let mut seen = Vec::with_capacity(page.sessions.len());
            for session in page.sessions {
                seen.push(look(&self.store, session).await?);
            }
            let sent = seen.iter().map(|seen| (seen.session.id, summary(seen)));
            self.sent = Some(sent.collect());
            news.push(News::Snapshot(seen));
            return Ok(news);
        };
        let mut changed = pending.sessions;
        let mut found = HashMap::new();
        if pending.is_all {
            let page = self.store.sessions(viewer, None, SNAPSHOT).await?;
            changed.extend(sent.keys().copied());
            found.extend(
                page.sessions
                    .into_iter()
                    .map(|session| (session.id, session)),
            );
            changed.extend(found.keys().copied());
        }
        for id in changed {
            let session = match found.remove(&id) {
                Some(session) => Some(session),
                None => self.store.session(viewer, id).await?,
            };
            let Some(session) = session else {
                if sent.remove(&id).is_some() {
                    news.push(News::Gone(id));
                }
                continue;
            };
            let seen = look(&self.store, session).await?;
            let summary = summary(&seen);
            if sent.get(&id) != Some(&summary) {
                sent.insert(id, summary);
                news.push(News::Session(Box::new(seen)));
            }
        }
        Ok(news)
    }
}

/// Adds the decisions that a user with this right may answer.
async fn look(store: &Store, session: Session) -> Result<BusSession, StoreError> {
    let mut decisions = Vec::new();
    if session.phase == Phase::Waiting {
        let open = store.open_decisions(session.id).await?;
        let answerable = open
            .iter()
            .filter(|(_, kind)| session.right >= kind.needed());
        decisions.extend(answerable.map(|(id, _)| *id));
    }
    Ok(BusSession { session, decisions })
}

fn summary(seen: &BusSession) -> Summary {
    let BusSession { session, decisions } = seen;
    Summary {
        phase: session.phase,
        sandbox: session.sandbox,
        title: session.title.clone(),
        model: session.model.clone(),
        right: session.right,
        decisions: decisions.clone(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
