//! The server's end of the link to one runner, over any byte stream.
//!
//! A request is kept until its result has arrived. When the runner dials again after a broken connection, the link
//! sends every unanswered request again, and the runner knows from the id which ones it has already carried out. So
//! a broken connection costs only time, until [`RECONNECT_TIMEOUT`] has passed or the sandbox has ended. Then each
//! caller learns if its request had been sent: if so, its fate is unknown.

pub(crate) mod accept;
mod control;
mod lease;
mod requests;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    action::ScreenSize,
    sandbox::{Actor, ByteStream, ComputerError, LeaseHolder, ListeningPort, StreamTarget},
    secret::Secret,
};
use deskhand_runner_protocol::{Connection, ToRunner, bytes_of};
use tokio::{
    sync::{Notify, Semaphore, oneshot, watch},
    time::timeout,
};
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

use self::{lease::ConfirmedHolder, requests::Requests};
use crate::{gateway::GatewayDoor, network::NetworkDoor};

/// The longest time that a request waits for a disconnected runner.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for reading the rest of a link whose runner has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The timeout for the runner to dial a stream.
const STREAM_TIMEOUT: Duration = Duration::from_secs(5);
/// The same for sound: PulseAudio may have to be started first. The runner gives up earlier, and says why.
const SOUND_TIMEOUT: Duration = Duration::from_secs(15);
/// The same for VS Code, which may have to be started first.
const CODE_TIMEOUT: Duration = Duration::from_secs(30);
/// The most streams of each kind that are opened at the same time. Both kinds together stay well below the most
/// handshakes.
const MOST_OPENING: usize = 8;

pub(crate) type Socket = WebSocketStream<Connection>;

/// The link to one runner, connected or not.
pub(crate) struct Link {
    token: Secret,
    /// The model gateway for the sandbox's programs, if they may use it.
    gateway: Option<GatewayDoor>,
    /// The network for the sandbox's programs, if it is connected.
    network: Option<NetworkDoor>,
    /// The process that presented the token first, if the transport tells.
    runner: Mutex<Option<i32>>,
    state: Mutex<State>,
    /// Notified when there may be something to send.
    wake: Notify,
    status: watch::Sender<Status>,
    /// The number of the newest lease holder that the runner has confirmed.
    confirmed_holder: watch::Sender<ConfirmedHolder>,
    /// Bounds the screens and terminals that are being opened.
    opening_watched: Semaphore,
    /// Bounds the other streams that are being opened. Programs may take long to accept them.
    opening_served: Semaphore,
    ended: CancellationToken,
}

/// The state of the runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    /// It has not connected yet.
    Expected,
    /// Its desktop did not start. The text gives the reason.
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
    /// The number of the newest control link. Older ones end when they notice.
    generation: u64,
    /// True once the newest control link has reported that it is ready.
    is_ready: bool,
    /// True once any control link has.
    was_ready: bool,
    has_ended: bool,
    requests: Requests,
    holder: LeaseHolder,
    /// The number of changes of the lease holder so far.
    holder_number: u64,
    /// The control link and the holder's number that were sent last.
    holder_sent: (u64, u64),
    /// Messages to send in addition to requests.
    notes: VecDeque<ToRunner>,
    last_stream: u64,
    /// Streams that the runner was asked to dial.
    streams: HashMap<u64, oneshot::Sender<Result<Socket, ComputerError>>>,
    /// The ports on which programs listen, as the newest control link reported them.
    ports: Vec<ListeningPort>,
    last_notice: Option<String>,
    last_words: Option<String>,
}

impl Link {
    /// Creates a link for the runner that knows this token.
    pub(crate) fn new(
        token: Secret,
        gateway: Option<GatewayDoor>,
        network: Option<NetworkDoor>,
    ) -> Self {
        Self {
            token,
            gateway,
            network,
            runner: Mutex::default(),
            state: Mutex::default(),
            wake: Notify::new(),
            status: watch::Sender::new(Status::Expected),
            confirmed_holder: watch::Sender::default(),
            opening_watched: Semaphore::new(MOST_OPENING),
            opening_served: Semaphore::new(MOST_OPENING),
            ended: CancellationToken::new(),
        }
    }

    /// Waits until the runner has reported on its start for the first time.
    pub(crate) async fn started(&self) -> Status {
        let mut status = self.status.subscribe();
        match status.wait_for(|status| *status != Status::Expected).await {
            Ok(status) => status.clone(),
            // The sender is part of the link itself, so the channel cannot be closed.
            Err(_) => Status::Ended,
        }
    }

    /// Opens a byte stream to something in the sandbox.
    pub(crate) async fn open_stream(
        &self,
        target: StreamTarget,
        actor: Actor,
    ) -> Result<ByteStream, ComputerError> {
        let (opening, at_most) = match target {
            StreamTarget::Screen | StreamTarget::Video | StreamTarget::Terminal { .. } => {
                (&self.opening_watched, STREAM_TIMEOUT)
            }
            StreamTarget::Sound => (&self.opening_watched, SOUND_TIMEOUT),
            StreamTarget::File | StreamTarget::Port { .. } | StreamTarget::Program => {
                (&self.opening_served, STREAM_TIMEOUT)
            }
            StreamTarget::Code => (&self.opening_served, CODE_TIMEOUT),
        };
        // The runner's handshakes beyond a limit are dropped. The semaphore is never closed.
        let _opening = opening.acquire().await;
        let dialled = self.ask_for_stream(target, actor)?;
        match timeout(at_most, dialled).await {
            Ok(Ok(Ok(socket))) => Ok(bytes_of(socket)),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(ComputerError::Gone),
            Err(_) => Err(ComputerError::Failed(format!(
                "the sandbox did not open the stream within {} s",
                at_most.as_secs()
            ))),
        }
    }

    /// Returns the ports on which programs listen.
    pub(crate) fn ports(&self) -> Vec<ListeningPort> {
        self.state().ports.clone()
    }

    /// Returns the runner's last notice about its programs.
    pub(crate) fn last_notice(&self) -> Option<String> {
        self.state().last_notice.clone()
    }

    /// Returns true if the runner has ever reported that it is ready. Only then can other programs have run.
    pub(crate) fn was_ready(&self) -> bool {
        self.state().was_ready
    }

    /// Waits until everything that an ended runner has sent was read, and returns its reason for ending.
    pub(crate) async fn last_words(&self) -> Option<String> {
        let mut status = self.status.subscribe();
        let is_closed = |status: &Status| !matches!(status, Status::Ready(_));
        // Its end of the connection closes with it, so this takes no time unless the server is very busy.
        let _ = timeout(DRAIN_TIMEOUT, status.wait_for(is_closed)).await;
        self.state().last_words.clone()
    }

    /// Ends the link because the sandbox is gone. Pending requests get an error.
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
        actor: Actor,
    ) -> Result<oneshot::Receiver<Result<Socket, ComputerError>>, ComputerError> {
        let mut state = self.state();
        if state.has_ended {
            return Err(ComputerError::Gone);
        }
        // A caller that is gone no longer wants the stream.
        state.streams.retain(|_, asker| !asker.is_closed());
        state.last_stream += 1;
        let stream = state.last_stream;
        let (asker, dialled) = oneshot::channel();
        state.streams.insert(stream, asker);
        state.notes.push_back(ToRunner::OpenStream {
            stream,
            target,
            actor,
        });
        drop(state);
        self.wake.notify_waiters();
        Ok(dialled)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code under this lock panics. If it did, the state would still be consistent.
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

#[cfg(test)]
mod duplex_tests;
