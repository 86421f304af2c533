//! Sessions: everything that can be done with one.

mod by_hand;
mod change;
mod decisions;
mod errors;
mod lease;
mod people;
mod queue;
mod reconcile;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    blob::{BlobError, BlobFormat, BlobName, Blobs},
    budget::{Amount, ChangeBudget},
    clock::Clock,
    event::LoggedEvent,
    id::{MessageId, SessionId, UserId},
    model::Models,
    policy::Policy,
    right::Right,
    sandbox::{Actor, ByteStream, Call, ComputerExt, Lifecycle, Look, StreamTarget, Streams},
    session::{Phase, SandboxState, Session, Signal},
    tasks::Tasks,
    viewer::Viewer,
};
use deskhand_store::{
    MessagePage, NewSession, PhaseMove, SessionPage, Store, StoreError, Transition,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use by_hand::{ActByHand, ActByHandError, ByHand};
pub use change::ChangeSession;
pub use decisions::{AnswerError, GivenReply, ListDecisions};
pub use errors::{
    BadInstructions, ChangeMessageError, ChangeSessionError, CreateSessionError, FindError,
    OpenScreenError, ScreenshotError, SendPromptError, StopTurnError,
};
pub use lease::{ControlError, TakeControl};
pub use queue::{ChangeMessage, Choice, Place, SendPrompt};

pub use people::{JoinError, MadeShare, PersonError, ShareError, ShareSession};

use crate::{
    Feed, Parts, Settings,
    access::AccessChanges,
    awake::Awake,
    bus::{Bus, Notice},
    control::Rooms,
    decisions::DecisionNews,
    live::Live,
    log::Log,
    presence::Presence,
    session_computer::Computers,
    vault::Vault,
};

/// The time over which new sessions are counted.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// The longest title.
pub(crate) const LONGEST_TITLE: usize = 200;

/// All sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Sessions {
    pub(crate) shared: Arc<Shared>,
    pub(crate) awake: Arc<Awake>,
}

/// What sessions and their workers have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) bus: Arc<Bus>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) sandboxes: Arc<dyn Lifecycle>,
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
    pub(crate) access: AccessChanges,
    pub(crate) presence: Presence,
    pub(crate) decision_news: DecisionNews,
    /// Tells those who wait for more that there may be more.
    pub(crate) budget_news: watch::Sender<()>,
    /// Fires before everything else when the server ends.
    pub(crate) parking: CancellationToken,
    pub(crate) rooms: Rooms,
    pub(crate) settings: Settings,
}

/// A session somebody wants.
#[derive(Debug, Default)]
pub struct CreateSession {
    pub title: Option<String>,
    pub model: Option<String>,
    /// What its agent is told besides what every agent is told.
    pub instructions: Option<String>,
    /// A JSON object.
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// The owner's default without it.
    pub approvals: Option<Policy>,
    /// Where nothing is said, the settings hold.
    pub budget: ChangeBudget,
}

/// A picture to show.
#[derive(Debug)]
pub struct Picture {
    pub bytes: Bytes,
    pub format: BlobFormat,
}

impl Shared {
    pub(crate) fn computers(&self) -> Computers {
        Computers {
            sandboxes: Arc::clone(&self.sandboxes),
            vault: self.vault.clone(),
        }
    }
}

impl Sessions {
    pub(crate) fn new(parts: Parts, vault: Vault, access: AccessChanges) -> Self {
        let bus = Arc::<Bus>::default();
        let log = Log::new(
            parts.store.clone(),
            Arc::clone(&parts.clock),
            Arc::clone(&bus),
            parts.tasks.clone(),
        );
        let shared = Shared {
            store: parts.store,
            log,
            bus,
            blobs: parts.blobs,
            models: parts.models,
            sandboxes: parts.sandboxes,
            vault,
            clock: parts.clock,
            tasks: parts.tasks,
            access,
            presence: Presence::default(),
            decision_news: DecisionNews::default(),
            budget_news: watch::Sender::new(()),
            parking: CancellationToken::new(),
            rooms: Rooms::default(),
            settings: parts.settings,
        };
        Self {
            shared: Arc::new(shared),
            awake: Arc::default(),
        }
    }

