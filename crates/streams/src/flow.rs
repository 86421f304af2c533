//! The way of one stream: a session, the page, its player, the last mile, and looks at it until it ends.

mod last_mile;
mod place;

use std::time::Duration;

use deskhand_app::{ActByHand, KeptComputer, PlayerError};
use deskhand_core::{
    browser::{PageMedia, PlayerState, PlayerWish},
    id::{SessionId, UserId},
    stream::StreamState,
    viewer::Viewer,
};
use deskhand_jamie::{
    ErrorCode,
    contract::{StatusUpdate, StreamRequest},
};
use deskhand_store::{StoreError, StreamRow};
use serde_json::json;
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    controller::Streams,
    fault::{Fault, Tries},
    settings::LastMile,
    share::ShareTabs,
    step::{Step, StepOutcome},
};

/// The longest time for one thing on the computer, its start included.
pub(crate) const COMPUTER_TIMEOUT: Duration = Duration::from_secs(45);
/// The time that a page has to show its player.
const PLAYER_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a player has to move after it was told to play.
const MOVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two looks while the stream starts.
pub(crate) const GLANCE_EVERY: Duration = Duration::from_millis(250);

/// A stream on its way.
#[derive(Debug)]
pub(crate) struct Flow<'a> {
    pub(crate) streams: &'a Streams,
    pub(crate) request: &'a StreamRequest,
    pub(crate) session: Option<SessionId>,
    /// Keeps the session awake, although people only watch.
    computer: Option<KeptComputer>,
    /// The problem with the model of the settings, if there is one.
    pub(crate) model_problem: Option<String>,
    /// The answers of models and their cost so far.
    pub(crate) n_steps: u64,
    pub(crate) cost_usd: f64,
    /// The tabs of a stream that is shared.
    pub(crate) tabs: Option<ShareTabs>,
    /// True if people may have a link to the session, perhaps one of an earlier server.
    has_links: bool,
    /// The link that people were told.
    told_link: Option<String>,
    state: StreamState,
    began_at: Instant,
    /// The end of the longest time of a stream.
    ends_at: Instant,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(streams: &'a Streams, row: &StreamRow, request: &'a StreamRequest) -> Self {
        let (inner, now) = (&streams.0, Instant::now());
        // A stream that an earlier server left has had a part of its time.
        let ran = row
            .started_at
            .map(|at| inner.clock.now().duration_since(at));
        let ran = ran.and_then(|ran| Duration::try_from(ran).ok());
        let left = inner
            .settings
            .longest
            .saturating_sub(ran.unwrap_or_default());
        Self {
            streams,
            request,
            session: row.session,
            computer: None,
            model_problem: None,
            n_steps: row.n_steps,
            cost_usd: row.cost_usd,
            tabs: None,
            has_links: row.watch_link.is_some(),
            told_link: None,
            state: row.state,
            began_at: now,
            ends_at: now + left,
        }
    }

    pub(crate) fn owner(&self) -> UserId {
        self.streams.0.owner
    }

    fn last_mile(&self) -> &'a LastMile {
        &self.streams.0.settings.last_mile
    }

    /// Shows the page to the viewers, and returns when there is nothing left to show. Retries failures as the table of
    /// error codes says.
    pub(crate) async fn perform(&mut self) -> Result<(), Fault> {
        if self.state == StreamState::Pending {
            self.advance(StreamState::Starting).await?;
        }
        let mut tries = Tries::default();
        // All tries to start have one time together.
        let mut due = self.start_due();
        while !self.is_time_over() {
            if Instant::now() >= due {
                return Err(self.late());
            }
            let (fault, was_live) = match timeout_at(due, self.start()).await {
                Ok(Ok(())) => match self.watch(&mut tries).await {
                    Ok(()) => return Ok(()),
                    Err(fault) => (fault, true),
                },
                Ok(Err(fault)) => (fault, false),
                Err(_late) if self.is_held() => (ErrorCode::Timeout.into(), false),
                Err(_late) => return Err(self.late()),
            };
            if self.is_session_over().await {
                return Ok(());
            }
            if self.is_held() {
                self.wait_for_control().await;
                due = self.start_due();
                continue;
            }
            self.recover(fault, &mut tries).await?;
            if was_live {
                due = self.start_due();
            }
        }
        Ok(())
    }

    fn start_due(&self) -> Instant {
        Instant::now() + self.streams.0.settings.start_timeout
    }

    fn late(&self) -> Fault {
        let seconds = self.streams.0.settings.start_timeout.as_secs();
        let message = format!("the page did not play within {seconds} s");
        Fault::new(ErrorCode::Timeout, message)
    }

    pub(crate) fn is_time_over(&self) -> bool {
        Instant::now() >= self.ends_at
    }

    /// Returns true while a person has control of the computer. They see to the page, so the stream waits for them.
    pub(crate) fn is_held(&self) -> bool {
        let computers = self.streams.0.app.computers();
        self.session.is_some_and(|id| computers.is_held(id))
    }

    /// Waits while a person has control of the computer, at most until the end of the stream.
    async fn wait_for_control(&self) {
        let Some(session) = self.session else {
            return;
        };
        tracing::info!(stream.id = %self.request.session_id, "a stream waits for a person who has control");
        self.tell_step("Somebody uses the computer, waiting for them");
        let app = &self.streams.0.app;
        // The stream begins again after this, so a model's turn must not go on. Usually there is none.
        let viewer = Viewer::User(self.owner());
        let _ = app.sessions().stop_turn(viewer, session).await;
        let freed = app.computers().until_free(session);
        let _ = timeout_at(self.ends_at, freed).await;
    }

    /// Waits for the next retry, or gives up. Ends the session first if the computer can no longer be trusted.
    async fn recover(&mut self, fault: Fault, tries: &mut Tries) -> Result<(), Fault> {
        let Some(wait) = tries.next(fault.code) else {
            return Err(fault);
        };
        tracing::warn!(
            stream.id = %self.request.session_id,
            error.code = fault.code.name(),
            error.message = fault.message,
            wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "a stream is tried again"
        );
        self.tell_step("Something went wrong, trying again");
        let needs_fresh = matches!(
            fault.code,
            ErrorCode::SandboxTimeout | ErrorCode::SandboxFailed | ErrorCode::AgentStuck
        );
        if needs_fresh {
            self.withdraw().await;
            self.discard_session().await;
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Starts the computer, and brings the page to the people.
    async fn start(&mut self) -> Result<(), Fault> {
        let session = self.ensure_session().await?;
        self.tell_step("Starting the computer");
        self.keep_computer(session).await?;
        self.player(session, PlayerWish::Look).await?;
        self.bring(session).await?;
        self.go_live().await
    }

    /// Opens the page, as a person would by hand. It is in the session's log.
    pub(crate) async fn open_page(&self, session: SessionId) -> Result<(), Fault> {
        if self.is_held() {
            return Err(PlayerError::Held.into());
        }
        let act = ActByHand {
            tool: "browser".to_owned(),
            input: json!({"action": "navigate", "url": self.request.url}),
            look: false,
        };
        let computers = self.streams.0.app.computers();
        let opening = computers.act_by_hand(self.owner(), session, act);
        let opened = timeout(COMPUTER_TIMEOUT, opening).await;
        let opened = opened.map_err(|_late| Fault::from(ErrorCode::SandboxTimeout))??;
        // The look finds out whether the computer is at fault.
        let media = self.player(session, PlayerWish::Look).await?;
        let is_refused = media.status.is_some_and(|status| status >= 400);
        if opened.is_error || is_refused && media.player.is_none() {
            return Err(ErrorCode::UrlUnreachable.into());
        }
        Ok(())
    }

    /// Makes the page play. Returns false if it has nothing to play.
    pub(crate) async fn play(&mut self, session: SessionId) -> Result<bool, Fault> {
        if self.find_player(session).await?.is_some() {
            self.player(session, PlayerWish::Play).await?;
            if self.is_moving(session).await? {
                return Ok(true);
            }
        }
        let report = self.ask(session, Step::Play).await?;
        if report
            .as_ref()
            .is_some_and(|report| report.outcome == StepOutcome::NothingToPlay)
        {
            return Ok(false);
        }
        // Whatever the model says, the player tells the truth.
        let Some(player) = self.find_player(session).await? else {
            let is_told = report.is_some();
            return match is_told {
                true => Ok(false),
                false => Err(ErrorCode::AgentStuck.into()),
            };
        };
        if player.is_muted || player.is_paused {
            self.player(session, PlayerWish::Play).await?;
        }
        match self.is_moving(session).await? {
            true => Ok(true),
            false => Err(Fault::new(ErrorCode::AgentStuck, "the page does not play")),
        }
    }

    /// Makes the player fill the screen. A stream goes on without that.
    pub(crate) async fn fill_screen(&mut self, session: SessionId) -> Result<(), Fault> {
        let media = self.player(session, PlayerWish::FillScreen).await?;
        let is_filled = |media: &PageMedia| {
            let player = media.player.as_ref();
            player.is_none_or(|player| player.fills_screen || !player.has_picture)
        };
        if is_filled(&media) || self.model_fault().is_some() {
            return Ok(());
        }
        if let Err(fault) = self.ask(session, Step::FillScreen).await {
            tracing::info!(stream.id = %self.request.session_id, error.code = fault.code.name(), "a player does not fill the screen");
        }
        Ok(())
    }

    /// Tells everybody.
    async fn go_live(&mut self) -> Result<(), Fault> {
        if self.state == StreamState::Streaming {
            self.tell_return();
            return Ok(());
        }
        let startup = self.began_at.elapsed().as_millis();
        tracing::info!(
            event = "session.started",
            session_id = %self.request.session_id,
            startup_time_ms = u64::try_from(startup).unwrap_or(u64::MAX),
            "a stream started"
        );
        self.advance(StreamState::Streaming).await?;
        self.told_link = self.streams.watch_url(self.request.session_id);
        tracing::info!(event = "session.streaming", session_id = %self.request.session_id, "people can watch");
        Ok(())
    }

    /// Waits until the page shows a player.
    async fn find_player(&self, session: SessionId) -> Result<Option<PlayerState>, Fault> {
        let until = Instant::now() + PLAYER_TIMEOUT;
        loop {
            let found = self.player(session, PlayerWish::Look).await?.player;
            if found.is_some() || Instant::now() >= until {
                return Ok(found);
            }
            tokio::time::sleep(GLANCE_EVERY).await;
        }
    }

    /// Waits until the player moves on.
    pub(crate) async fn is_moving(&self, session: SessionId) -> Result<bool, Fault> {
        let until = Instant::now() + MOVE_TIMEOUT;
        let mut first = None;
        while Instant::now() < until {
            let Some(player) = self.player(session, PlayerWish::Look).await?.player else {
                return Ok(false);
            };
            let position = (player.position_ms, player.n_frames);
            let has_moved = *first.get_or_insert(position) != position;
            if player.is_playing() && has_moved || player.is_ended {
                return Ok(true);
            }
            tokio::time::sleep(GLANCE_EVERY).await;
        }
        Ok(false)
    }

    pub(crate) async fn player(
        &self,
        session: SessionId,
        wish: PlayerWish,
    ) -> Result<PageMedia, Fault> {
        let computers = self.streams.0.app.computers();
        let using = computers.use_player(self.owner(), session, wish);
        let used = timeout(COMPUTER_TIMEOUT, using).await;
        Ok(used.map_err(|_late| Fault::from(ErrorCode::SandboxTimeout))??)
    }

    async fn advance(&mut self, to: StreamState) -> Result<(), Fault> {
        let moved = self.streams.advance(self.request, self.state, to, None);
        if !moved.await? {
            let id = self.request.session_id;
            return Err(StoreError::Gone(format!("the state of stream {id}")).into());
        }
        self.state = to;
        Ok(())
    }

    /// Tells the bot which step is being done.
    pub(crate) fn tell_step(&self, message: &str) {
        let update = self.update(Some(message.to_owned()));
        self.streams.0.reports.tell_bot(update);
    }

    /// Tells that a stream is live again, and everybody if people need another link.
    fn tell_return(&mut self) {
        let (update, reports) = (self.update(None), &self.streams.0.reports);
        if self.told_link == update.watch_url {
            return reports.tell_bot(update);
        }
        self.told_link.clone_from(&update.watch_url);
        reports.tell(self.request, update);
    }

    fn update(&self, message: Option<String>) -> StatusUpdate {
        let id = self.request.session_id;
        StatusUpdate {
            session_id: id,
            status: self.state,
            message,
            error_code: None,
            watch_url: self.streams.watch_url(id),
            timestamp: self.streams.0.clock.now(),
        }
    }
}
