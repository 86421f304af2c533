//! Asks the server for connections and names, and carries the bytes of a connection.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use deskhand_core::{
    network::{NetworkAnswer, NetworkRequest},
    tasks::Tasks,
};
use deskhand_runner_protocol::NETWORK_PATH;
use futures::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::{self, Message};

use crate::link::{LinkError, Server, Socket};

/// The most concurrent dials of the server.
const MOST_DIALLING: usize = 16;
/// The timeout for an answer. The server may ask people, but the kernel gives up after two minutes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(130);
/// The timeout for a program to receive the last bytes of a broken connection.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// The most connections that are dialled in advance, and the time for which they are kept.
const MOST_SPARE: usize = 4;
const SPARE_TIME: Duration = Duration::from_secs(20);
const PIECE_BYTES: usize = 64 * 1024;

/// Reasons why the server did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("could not reach the server")]
    Link(#[from] LinkError),
    #[error("the connection to the server broke")]
    Broken(#[from] tungstenite::Error),
    #[error("the server closed the connection without an answer")]
    Closed,
    #[error("the server did not answer in time")]
    Silent,
    #[error("the server's answer cannot be read")]
    Unknown(#[from] serde_json::Error),
}

/// Sends requests to the server. Clones share their connections.
///
/// A few connections are dialled in advance while programs are active, so that a program rarely waits for one.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    server: Server,
    dialling: Arc<Semaphore>,
    spare: Arc<Mutex<Vec<DialledAhead>>>,
    /// The permits to dial ahead.
    ahead: Arc<Semaphore>,
    tasks: Tasks,
}

/// A connection that was dialled in advance.
struct DialledAhead {
    socket: Socket,
    since: Instant,
}

impl std::fmt::Debug for DialledAhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let since = &self.since;
        f.debug_struct("DialledAhead")
            .field("since", since)
            .finish_non_exhaustive()
    }
}

/// The outcome of the server's side of a connection.
enum Ended {
    /// Both directions ended in order.
    Closed,
    /// The other host reset it, or the link broke.
    Broken,
}

impl Connector {
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            dialling: Arc::new(Semaphore::new(MOST_DIALLING)),
            spare: Arc::default(),
            ahead: Arc::new(Semaphore::new(MOST_SPARE)),
            tasks: Tasks::default(),
        }
    }

    /// Sends a request over a connection of its own, and returns the answer with the connection.
    pub(super) async fn ask(
        &self,
        request: &NetworkRequest,
    ) -> Result<(NetworkAnswer, Socket), AskError> {
        let request = Bytes::from(serde_json::to_vec(request)?);
        let ready = self.spare().pop();
        self.dial_ahead();
        if let Some(ready) = ready {
            match answer(ready.socket, request.clone()).await {
                // The server has closed it in the meantime.
                Err(AskError::Broken(_) | AskError::Closed) => {}
                answered => return answered,
            }
        }
        answer(self.dial().await?, request).await
    }

    /// Closes unused connections periodically.
    pub(super) async fn tidy(&self) {
        loop {
            sleep(SPARE_TIME).await;
            self.spare()
                .retain(|spare| spare.since.elapsed() < SPARE_TIME);
        }
    }

    async fn dial(&self) -> Result<Socket, LinkError> {
        // The semaphore is never closed.
        let _turn = self.dialling.acquire().await;
        self.server.dial(NETWORK_PATH).await
    }

    /// Dials another connection in the background, unless enough are ready or being dialled.
    fn dial_ahead(&self) {
        let Ok(permit) = Arc::clone(&self.ahead).try_acquire_owned() else {
            return;
        };
        if self.spare().len() >= MOST_SPARE {
            return;
        }
        let connector = self.clone();
        self.tasks.spawn("dial ahead", async move {
            if let Ok(socket) = connector.dial().await {
                let since = Instant::now();
                connector.spare().push(DialledAhead { socket, since });
            }
            drop(permit);
        });
    }

    fn spare(&self) -> MutexGuard<'_, Vec<DialledAhead>> {
        // No code under this lock panics.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a request and waits for its answer.
async fn answer(mut socket: Socket, request: Bytes) -> Result<(NetworkAnswer, Socket), AskError> {
    socket.send(Message::Binary(request)).await?;
    let answer = timeout(ANSWER_TIMEOUT, async {
        while let Some(message) = socket.next().await {
            match message? {
                Message::Binary(answer) => return Ok(serde_json::from_slice(&answer)?),
                Message::Close(_) => break,
                Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        Err(AskError::Closed)
    });
    let answer = answer.await.map_err(|_elapsed| AskError::Silent)??;
    Ok((answer, socket))
}

/// Carries the bytes of a connection until both directions have ended, or one side breaks it off.
///
/// An empty message ends one direction. If the server closes the socket properly, both directions have ended. If the
/// socket breaks, the program's connection is reset.
pub(super) async fn carry(
    socket: Socket,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let (mut sink, mut incoming) = socket.split();
    let is_outward_over = AtomicBool::new(false);
    let is_inward_over = AtomicBool::new(false);
    let outward = async {
        loop {
            let mut piece = BytesMut::with_capacity(PIECE_BYTES);
            let n_read = reader.read_buf(&mut piece).await?;
            let message = Message::Binary(piece.freeze());
            if sink.send(message).await.is_err() {
                // The other direction reports the error.
                return std::future::pending().await;
            }
            if n_read == 0 {
                return io::Result::Ok(());
            }
        }
    };
    let inward = async {
        while let Some(message) = incoming.next().await {
            match message {
                Ok(Message::Binary(bytes)) if bytes.is_empty() => {
                    writer.shutdown().await?;
                    is_inward_over.store(true, Relaxed);
                    if is_outward_over.load(Relaxed) {
                        return Ok(Ended::Closed);
                    }
                }
                Ok(Message::Binary(bytes)) => write(&mut writer, bytes).await?,
                Ok(Message::Close(_)) => return Ok(Ended::Closed),
                Ok(_) => {}
                Err(_) => return Ok(Ended::Broken),
            }
        }
        io::Result::Ok(Ended::Broken)
    };
    let ended = {
        let mut inward = std::pin::pin!(inward);
        tokio::select! {
            ended = outward => {
                ended?;
                is_outward_over.store(true, Relaxed);
                if is_inward_over.load(Relaxed) { Ended::Closed } else { inward.await? }
            }
            ended = &mut inward => ended?,
        }
    };
    match ended {
        Ended::Closed => {
            writer.shutdown().await?;
            // The server may have closed it already.
            let _ = sink.close().await;
        }
        Ended::Broken => {
            // The program still receives the bytes that arrived before. Then it sees a reset.
            let _ = timeout(FLUSH_TIMEOUT, writer.flush()).await;
        }
    }
    Ok(())
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), bytes: Bytes) -> io::Result<()> {
    writer.write_all(&bytes).await
}
