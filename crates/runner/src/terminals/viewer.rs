//! One viewer of a terminal, over its own stream.

use std::{sync::Arc, time::Duration};

use bytes::{Buf, Bytes};
use deskhand_core::{
    sandbox::Actor,
    terminal::{
        Framed, ReadOnly, ReplayStart, TerminalFrames, TerminalInput, TerminalUpdate,
        ViewedTerminal,
    },
};
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio_tungstenite::tungstenite::{self, Message};

use super::{OpenedTerminal, Terminals, scrollback::OutputPiece};
use crate::link::Socket;

/// The idle time after which a viewer is pinged.
const PING_EVERY: Duration = Duration::from_secs(30);

/// A person who watches a terminal, and types into it while that is allowed.
#[derive(Debug)]
pub(crate) struct Viewer {
    pub(super) terminals: Terminals,
    pub(super) terminal: Arc<OpenedTerminal>,
    pub(super) actor: Actor,
    /// True if they have the right to type. The lease may still forbid it.
    pub(super) may_type: bool,
}

impl Viewer {
    /// Shows the terminal and takes input until either side ends.
    pub(crate) async fn serve(&self, socket: Socket) -> Result<(), tungstenite::Error> {
        let (mut sink, incoming) = socket.split();
        let ended = tokio::select! {
            ended = self.show(&mut sink) => ended,
            ended = self.listen(incoming) => ended,
        };
        // Closes the WebSocket properly if that is still possible.
        let _ = sink.close().await;
        ended
    }

    /// Sends the replay, and then output and changes.
    ///
    /// A slow viewer delays only itself: when its position is no longer kept, it continues with recent output.
    async fn show(
        &self,
        sink: &mut (impl Sink<Message, Error = tungstenite::Error> + Unpin),
    ) -> Result<(), tungstenite::Error> {
        let display = &self.terminal.display;
        let mut changes = display.subscribe();
        let mut told = self.state();
        send(sink, TerminalUpdate::State(told.clone())).await?;
        let mut at = replay(sink, display.replay(), ReplayStart { missed: false }).await?;
        loop {
            changes.mark_unchanged();
            let state = self.state();
            // The end of a terminal is sent after its last output.
            if state != told && state.terminal.ended.is_none() {
                send(sink, TerminalUpdate::State(state.clone())).await?;
                told = state.clone();
            }
            match display.read(&mut at) {
                OutputPiece::Bytes(bytes) => send(sink, TerminalUpdate::Output(bytes)).await?,
                OutputPiece::Lost => {
                    at = replay(sink, display.catch_up(), ReplayStart { missed: true }).await?;
                }
                OutputPiece::Nothing => {
                    if state != told {
                        send(sink, TerminalUpdate::State(state.clone())).await?;
                        told = state;
                    }
                    if display.is_removed() {
                        return Ok(());
                    }
                    tokio::select! {
                        // The display holds the sender, so waiting cannot fail.
                        _ = changes.changed() => {}
                        // Detects a viewer whose connection is dead.
                        () = tokio::time::sleep(PING_EVERY) => {
                            sink.send(Message::Ping(Bytes::new())).await?;
                        }
                    }
                }
            }
        }
    }

    async fn listen(
        &self,
        mut incoming: impl Stream<Item = Result<Message, tungstenite::Error>> + Unpin,
    ) -> Result<(), tungstenite::Error> {
        let mut frames = TerminalFrames::default();
        while let Some(message) = incoming.next().await {
            match message? {
                Message::Binary(bytes) => frames.push(&bytes),
                Message::Close(_) => break,
                Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
            loop {
                match frames.read() {
                    Ok(Some(TerminalInput::Typed(bytes))) => self.type_in(bytes).await,
                    Ok(Some(TerminalInput::Resize(size))) => self.if_admitted(&mut || {
                        self.terminal.resize(size);
                    }),
                    Ok(None) => break,
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "a viewer of a terminal sent something unknown");
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes input to the terminal. Input that is not admitted when it is written is dropped.
    async fn type_in(&self, mut bytes: Bytes) {
        let mut changes = self.terminal.display.subscribe();
        while !bytes.is_empty() {
            changes.mark_unchanged();
            let Some(pty) = self.terminal.pty().filter(|_| self.read_only().is_none()) else {
                return;
            };
            // If the program does not read its input, this waits, but only until control changes hands.
            tokio::select! {
                written = pty.write(&bytes, |write| self.if_admitted(write)) => match written {
                    Some(n_bytes) => bytes.advance(n_bytes),
                    None => return,
                },
                _ = changes.changed() => {}
            }
        }
    }

    /// Calls `act` if this person may type now. The lease cannot change during the call.
    fn if_admitted(&self, act: &mut dyn FnMut()) {
        let table = self.terminals.table();
        if table
            .read_only(&self.terminal, self.actor, self.may_type)
            .is_none()
        {
            act();
        }
    }

    fn read_only(&self) -> Option<ReadOnly> {
        let table = self.terminals.table();
        table.read_only(&self.terminal, self.actor, self.may_type)
    }

    fn state(&self) -> ViewedTerminal {
        let table = self.terminals.table();
        ViewedTerminal {
            terminal: table.describe(&self.terminal),
            read_only: table.read_only(&self.terminal, self.actor, self.may_type),
        }
    }
}

/// Begins a replay, and returns the position where the output continues.
async fn replay(
    sink: &mut (impl Sink<Message, Error = tungstenite::Error> + Unpin),
    (at, first): (u64, Bytes),
    start: ReplayStart,
) -> Result<u64, tungstenite::Error> {
    send(sink, TerminalUpdate::Replay(start)).await?;
    if !first.is_empty() {
        send(sink, TerminalUpdate::Output(first)).await?;
    }
    Ok(at)
}

async fn send(
    sink: &mut (impl Sink<Message, Error = tungstenite::Error> + Unpin),
    update: TerminalUpdate,
) -> Result<(), tungstenite::Error> {
    sink.send(Message::Binary(update.to_frame())).await
}
