//! What changes among the sessions that somebody may see, and what they should know at once.
//!
//! It is not a log: who comes is told how everything is and from then on what is different. For each
//! client only a set of sessions is kept that it has not been told about yet, so one that is slow
//! sees fewer steps, holds nobody up, and ends up with the truth.

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

/// How many sessions a client is told about when it comes, the newest. Others follow when they change.
const SNAPSHOT: u32 = 200;
/// How many notices wait for a client; of more the oldest are lost.
const MOST_NOTICES: usize = 16;

/// Everybody who wants to know.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    clients: Mutex<Vec<Weak<Client>>>,
    /// Sessions of which nobody has been told yet that they changed.
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
    /// Whether everything has to be looked at.
    is_all: bool,
    sessions: HashSet<SessionId>,
    notices: VecDeque<Notice>,
}

/// Something to know at once.
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
    /// What it was told of each session; `None` before the first time.
    told: Option<HashMap<SessionId, Told>>,
}

/// What is news about a session when it is different.
#[derive(Debug, PartialEq, Eq)]
struct Told {
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
    /// What it waits for and they may answer, oldest first.
    pub decisions: Vec<DecisionId>,
}

/// What is news.
#[derive(Debug)]
pub enum News {
    /// How everything is, the newest sessions first.
    Snapshot(Vec<BusSession>),
    /// A session is new or different.
    Session(Box<BusSession>),
    /// A session cannot be seen any more.
    Gone(SessionId),
    Notice(Notice),
}

impl Notice {
    /// Tells of a refusal.
    pub(crate) fn of(refusal: &impl Refusal) -> Self {
        let facts = refusal.facts();
        Self {
            code: facts.code,
            message: facts.message,
        }
    }
}

impl Bus {
    /// A session is not what it was.
    pub(crate) fn changed(&self, session: SessionId) {
        if lock(&self.clients).is_empty() {
            return;
        }
        lock(&self.changed).insert(session);
        self.nudge.notify_one();
    }

    /// Tells a user something, wherever they are.
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

    /// Returns the nudge of the job that tells clients of changes.
    pub(crate) fn nudge(&self) -> &Arc<Notify> {
        &self.nudge
    }

    /// Those who are still there.
    fn clients(&self) -> Vec<Arc<Client>> {
        let mut clients = lock(&self.clients);
        clients.retain(|client| client.strong_count() > 0);
        clients.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Lets those know who may see what has changed. What could not be told is left for the next call.
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
            told: None,
        }
    }

    /// Waits until there is news. Nothing is lost when nobody waits for it to the end.
    pub async fn ready(&self) {
        self.client.nudge.notified().await;
    }

    /// What somebody calls who knows that rights may have changed: everything is looked at again.
    pub fn refresher(&self) -> impl Fn() + Send + use<> {
        let client = Arc::clone(&self.client);
        move || {
            lock(&client.pending).is_all = true;
            client.nudge.notify_one();
        }
    }

    /// What is news since the last call.
    pub async fn read(&mut self) -> Result<Vec<News>, InternalError> {
        let pending = std::mem::take(&mut *lock(&self.client.pending));
        let mut news: Vec<_> = pending.notices.into_iter().map(News::Notice).collect();
        let viewer = Viewer::User(self.client.user);
        let Some(told) = &mut self.told else {
            let page = self.store.sessions(viewer, None, SNAPSHOT).await?;
            let mut seen = Vec::with_capacity(page.sessions.len());
            for session in page.sessions {
                seen.push(look(&self.store, session).await?);
            }
            let told = seen.iter().map(|seen| (seen.session.id, about(seen)));
            self.told = Some(told.collect());
            news.push(News::Snapshot(seen));
            return Ok(news);
        };
        let mut changed = pending.sessions;
        let mut found = HashMap::new();
        if pending.is_all {
            let page = self.store.sessions(viewer, None, SNAPSHOT).await?;
            changed.extend(told.keys().copied());
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
                if told.remove(&id).is_some() {
                    news.push(News::Gone(id));
                }
                continue;
            };
            let seen = look(&self.store, session).await?;
            let about = about(&seen);
            if told.get(&id) != Some(&about) {
                told.insert(id, about);
                news.push(News::Session(Box::new(seen)));
            }
        }
        Ok(news)
    }
}

/// What there is to tell about a session to whoever has this right in it.
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

fn about(seen: &BusSession) -> Told {
    let BusSession { session, decisions } = seen;
    Told {
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