    /// Makes a session. Its sandbox starts in the background.
    pub async fn create(
        &self,
        owner: UserId,
        wanted: CreateSession,
    ) -> Result<Session, CreateSessionError> {
        let shared = &self.shared;
        let model = wanted
            .model
            .unwrap_or_else(|| shared.models.default_model());
        shared.check_model(&model)?;
        let instructions = wanted.instructions.unwrap_or_default();
        change::check_instructions(&instructions)?;
        let title = wanted.title.unwrap_or_default();
        if title.chars().count() > LONGEST_TITLE {
            return Err(CreateSessionError::LongTitle);
        }
        let approvals = match wanted.approvals {
            Some(policy) => policy,
            None => {
                let default = shared.store.default_approvals(owner).await?;
                default.unwrap_or_default()
            }
        };
        approvals.check()?;
        wanted.budget.check()?;
        let now = shared.clock.now();
        let session = Session {
            id: SessionId::new(),
            owner,
            right: Right::Owner,
            title: title.trim().to_owned(),
            model,
            instructions,
            metadata: serde_json::Value::Object(wanted.metadata.unwrap_or_default()),
            approvals,
            phase: Phase::Initializing,
            sandbox: SandboxState::None,
            lease: None,
            cost_usd: 0.0,
            tokens: 0,
            budget: shared.settings.session_budget.with(wanted.budget),
            granted: Amount::default(),
            last_seq: 1,
            created_at: now,
            updated_at: now,
        };
        // Its place first: a session that cannot have one is not made.
        let kept = self.wake(&session).await?;
        if let Err(error) = self.insert(&session).await {
            self.forget(kept).await;
            return Err(error);
        }
        let made = shared
            .store
            .session(Viewer::User(owner), session.id)
            .await?;
        shared.tasks.spawn("first sandbox", async move {
            // A failure is in the log already, and the next prompt tries again.
            let _ = kept.live.desk.computer().await;
        });
        made.ok_or_else(|| {
            StoreError::Unreadable(format!("session {} went away", session.id)).into()
        })
    }

    async fn insert(&self, session: &Session) -> Result<(), CreateSessionError> {
        let limits = self.limits_of(session.owner).await?;
        let new = NewSession {
            id: session.id,
            owner: session.owner,
            title: &session.title,
            model: &session.model,
            instructions: &session.instructions,
            metadata: &session.metadata,
            approvals: &session.approvals,
            budget: session.budget,
            created_at: session.created_at,
        };
        let since = session.created_at - DAY;
        let inserted = self.shared.store.insert_session_within(new, limits, since);
        match inserted.await? {
            Ok(_) => {
                self.shared.bus.changed(session.id);
                Ok(())
            }
            Err(made) => {
                let error = CreateSessionError::TooManyToday {
                    used: made.n_sessions,
                    limit: limits.sessions_per_day,
                    frees_at: made.in_the_way.and_then(|at| at.checked_add(DAY).ok()),
                };
                let notice = Notice {
                    code: "too_many_today",
                    message: error.to_string(),
                };
                self.shared.bus.notify(session.owner, &notice);
                Err(error)
            }
        }
    }

    /// A session that this viewer may see.
    pub async fn find(&self, viewer: Viewer, id: SessionId) -> Result<Session, FindError> {
        self.shared
            .store
            .session(viewer, id)
            .await?
            .ok_or(FindError::NoSession(id))
    }

    /// A session in which this viewer has at least this right.
    pub(crate) async fn find_with(
        &self,
        needed: Right,
        viewer: Viewer,
        id: SessionId,
    ) -> Result<Session, FindError> {
        let session = self.find(viewer, id).await?;
        if session.right >= needed {
            return Ok(session);
        }
        Err(FindError::NotAllowed {
            session: id,
            has: session.right,
            needed,
        })
    }

    /// Newest first.
    pub async fn list(
        &self,
        viewer: Viewer,
        before: Option<SessionId>,
        limit: u32,
    ) -> Result<SessionPage, StoreError> {
        self.shared.store.sessions(viewer, before, limit).await
    }

