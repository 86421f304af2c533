//! The controller: accepts streams, has them run and answers questions about them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_app::App;
use deskhand_core::{
    clock::Clock, id::UserId, network::policy::NetworkBounds, secret::Secret, stream::StreamState,
    tasks::Tasks,
};
use deskhand_jamie::{
    Controller, ControllerError, ErrorCode,
    contract::{
        Health, HealthResponse, SessionView, StatusUpdate, StopRequest, StreamRequest,
        StreamResponse, StreamVerdict,
    },
};
use deskhand_store::{MoveStream, NewStream, Store, StoreError, StreamAdmission, StreamRow};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    admission,
    checks::Deployment,
    links::WatchLinks,
    report::Reports,
    settings::{LastMile, StreamSettings},
    stream_task::EndStored,
    webhook::Courier,
};

/// The estimated start time of a stream, until there are earlier streams to average.
const USUAL_START_SECONDS: f64 = 10.0;
/// The interval of checks for waiting streams, in case a wake-up was lost while the database was unavailable.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The parts that streams are made of.
#[derive(Debug)]
pub struct StreamParts {
    pub app: App,
    pub store: Store,
    /// Makes the links by which people watch. Without it, streams have none.
    pub links: Option<Arc<dyn WatchLinks>>,
    pub settings: StreamSettings,
    pub deployment: Deployment,
    /// The bot in this process.
    pub bot: Option<mpsc::Sender<StatusUpdate>>,
    pub clock: Arc<dyn Clock>,
    pub tasks: Tasks,
}

/// The reason why streams cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum BeginStreamsError {
    #[error("there is no user {0:?} who could own the sessions of streams; see jamie.owner")]
    NoOwner(String),
    #[error("could not find the owner of the sessions of streams")]
    Store(#[from] StoreError),
    #[error("could not set up webhooks")]
    Webhooks(#[from] reqwest::Error),
}

/// All streams. Clones share them.
#[derive(Clone)]
pub struct Streams(pub(crate) Arc<StreamsInner>);

pub(crate) struct StreamsInner {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) links: Option<Arc<dyn WatchLinks>>,
    pub(crate) settings: StreamSettings,
    pub(crate) deployment: Deployment,
    pub(crate) owner: UserId,
    pub(crate) reports: Reports,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
    running: Mutex<HashMap<Uuid, RunningStream>>,
    /// Wakes the task that starts streams.
    wake: Notify,
}

/// A stream that has a worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningStream {
    /// Fires when somebody asks for its end.
    pub(crate) stop: CancellationToken,
    /// The progress of storing its end.
    pub(crate) stored: watch::Sender<EndStored>,
    /// The address by which people watch.
    pub(crate) watch_url: Option<Secret>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self.0.running().len();
        f.debug_struct("Streams")
            .field("running", &running)
            .finish()
    }
}

impl Streams {
    /// Starts to run streams, first those that an earlier server left.
    pub async fn begin(parts: StreamParts) -> Result<Self, BeginStreamsError> {
        let owner = match &parts.settings.owner {
            Some(name) => parts.store.user_named(name).await?,
            None => parts.store.admin().await?,
        };
        let name = parts.settings.owner.clone().unwrap_or_default();
        let owner = owner.filter(|user| user.active);
        let owner = owner.ok_or(BeginStreamsError::NoOwner(name))?.id;
        if let LastMile::Share(share) = &parts.settings.last_mile {
            tracing::warn!(
                client_url = share.client_url,
                "streams are shared by the account of a person; Discord forbids automated user accounts and may end them"
            );
        }
        let private = parts.settings.private_webhooks;
        let courier = parts.settings.webhook_key.clone();
        let courier = courier.map(|key| Courier::new(key, private)).transpose()?;
        let (clock, tasks) = (Arc::clone(&parts.clock), parts.tasks.clone());
        let streams = Self(Arc::new(StreamsInner {
            app: parts.app,
            store: parts.store,
            links: parts.links,
            settings: parts.settings,
            deployment: parts.deployment,
            owner,
            reports: Reports::new(parts.bot, courier, clock, tasks),
            clock: parts.clock,
            tasks: parts.tasks,
            running: Mutex::default(),
            wake: Notify::new(),
        }));
        let tasks = streams.0.tasks.clone();
        tasks.spawn("streams", streams.clone().keep_starting());
        Ok(streams)
    }

