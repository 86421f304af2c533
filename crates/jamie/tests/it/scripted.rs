//! A controller that tests steer, and a bot that uses it.

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use deskhand_core::{
    clock::{Clock, SystemClock},
    secret::Secret,
    tasks::Tasks,
};
use deskhand_jamie::{
    BotError, BotStanding, Controller, ControllerError, ErrorCode, Settings,
    contract::{
        Health, HealthResponse, SessionView, StatusUpdate, StopRequest, StreamRequest,
        StreamResponse, StreamState, StreamVerdict,
    },
    run,
};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
};
use uuid::Uuid;

use crate::discord::{Discord, PATIENCE, TOKEN};

/// A controller whose streams do what a test says.
#[derive(Debug, Default)]
pub(crate) struct ScriptedController {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<StreamRequest>,
    sessions: Vec<SessionView>,
    ended: Vec<SessionView>,
    stops: Vec<String>,
    refusal: Option<ControllerError>,
    holds_stops: bool,
}

impl ScriptedController {
    pub(crate) fn requests(&self) -> Vec<StreamRequest> {
        self.lock().requests.clone()
    }

    /// The reasons of all stops.
    pub(crate) fn stops(&self) -> Vec<String> {
        self.lock().stops.clone()
    }

    /// Refuses the next request.
    pub(crate) fn refuse(&self, code: ErrorCode, message: &str) {
        self.lock().refusal = Some(ControllerError::new(code, message));
    }

    /// Leaves stops without an answer until this is called again.
    pub(crate) fn hold_stops(&self, holds_stops: bool) {
        self.lock().holds_stops = holds_stops;
        self.changed.notify_waiters();
    }

    /// Ends all streams without telling anybody.
    pub(crate) fn forget(&self) {
        self.lock().sessions.clear();
    }

    /// Waits for a stream, and returns the newest request.
    pub(crate) async fn started(&self) -> StreamRequest {
        let started = async {
            loop {
                let changed = self.changed.notified();
                {
                    let state = self.lock();
                    if !state.sessions.is_empty() {
                        return state.requests.last().unwrap().clone();
                    }
                }
                changed.await;
            }
        };
        tokio::time::timeout(PATIENCE, started).await.unwrap()
    }

