//! The link to the server. The runner dials it, keeps it open, and dials again when it breaks.

mod dial;
mod outbox;
mod places;
mod stream;

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{sandbox::LeaseHolder, tasks::Tasks};
use deskhand_runner_protocol::{Connection, FromRunner, ToRunner, codec::BadEnvelope};
use futures::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message},
};

pub use self::dial::Dialler;
use self::stream::{StreamOpener, StreamTargets};
pub(crate) use self::{
    dial::{Server, UnixDialler},
    outbox::Outbox,
    stream::copy,
};
use crate::{
    barrier::Barrier, code_server::CodeServer, ports::PortWatch, programs::Programs,
    requests::work::Work, sound::SoundCard, surface::Surface, takeover::TakeOver,
    terminals::Terminals,
};

/// The timeout for releasing keys and buttons when control changes.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) type Socket = WebSocketStream<Connection>;

/// Reasons why a link was not made or ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("could not reach the server")]
    Connect(#[source] io::Error),
    #[error("the server did not answer")]
    Silent,
    #[error("the token cannot be sent in a header")]
    Token(#[source] tungstenite::http::header::InvalidHeaderValue),
    #[error("the WebSocket failed")]
    WebSocket(#[from] tungstenite::Error),
    #[error("the server sent an unknown message")]
    Envelope(#[from] BadEnvelope),
    #[error("the server did not keep up")]
    Slow,
}

/// Serves the control link.
#[derive(Debug)]
pub(crate) struct Link {
    server: Server,
    surface: Surface,
    outbox: Outbox,
    work: Work,
    takeover: TakeOver,
    terminals: Terminals,
    ports: PortWatch,
    streams: StreamOpener,
    settled: SettledLease,
}

/// The lease holder whom the sandbox obeys, with the problem of getting there. Empty while it changes to another one:
/// a link may break in the middle, and then the next one has to do it all again.
#[derive(Debug)]
struct SettledLease(Mutex<Option<(LeaseHolder, Option<String>)>>);

/// The parts of the sandbox that the link reaches.
#[derive(Debug)]
pub(crate) struct LinkParts {
    pub(crate) surface: Surface,
    pub(crate) terminals: Terminals,
    pub(crate) code: CodeServer,
    pub(crate) programs: Programs,
    pub(crate) sound: Option<SoundCard>,
    pub(crate) work: Work,
    pub(crate) takeover: TakeOver,
    pub(crate) barrier: Barrier,
}

impl Link {
    pub(crate) fn new(server: Server, outbox: Outbox, parts: LinkParts, tasks: Tasks) -> Self {
        let LinkParts {
            surface,
            terminals,
            code,
            programs,
            sound,
            work,
            takeover,
            barrier,
        } = parts;
        let ports = PortWatch::start(outbox.clone(), code.clone(), &tasks);
        let targets = StreamTargets {
            surface: surface.clone(),
            terminals: terminals.clone(),
            code,
            programs,
            sound,
        };
        let streams = StreamOpener::new(server.clone(), targets, outbox.clone(), barrier, tasks);
        Self {
            server,
            surface,
            outbox,
            work,
            takeover,
            terminals,
            ports,
            streams,
            settled: SettledLease::default(),
        }
    }

    /// Serves one link after another, beginning with one that is already open. Returns once the last words are sent.
    pub(crate) async fn serve(&self, first: Socket) {
        let mut socket = first;
        loop {
            match self.serve_one(socket).await {
                Ok(()) => tracing::info!("the server closed the link"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the link broke");
                }
            }
            if self.outbox.is_closed() {
                return;
            }
            self.outbox.leave();
            socket = self.server.dial_until_up().await;
        }
    }

    /// Serves one link until it ends. Reading never waits for writing.
    async fn serve_one(&self, socket: Socket) -> Result<(), LinkError> {
        let (mut sink, mut stream) = socket.split();
        let mut waiting = self.outbox.join(FromRunner::Ready {
            screen: self.surface.size(),
        });
        self.ports.tell_again();
        let write = async {
            while let Some(message) = waiting.recv().await {
                sink.send(Message::Binary(message)).await?;
            }
            Err(LinkError::Slow)
        };
        let read = async {
            while let Some(message) = stream.next().await {
                match message? {
                    Message::Binary(message) => self.receive(ToRunner::unpack(&message)?).await,
                    Message::Close(_) => break,
                    Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                }
            }
            Ok(())
        };
        tokio::select! {
            ended = write => ended,
            ended = read => ended,
        }
    }

    async fn receive(&self, message: ToRunner) {
        match message {
            ToRunner::Request { id, actor, request } => self.work.take(id, actor, request),
            ToRunner::SetLeaseHolder { number, holder } => {
                self.set_lease_holder(number, holder).await;
            }
            ToRunner::Ack { id } => self.outbox.acknowledge(id),
            ToRunner::Cancel { id } => self.outbox.cancel(id),
            ToRunner::OpenStream {
                stream,
                target,
                actor,
            } => self.streams.open(stream, target, actor),
        }
    }

    /// Switches to another lease holder, and confirms it once all keys and buttons that others pressed are
    /// released, changes of files that others began have ended, and the agent's programs are frozen or go on.
    async fn set_lease_holder(&self, number: u64, holder: LeaseHolder) {
        let settling = async {
            self.outbox.set_lease_holder(holder);
            self.settle_lease(holder).await
        };
        let problem = self.settled.settle(holder, settling).await;
        self.outbox
            .tell(FromRunner::LeaseHolderSet { number, problem });
    }

    /// Makes the sandbox obey this lease holder. Returns the reason why it is not private for them.
    async fn settle_lease(&self, holder: LeaseHolder) -> Option<String> {
        self.terminals.set_lease_holder(holder);
        let released = timeout(RELEASE_TIMEOUT, self.surface.release_all());
        match released.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not release keys and buttons");
            }
            // A program has the X server for itself. They are released when it is stopped.
            Err(_late) => tracing::warn!("the X server does not respond"),
        }
        self.streams.set_lease_holder(holder).await;
        let problem = self.takeover.set_holder(holder).await.err();
        problem.map(|problem| problem.to_string())
    }
}

impl SettledLease {
    /// Does the work for a lease holder, unless it is done already. Returns the problem with it.
    async fn settle(
        &self,
        holder: LeaseHolder,
        work: impl Future<Output = Option<String>>,
    ) -> Option<String> {
        let settled = self.lock().take();
        let problem = match settled {
            Some((settled, problem)) if settled == holder => problem,
            _ => work.await,
        };
        *self.lock() = Some((holder, problem.clone()));
        problem
    }

    fn lock(&self) -> MutexGuard<'_, Option<(LeaseHolder, Option<String>)>> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SettledLease {
    /// A sandbox begins with nobody's lease.
    fn default() -> Self {
        Self(Mutex::new(Some((LeaseHolder::Nobody, None))))
    }
}

/// Reports to the server that the start failed, as the last message of this link.
pub(crate) async fn give_up(mut socket: Socket, problem: String) -> Result<(), LinkError> {
    let message = FromRunner::StartFailed { problem }.pack()?;
    socket.send(Message::Binary(message)).await?;
    socket.close(None).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::ready};

    use deskhand_core::id::UserId;
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_takeover_that_was_interrupted_is_done_again_and_a_failed_one_still_failed() {
        let (settled, person) = (SettledLease::default(), LeaseHolder::Person(UserId::new()));
        let n_done = Cell::new(0);
        let work = |problem: Option<&'static str>| {
            let n_done = &n_done;
            async move {
                n_done.set(n_done.get() + 1);
                problem.map(str::to_owned)
            }
        };
        assert_eq!(settled.settle(LeaseHolder::Nobody, work(None)).await, None);
        assert_eq!(n_done.get(), 0, "it begins with nobody");

        // The link breaks in the middle, so that the rest is never done.
        let forever = settled.settle(person, std::future::pending());
        assert_eq!(forever.now_or_never(), None);
        let problem = Some("the screen does not respond".to_owned());
        let failed = settled.settle(person, work(Some("the screen does not respond")));
        assert_eq!((failed.await, n_done.get()), (problem.clone(), 1));
        let again = settled.settle(person, ready(None)).await;
        assert_eq!((again, n_done.get()), (problem, 1));

        assert_eq!(settled.settle(LeaseHolder::Nobody, work(None)).await, None);
        assert_eq!(settled.settle(person, work(None)).await, None);
        assert_eq!(n_done.get(), 3);
    }
}
