//! Byte streams. Each has its own WebSocket, which is connected to a socket in the sandbox.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr},
};

use bytes::BytesMut;
use deskhand_core::{
    file::FileWire,
    sandbox::{Actor, LeaseHolder, StreamTarget},
    tasks::Tasks,
    terminal::TerminalNumber,
};
use deskhand_runner_protocol::{FromRunner, StreamFailure, bytes_of, stream_path};
use futures::{SinkExt, StreamExt, TryStreamExt, future};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::{self, Message};

use super::{LinkError, Outbox, Server, Socket, places::StreamPlaces};
use crate::{
    barrier::Barrier,
    code_server::{CodeServer, CodeServerError},
    files, ports,
    pour::pour,
    programs::Programs,
    sound::{CaptureError, SoundCard},
    surface::Surface,
    terminals::{Terminals, Viewer},
    video::VideoError,
    whole_story,
};

const PIECE_BYTES: usize = 64 * 1024;

/// Reasons why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error("{0} streams are already open")]
    TooMany(usize),
    #[error("a person has control of the computer")]
    Refused,
    #[error("could not reach the socket of the screen")]
    Screen(#[source] io::Error),
    #[error("there is no sound card: PulseAudio is not installed")]
    NoSoundCard,
    #[error("could not capture the sound")]
    Sound(#[source] CaptureError),
    #[error("could not film the screen")]
    Video(#[source] VideoError),
    #[error("there is no terminal {0}")]
    NoTerminal(TerminalNumber),
    #[error("port {0} belongs to the sandbox itself")]
    OwnPort(u16),
    #[error("could not reach port {port}")]
    Port { port: u16, source: io::Error },
    #[error(transparent)]
    Code(#[from] CodeServerError),
    #[error("could not reach the server for the stream")]
    Server(#[from] LinkError),
}

/// Opens streams and limits their number.
#[derive(Debug, Clone)]
pub(super) struct StreamOpener {
    server: Server,
    targets: StreamTargets,
    outbox: Outbox,
    tasks: Tasks,
    places: StreamPlaces,
    barrier: Barrier,
}

/// The parts of the sandbox that streams lead to.
#[derive(Debug, Clone)]
pub(super) struct StreamTargets {
    pub(super) surface: Surface,
    pub(super) terminals: Terminals,
    pub(super) code: CodeServer,
    pub(super) programs: Programs,
    pub(super) sound: Option<SoundCard>,
}

impl StreamOpener {
    pub(super) fn new(
        server: Server,
        targets: StreamTargets,
        outbox: Outbox,
        barrier: Barrier,
        tasks: Tasks,
    ) -> Self {
        Self {
            server,
            targets,
            outbox,
            tasks,
            places: StreamPlaces::default(),
            barrier,
        }
    }

    /// Connects a new stream to its target in the background.
    pub(super) fn open(&self, stream: u64, target: StreamTarget, actor: Actor) {
        tracing::debug!(stream, ?target, ?actor, "opening a stream");
        let streams = self.clone();
        let shutdown = self.tasks.shutdown().clone();
        self.tasks.spawn("stream", async move {
            let joined = shutdown
                .run_until_cancelled(Box::pin(streams.join(stream, target, actor)))
                .await;
            if let Some(Err(error)) = joined {
                let (problem, reason) = (whole_story(&error), error.reason());
                streams.outbox.tell(FromRunner::StreamFailed {
                    stream,
                    problem,
                    reason,
                });
            }
        });
    }

    /// Admits only this lease holder to streams and changes that obey the lease, and ends those of others.
    pub(super) async fn set_lease_holder(&self, holder: LeaseHolder) {
        self.barrier.set_holder(holder).await;
    }

    async fn join(
        &self,
        stream: u64,
        target: StreamTarget,
        actor: Actor,
    ) -> Result<(), StreamError> {
        let place = self.places.take(target, actor);
        let _place = place.map_err(|full| StreamError::TooMany(full.n_open))?;
        match target {
            StreamTarget::Terminal { number, may_type } => {
                let viewer = self.targets.terminals.viewer(number, actor, may_type);
                let viewer = viewer.ok_or(StreamError::NoTerminal(number))?;
                self.join_terminal(stream, viewer).await
            }
            StreamTarget::File => self.join_file(stream, actor).await,
            StreamTarget::Screen => {
                let screen = self.targets.surface.connect_screen().await;
                let (reader, writer) = screen.map_err(StreamError::Screen)?.into_split();
                self.carry(stream, reader, writer).await
            }
            StreamTarget::Sound => self.join_sound(stream).await,
            StreamTarget::Video => self.join_video(stream).await,
            StreamTarget::Port { port } => {
                let joined = async {
                    let (reader, writer) = self.connect_port(port).await?.into_split();
                    self.carry(stream, reader, writer).await
                };
                self.while_admitted(actor, joined).await
            }
            StreamTarget::Code => {
                let joined = async {
                    let (reader, writer) = self.targets.code.connect().await?.into_split();
                    self.carry(stream, reader, writer).await
                };
                self.while_admitted(actor, joined).await
            }
            StreamTarget::Program => {
                let joined = async {
                    let socket = self.server.dial(&stream_path(stream)).await?;
                    self.targets.programs.serve(bytes_of(socket)).await;
                    Ok(())
                };
                self.while_admitted(actor, joined).await
            }
        }
    }

    /// Serves a stream for as long as the lease admits its actor.
    async fn while_admitted(
        &self,
        actor: Actor,
        joined: impl Future<Output = Result<(), StreamError>>,
    ) -> Result<(), StreamError> {
        let passage = self.barrier.pass(actor).ok_or(StreamError::Refused)?;
        let carried = passage.barred().run_until_cancelled(joined);
        carried.await.unwrap_or(Err(StreamError::Refused))
    }

    /// Serves the stream of a file, for as long as the lease admits its actor.
    async fn join_file(&self, stream: u64, actor: Actor) -> Result<(), StreamError> {
        let passage = self.barrier.pass(actor);
        let socket = self.server.dial(&stream_path(stream)).await?;
        files::transfer::serve(FileWire::new(bytes_of(socket)), passage).await;
        Ok(())
    }

    /// Captures the sound for as long as the stream is open.
    async fn join_sound(&self, stream: u64) -> Result<(), StreamError> {
        let card = self.targets.sound.as_ref();
        let card = card.ok_or(StreamError::NoSoundCard)?;
        let capture = card.capture().await.map_err(StreamError::Sound)?;
        let socket = self.server.dial(&stream_path(stream)).await?;
        if let Err(error) = capture.serve(socket).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, stream, "a stream ended with an error");
        }
        Ok(())
    }

    /// Films the screen for as long as the stream is open.
    async fn join_video(&self, stream: u64) -> Result<(), StreamError> {
        let capture = self.targets.surface.film().await;
        let capture = capture.map_err(StreamError::Video)?;
        let socket = self.server.dial(&stream_path(stream)).await?;
        if let Err(error) = capture.serve(socket).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, stream, "a stream ended with an error");
        }
        Ok(())
    }

    async fn join_terminal(&self, stream: u64, viewer: Viewer) -> Result<(), StreamError> {
        let socket = self.server.dial(&stream_path(stream)).await?;
        // Both sides are closed in any case, and each knows its own error.
        if let Err(error) = viewer.serve(socket).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, stream, "a stream ended with an error");
        }
        Ok(())
    }

    /// Connects to a port of the sandbox's loopback, unless the runner itself listens there.
    async fn connect_port(&self, port: u16) -> Result<TcpStream, StreamError> {
        let is_own = tokio::task::spawn_blocking(move || ports::is_own(port)).await;
        if is_own.unwrap_or(true) || self.targets.code.port() == Some(port) {
            return Err(StreamError::OwnPort(port));
        }
        let connected = connect_loopback(port).await;
        connected.map_err(|source| StreamError::Port { port, source })
    }

    async fn carry(
        &self,
        stream: u64,
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin,
    ) -> Result<(), StreamError> {
        let socket = self.server.dial(&stream_path(stream)).await?;
        // Both sides are closed in any case, and each knows its own error.
        if let Err(error) = copy(socket, reader, writer).await {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, stream, "a stream ended with an error");
        }
        Ok(())
    }
}

