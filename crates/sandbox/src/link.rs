//! The server's end of the link to one runner.
//!
//! A request is kept from the moment it is asked until its result is here: when the runner
//! dials again after a broken connection, everything unanswered is sent again, and the runner
//! knows from the id what it has done already. So a broken connection costs time and nothing
//! else, until [`RECONNECT_PATIENCE`] is used up or the sandbox is gone. Then each caller hears
//! whether the request had left: if it had, its fate is unknown.

pub(crate) mod accept;
mod control;
mod driver;
mod requests;
mod stream;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    action::ScreenSize,
    sandbox::{ByteStream, ComputerError, Driver},
    secret::Secret,
};
use deskhand_runner_protocol::{StreamTarget, ToRunner};
use tokio::{
    net::UnixStream,
    sync::{Notify, oneshot, watch},
    time::timeout,
};
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

use self::requests::Requests;
use crate::gateway::GatewayDoor;

/// How long a request waits for a runner whose connection is broken.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a runner may take to dial a stream it was asked for.
const STREAM_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) type Socket = WebSocketStream<UnixStream>;

/// The link to one runner, whether it is connected just now or not.
pub(crate) struct Link {
    token: Secret,
    /// Where the sandbox's programs may ask models, if anywhere.
    gateway: Option<GatewayDoor>,
    state: Mutex<State>,
    /// There may be something to send.
    wake: Notify,
    status: watch::Sender<Status>,
    /// The number of the newest driver that the runner has said it obeys.
    known_driver: watch::Sender<u64>,
    ended: CancellationToken,
}

/// How things stand with the runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    /// It has not been heard of yet.
    Expected,
    /// Its desktop did not come up. The text says why.
    StartFailed(String),
    /// It is connected and its desktop has this size.
    Ready(ScreenSize),
    /// It was connected and is expected to dial again.
    Broken,
    /// The sandbox is gone.
    Ended,
}

#[derive(Default)]
struct State {
    /// Which control link is the newest. Older ones end when they notice.
    generation: u64,
    /// Whether the newest control link has said that it is ready.
    is_ready: bool,
    has_ended: bool,
    requests: Requests,
    driver: Driver,
    /// Counts drivers; 0 is before anybody took control.
    driver_number: u64,
    /// The control link and the driver's number that went out last.
    driver_sent: (u64, u64),
    /// What goes out besides requests.
    notes: VecDeque<ToRunner>,
    last_stream: u64,
    /// Streams that the runner was asked to dial.
    streams: HashMap<u64, oneshot::Sender<Result<Socket, String>>>,
    last_notice: Option<String>,
}

impl Link {
    /// A link for the runner that knows this token.
    pub(crate) fn new(token: Secret, gateway: Option<GatewayDoor>) -> Self {
        Self {
            token,
            gateway,
            state: Mutex::default(),
            wake: Notify::new(),
            status: watch::Sender::new(Status::Expected),
            known_driver: watch::Sender::new(0),
            ended: CancellationToken::new(),
        }
    }

    /// Waits until the runner has said for the first time how its start went.
    pub(crate) async fn started(&self) -> Status {
        let mut status = self.status.subscribe();
        match status.wait_for(|status| *status != Status::Expected).await {
            Ok(status) => status.clone(),
            // The sender is part of the link itself, so this cannot be seen.
            Err(_) => Status::Ended,
        }
    }

    /// Opens a byte stream to something in the sandbox.
    pub(crate) async fn open_stream(
        &self,
        target: StreamTarget,
    ) -> Result<ByteStream, ComputerError> {
        let dialled = self.ask_for_stream(target)?;
        match timeout(STREAM_PATIENCE, dialled).await {
            Ok(Ok(Ok(socket))) => Ok(stream::bytes_of(socket)),
            Ok(Ok(Err(problem))) => Err(ComputerError::Failed(problem)),
            Ok(Err(_)) => Err(ComputerError::Gone),
            Err(_) => Err(ComputerError::Failed(format!(
                "the sandbox did not open the stream within {} s",
                STREAM_PATIENCE.as_secs()
            ))),
        }
    }

    /// The last thing the runner said about its programs.
    pub(crate) fn last_notice(&self) -> Option<String> {
        self.state().last_notice.clone()
    }

    /// The sandbox is gone: nothing that waits will be answered.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.is_ready = false;
        state.requests.lose_all();
        state.streams.clear();
        drop(state);
        self.status.send_replace(Status::Ended);
        self.ended.cancel();
        self.wake.notify_waiters();
    }

    fn ask_for_stream(
        &self,
        target: StreamTarget,
    ) -> Result<oneshot::Receiver<Result<Socket, String>>, ComputerError> {
        let mut state = self.state();
        if state.has_ended {
            return Err(ComputerError::Gone);
        }
        // Whoever asked and went away no longer wants the stream.
        state.streams.retain(|_, asker| !asker.is_closed());
        state.last_stream += 1;
        let stream = state.last_stream;
        let (asker, dialled) = oneshot::channel();
        state.streams.insert(stream, asker);
        state
            .notes
            .push_back(ToRunner::OpenStream { stream, target });
        drop(state);
        self.wake.notify_waiters();
        Ok(dialled)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; if something did, the state would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link")
            .field("status", &*self.status.borrow())
            .finish_non_exhaustive()
    }
}