    /// Starts streams whenever there is one that waits and a worker that is free.
    async fn keep_starting(self) {
        let shutdown = self.0.tasks.shutdown().clone();
        while !shutdown.is_cancelled() {
            // Created before the look, so that no wake-up is missed.
            let woken = self.0.wake.notified();
            if let Err(error) = self.start_waiting().await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "could not look for streams that wait"
                );
            }
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = shutdown.cancelled() => {}
            }
        }
    }

    async fn start_waiting(&self) -> Result<(), StoreError> {
        for row in self.0.store.open_streams().await? {
            if self.0.running().len() >= self.0.settings.at_once.max(1) {
                return Ok(());
            }
            self.worker_of(row.id, RunningStream::default());
        }
        Ok(())
    }

    /// Returns the worker of a stream. If it has none, it gets this one.
    fn worker_of(&self, id: Uuid, new: RunningStream) -> RunningStream {
        let mut all = self.0.running();
        if let Some(running) = all.get(&id) {
            return running.clone();
        }
        all.insert(id, new.clone());
        let tasks = self.0.tasks.clone();
        tasks.spawn("stream", self.clone().run(id, new.clone()));
        new
    }

    /// Releases the worker of a stream.
    pub(crate) fn release(&self, id: Uuid) {
        self.0.running().remove(&id);
        self.0.wake.notify_one();
    }

    /// Moves a stream on. Returns false if it is no longer in the state that the move begins with.
    pub(crate) async fn advance(
        &self,
        request: &StreamRequest,
        from: StreamState,
        to: StreamState,
        error: Option<(ErrorCode, String)>,
    ) -> Result<bool, StoreError> {
        let (id, at) = (request.session_id, self.0.clock.now());
        let stored = error.as_ref();
        let stored = stored.map(|(code, message)| (code.name().to_owned(), message.clone()));
        let change = MoveStream {
            id,
            from,
            to,
            at,
            error: stored,
        };
        if !self.0.store.move_stream(&change).await? {
            return Ok(false);
        }
        let (error_code, message) = error.unzip();
        let update = StatusUpdate {
            session_id: id,
            status: to,
            message,
            error_code,
            watch_url: self.watch_url(id),
            timestamp: at,
        };
        self.0.reports.tell(request, update);
        Ok(true)
    }

    /// Keeps the address by which people watch a stream.
    pub(crate) fn set_watch_url(&self, id: Uuid, url: Option<Secret>) {
        if let Some(running) = self.0.running().get_mut(&id) {
            running.watch_url = url;
        }
    }

    pub(crate) fn watch_url(&self, id: Uuid) -> Option<String> {
        let running = self.0.running();
        let url = running.get(&id)?.watch_url.as_ref()?;
        Some(url.expose().to_owned())
    }

    fn bounds(&self) -> &NetworkBounds {
        self.0.app.network().bounds()
    }

    async fn find(&self, id: Uuid) -> Result<StreamRow, ControllerError> {
        let row = self.0.store.stream(id).await.map_err(failed)?;
        row.ok_or_else(|| ErrorCode::NotFound.into())
    }
}

impl StreamsInner {
    fn running(&self) -> MutexGuard<'_, HashMap<Uuid, RunningStream>> {
        // Every change is complete, so a panic elsewhere leaves nothing half done.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Controller for Streams {
    async fn start(&self, request: &StreamRequest) -> Result<StreamResponse, ControllerError> {
        admission::check(request, &self.0.settings, self.bounds())?;
        let text = serde_json::to_string(request).map_err(|error| unreadable(&error))?;
        let new = NewStream {
            id: request.session_id,
            request: &text,
            created_at: self.0.clock.now(),
        };
        let most_open = u64::try_from(self.0.settings.most_open()).unwrap_or(u64::MAX);
        let admitted = self.0.store.insert_stream(new, most_open).await;
        let (status, message) = match admitted.map_err(failed)? {
            StreamAdmission::Accepted => (StreamVerdict::Accepted, "Stream starting"),
            StreamAdmission::Known => (StreamVerdict::InProgress, "Stream already requested"),
            StreamAdmission::Full => return Err(ErrorCode::Busy.into()),
        };
        if status == StreamVerdict::Accepted {
            tracing::info!(
                event = "session.created",
                session_id = %request.session_id,
                user_id = request.requester_id,
                guild_id = request.guild_id,
                channel_id = request.channel_id,
                url = request.url,
                "a stream was requested"
            );
        }
        self.0.wake.notify_one();
        let usual = self.0.store.usual_start_seconds().await.map_err(failed)?;
        Ok(StreamResponse {
            session_id: request.session_id,
            status,
            message: Some(message.to_owned()),
            estimated_start_time: Some(usual.unwrap_or(USUAL_START_SECONDS)),
        })
    }

    async fn stop(&self, session_id: Uuid, request: &StopRequest) -> Result<(), ControllerError> {
        let row = self.find(session_id).await?;
        if row.state.is_final() {
            return Err(ErrorCode::NotFound.into());
        }
        tracing::info!(stream.id = %session_id, reason = request.reason, "the end of a stream was requested");
        // One that waits gets a worker that stops at once, even if that is one more than there may be.
        let stopped = RunningStream::default();
        stopped.stop.cancel();
        if self.worker_of(session_id, stopped).end().await {
            return Ok(());
        }
        let message = "the end of the stream could not be stored yet; ask for it again in a moment";
        Err(ControllerError::new(ErrorCode::Unknown, message))
    }

    async fn session(&self, session_id: Uuid) -> Result<SessionView, ControllerError> {
        let row = self.find(session_id).await?;
        self.view(row)
    }

    async fn sessions(&self) -> Result<Vec<SessionView>, ControllerError> {
        let rows = self.0.store.open_streams().await.map_err(failed)?;
        // One that cannot be read has been logged, and does not hide the others.
        let views = rows.into_iter().filter_map(|row| self.view(row).ok());
        Ok(views.collect())
    }

    async fn ended_lately(&self) -> Result<Vec<SessionView>, ControllerError> {
        self.find_ended_lately().await
    }

    async fn health(&self) -> Result<HealthResponse, ControllerError> {
        let health = self.0.app.health().check().await;
        let active = self.0.store.open_streams().await;
        let status = match (health.database && active.is_ok(), health.sandboxes) {
            (false, _) => Health::Unhealthy,
            (true, false) => Health::Degraded,
            (true, true) => Health::Healthy,
        };
        let n_active = active.map_or(0, |rows| rows.len());
        Ok(HealthResponse {
            status,
            sandbox_ready: health.sandboxes,
            active_sessions: u64::try_from(n_active).unwrap_or(u64::MAX),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is used as a function by `map_err`"
)]
pub(crate) fn failed(error: StoreError) -> ControllerError {
    tracing::error!(
        error = &error as &dyn std::error::Error,
        "could not read or write a stream"
    );
    ErrorCode::Unknown.into()
}

pub(crate) fn unreadable(error: &serde_json::Error) -> ControllerError {
    tracing::error!(%error, "could not read or write the request of a stream");
    ErrorCode::Unknown.into()
}