    /// Changes the state of the newest stream, as it is told to bots later.
    pub(crate) fn set(&self, status: StreamState, watch_url: Option<&str>) -> Uuid {
        let mut state = self.lock();
        let session = state.sessions.last_mut().unwrap();
        session.status = status;
        session.watch_url = watch_url.map(str::to_owned);
        let session_id = session.session_id;
        let (ended, active): (Vec<_>, Vec<_>) = std::mem::take(&mut state.sessions)
            .into_iter()
            .partition(|session| session.status.is_final());
        state.sessions = active;
        state.ended.extend(ended);
        session_id
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

#[async_trait]
impl Controller for ScriptedController {
    async fn start(&self, request: &StreamRequest) -> Result<StreamResponse, ControllerError> {
        request.check().unwrap();
        let mut state = self.lock();
        if let Some(refusal) = state.refusal.take() {
            return Err(refusal);
        }
        state.requests.push(request.clone());
        state.sessions.push(SessionView {
            session_id: request.session_id,
            status: StreamState::Starting,
            url: request.url.clone(),
            guild_id: request.guild_id,
            channel_id: request.channel_id,
            channel_name: request.channel_name.clone(),
            requester_id: request.requester_id,
            guild_name: request.guild_name.clone(),
            status_message: request.status_message,
            watch_url: None,
            error_code: None,
            error_message: None,
            created_at: SystemClock.now(),
            started_at: None,
            ended_at: None,
            agent_iterations: 0,
            agent_cost_usd: 0.0,
            viewer_count: 0,
        });
        drop(state);
        self.changed.notify_waiters();
        Ok(StreamResponse {
            session_id: request.session_id,
            status: StreamVerdict::Accepted,
            message: None,
            estimated_start_time: None,
        })
    }

    async fn stop(&self, session_id: Uuid, request: &StopRequest) -> Result<(), ControllerError> {
        loop {
            let changed = self.changed.notified();
            if !self.lock().holds_stops {
                break;
            }
            changed.await;
        }
        let mut state = self.lock();
        if let Some(refusal) = state.refusal.take() {
            return Err(refusal);
        }
        let n_before = state.sessions.len();
        state
            .sessions
            .retain(|session| session.session_id != session_id);
        if state.sessions.len() == n_before {
            return Err(ErrorCode::NotFound.into());
        }
        state.stops.push(request.reason.clone());
        Ok(())
    }

    async fn session(&self, session_id: Uuid) -> Result<SessionView, ControllerError> {
        let sessions = self.sessions().await?;
        let found = sessions
            .into_iter()
            .find(|session| session.session_id == session_id);
        found.ok_or_else(|| ErrorCode::NotFound.into())
    }

    async fn sessions(&self) -> Result<Vec<SessionView>, ControllerError> {
        Ok(self.lock().sessions.clone())
    }

    async fn ended_lately(&self) -> Result<Vec<SessionView>, ControllerError> {
        Ok(self.lock().ended.clone())
    }

    async fn health(&self) -> Result<HealthResponse, ControllerError> {
        Ok(HealthResponse {
            status: Health::Healthy,
            sandbox_ready: true,
            active_sessions: self.lock().sessions.len() as u64,
            version: "test".into(),
        })
    }
}

/// A bot that runs in the test's own process.
pub(crate) struct Bot {
    pub(crate) controller: Arc<ScriptedController>,
    pub(crate) standing: BotStanding,
    updates: mpsc::Sender<StatusUpdate>,
    tasks: Tasks,
    running: JoinHandle<Result<(), BotError>>,
}

impl Bot {
    /// Starts a bot and waits until it is connected.
    pub(crate) async fn start(discord: &Discord) -> Self {
        Self::start_with(discord, Arc::default()).await
    }

    pub(crate) async fn start_with(discord: &Discord, controller: Arc<ScriptedController>) -> Self {
        let n_before = discord.state().await["identified"].as_u64().unwrap();
        let bot = Self::begin(discord, controller, TOKEN);
        discord
            .wait_until("the bot to be connected", |state| {
                state["identified"].as_u64().unwrap() > n_before
                    && !state["commands"].as_array().unwrap().is_empty()
            })
            .await;
        bot
    }

    /// Starts a bot.
    pub(crate) fn begin(
        discord: &Discord,
        controller: Arc<ScriptedController>,
        token: &str,
    ) -> Self {
        let settings = Settings {
            api_url: discord.url.clone(),
            gateway_url: discord.url.replace("http", "ws"),
            ..Settings::new(Secret::new(token))
        };
        let standing = settings.standing.clone();
        let tasks = Tasks::default();
        let (updates, received) = mpsc::channel(16);
        let as_port: Arc<dyn Controller> = Arc::<ScriptedController>::clone(&controller);
        let running = {
            let own = tasks.clone();
            tasks.spawn("bot", async move {
                run(settings, as_port, received, &own).await
            })
        };
        Self {
            controller,
            standing,
            updates,
            tasks,
            running,
        }
    }

    /// Tells the bot about the newest stream.
    pub(crate) async fn tell(&self, status: StreamState, message: Option<&str>) {
        self.tell_all(status, message, None, None).await;
    }

    /// Tells the bot that the newest stream is live.
    pub(crate) async fn tell_live(&self, watch_url: &str) {
        self.tell_all(StreamState::Streaming, None, None, Some(watch_url))
            .await;
    }

    /// Tells the bot that the newest stream has failed.
    pub(crate) async fn tell_failed(&self, code: ErrorCode, message: &str) {
        self.tell_all(StreamState::Failed, Some(message), Some(code), None)
            .await;
    }

    pub(crate) async fn tell_all(
        &self,
        status: StreamState,
        message: Option<&str>,
        error_code: Option<ErrorCode>,
        watch_url: Option<&str>,
    ) {
        self.controller.started().await;
        let update = StatusUpdate {
            session_id: self.controller.set(status, watch_url),
            status,
            message: message.map(str::to_owned),
            error_code,
            watch_url: watch_url.map(str::to_owned),
            timestamp: SystemClock.now(),
        };
        self.updates.send(update).await.unwrap();
    }

    /// Ends the bot, which must not take long.
    pub(crate) async fn end(self) {
        assert!(self.tasks.end(PATIENCE).await, "some tasks did not end");
        self.running.await.unwrap().unwrap();
    }

    /// Waits for the bot to end by itself.
    pub(crate) async fn ends(self) -> BotError {
        let ended = tokio::time::timeout(PATIENCE, self.running).await;
        ended.unwrap().unwrap().unwrap_err()
    }
}