    /// Ends a session for good: its turn, its sandbox and its files. The log stays.
    pub async fn terminate(&self, viewer: Viewer, id: SessionId) -> Result<(), FindError> {
        let session = self.find_with(Right::Owner, viewer, id).await?;
        if session.phase == Phase::Terminated {
            return Ok(());
        }
        let kept = self.wake_anyway(&session).await?;
        let sessions = self.clone();
        // A task of its own, since whoever asked for it may not stay until its end.
        let ending = self.shared.tasks.spawn("terminate", async move {
            let ended = sessions.end(&kept.live).await;
            if ended.is_ok()
                && let Err(error) = sessions.shared.sandboxes.remove_files(id).await
            {
                tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "a session's files were not removed; the next start tries again");
            }
            sessions.forget(kept).await;
            ended
        });
        let ended = ending.await;
        ended.unwrap_or_else(|error| Err(StoreError::Unreadable(error.to_string())))?;
        Ok(())
    }

    /// Ends the worker, the sandbox and the session.
    async fn end(&self, live: &Live) -> Result<(), StoreError> {
        live.end().await;
        live.desk.close(SandboxState::None).await?;
        let transition = Transition {
            phase: PhaseMove::Must(Signal::Terminated),
            sandbox: Some(SandboxState::None),
            ..Transition::default()
        };
        let room = self.shared.rooms.room(live.session);
        {
            let _change = room.change.lock().await;
            self.shared.log.transition(live.session, transition).await?;
            room.clear();
        }
        self.shared.rooms.forget(live.session);
        Ok(())
    }

    /// Stops the turn that runs. Its end is in the log soon after.
    pub async fn stop_turn(&self, viewer: Viewer, id: SessionId) -> Result<(), StopTurnError> {
        let session = self.find_with(Right::Drive, viewer, id).await?;
        let running = matches!(session.phase, Phase::Running | Phase::Waiting);
        if running && self.awake.get(id).is_some_and(|live| live.stop_turn()) {
            Ok(())
        } else {
            Err(StopTurnError::NotRunning(id))
        }
    }

    /// Oldest first.
    pub async fn messages(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, FindError> {
        self.find(viewer, id).await?;
        Ok(self.shared.store.messages(id, after, limit).await?)
    }

    /// Oldest first, after number `after`.
    pub async fn events(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<LoggedEvent>, FindError> {
        self.find(viewer, id).await?;
        Ok(self.shared.store.events(id, after, limit).await?)
    }

    /// The past after number `after`, then what happens.
    pub async fn follow(
        &self,
        viewer: Viewer,
        id: SessionId,
        after: u64,
    ) -> Result<Feed, FindError> {
        let session = self.find(viewer, id).await?;
        if after > session.last_seq {
            return Err(FindError::AfterNewest {
                after,
                newest: session.last_seq,
            });
        }
        Ok(self.shared.log.follow(id, after).await?)
    }

    /// The screen now, or the newest picture of the log when the sandbox does not run or somebody
    /// else has control.
    pub async fn screenshot(
        &self,
        user: UserId,
        id: SessionId,
    ) -> Result<Picture, ScreenshotError> {
        self.find(Viewer::User(user), id).await?;
        if let Some(computer) = self.awake.get(id).and_then(|live| live.desk.running()) {
            let look = Look {
                format: BlobFormat::Png,
                shown: None,
            };
            let call = Call::by(Actor::Person(user));
            if let Ok(frame) = computer.perform(call, look).await {
                return Ok(Picture {
                    bytes: frame.bytes,
                    format: frame.format,
                });
            }
        }
        let newest = self.shared.store.newest_screenshot(id).await?;
        let newest = newest.ok_or(ScreenshotError::None(id))?;
        let bytes = self.shared.blobs.get(&newest.blob).await?;
        Ok(Picture {
            bytes,
            format: newest.blob.format(),
        })
    }

    /// A picture that an event names.
    pub async fn blob(&self, viewer: Viewer, name: BlobName) -> Result<Picture, ScreenshotError> {
        if !self.shared.store.may_see_blob(viewer, &name).await? {
            return Err(ScreenshotError::NoBlob(name));
        }
        match self.shared.blobs.get(&name).await {
            Ok(bytes) => Ok(Picture {
                bytes,
                format: name.format(),
            }),
            Err(BlobError::Missing(name)) => Err(ScreenshotError::NoBlob(name)),
            Err(error) => Err(error.into()),
        }
    }

    /// The screen as RFB. Whoever may send messages wakes a session that sleeps.
    pub async fn open_screen(
        &self,
        viewer: Viewer,
        id: SessionId,
        may_wake: bool,
    ) -> Result<ByteStream, OpenScreenError> {
        let session = self.find(viewer, id).await?;
        let mut computer = self.awake.get(id).and_then(|live| live.desk.running());
        let sleeps = computer.is_none() && session.phase != Phase::Terminated;
        if sleeps && may_wake && session.right >= Right::Suggest {
            let kept = self.wake(&session).await?;
            computer = kept.live.desk.computer().await.ok();
        }
        let computer = computer.ok_or(OpenScreenError::NoSandbox(id))?;
        let actor = viewer.user().map_or(Actor::Agent, Actor::Person);
        let opened = computer.open(StreamTarget::Screen, actor).await;
        opened.map_err(|error| {
            tracing::warn!(session.id = %id, error = &error as &dyn std::error::Error, "the screen could not be opened");
            OpenScreenError::NoSandbox(id)
        })
    }

    /// Settles what expired while no server ran, and goes on settling.
    pub(crate) async fn settle_expired(&self) -> Result<(), StoreError> {
        self.shared.settle_expired().await?;
        let shared = Arc::clone(&self.shared);
        self.shared
            .tasks
            .spawn("decisions", async move { shared.keep_settling().await });
        Ok(())
    }

    /// From now on turns are left for the next start instead of being ended.
    pub(crate) fn park(&self) {
        self.shared.parking.cancel();
    }

    /// Ends all workers and sandboxes; sessions go on at the next start.
    pub(crate) async fn close_all(&self) {
        let lives = self.awake.all();
        let ends = lives.iter().map(|live| async {
            live.end().await;
            if let Err(error) = live.desk.close(SandboxState::Stopped).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a sandbox's end was not logged"
                );
            }
        });
        futures::future::join_all(ends).await;
    }
}