/// Connects to a port of the loopback, over IPv4 or else over IPv6.
async fn connect_loopback(port: u16) -> io::Result<TcpStream> {
    let connected = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        Err(refused) => {
            let sixth = TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await;
            // The error of IPv4 is more useful on machines without IPv6.
            sixth.map_err(|_also| refused)
        }
        connected => connected,
    }?;
    // Small messages, such as those of a WebSocket, must not be delayed.
    connected.set_nodelay(true)?;
    Ok(connected)
}

impl StreamError {
    fn reason(&self) -> StreamFailure {
        match self {
            Self::Refused => StreamFailure::Refused,
            Self::Port { port, source } if source.kind() == io::ErrorKind::ConnectionRefused => {
                StreamFailure::NothingListens { port: *port }
            }
            Self::NoSoundCard => StreamFailure::NoSoundCard,
            Self::TooMany(_)
            | Self::Screen(_)
            | Self::Sound(_)
            | Self::Video(_)
            | Self::NoTerminal(_)
            | Self::OwnPort(_)
            | Self::Port { .. }
            | Self::Code(_)
            | Self::Server(_) => StreamFailure::Other,
        }
    }
}

/// Copies both ways until one side ends.
pub(crate) async fn copy(
    socket: Socket,
    mut reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> Result<(), tungstenite::Error> {
    let (mut sink, incoming) = socket.split();
    let outward = async {
        loop {
            let mut piece = BytesMut::with_capacity(PIECE_BYTES);
            if reader.read_buf(&mut piece).await? == 0 {
                return Ok(());
            }
            sink.send(Message::Binary(piece.freeze())).await?;
        }
    };
    let is_open = |message: &Result<Message, _>| !matches!(message, Ok(Message::Close(_)));
    let pieces = incoming
        .take_while(|message| future::ready(is_open(message)))
        .try_filter_map(|message| match message {
            Message::Binary(bytes) => future::ok(Some(bytes)),
            Message::Text(_)
            | Message::Ping(_)
            | Message::Pong(_)
            | Message::Close(_)
            | Message::Frame(_) => future::ok(None),
        });
    let inward = pour(pieces, writer);
    let ended = tokio::select! {
        ended = outward => ended,
        ended = inward => ended,
    };
    // Closes the WebSocket properly if that is still possible.
    let _ = sink.close().await;
    ended
}
