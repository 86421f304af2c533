//! One viewer of a terminal, over a stream of its own.

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

/// The time without output after which a viewer is asked for a sign of life.
const PING_EVERY: Duration = Duration::from_secs(30);

/// A person who sees a terminal, and types into it while that is allowed.
#[derive(Debug)]
pub(crate) struct Viewer {
    pub(super) terminals: Terminals,
    pub(super) terminal: Arc<OpenedTerminal>,
    pub(super) actor: Actor,
    /// True if they have the right to type. The lease decides beyond that.
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

    /// Sends the replay, and then output and changes as they come.
    ///
    /// A viewer that does not read in time holds up only itself: its place in the output is lost, and it begins again
    /// with the newest output.
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
            // The end of a terminal is told after its last output.
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
                        // A viewer who is gone without a word is noticed by this, and not kept for ever.
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

    /// Hands input to the terminal. Whatever is not admitted when its turn comes is dropped.
    async fn type_in(&self, mut bytes: Bytes) {
        let mut changes = self.terminal.display.subscribe();
        while !bytes.is_empty() {
            changes.mark_unchanged();
            let Some(pty) = self.terminal.pty().filter(|_| self.read_only().is_none()) else {
                return;
            };
            // A program that reads nothing holds its typist up, but only until control changes hands.
            tokio::select! {
                written = pty.write(&bytes, |write| self.if_admitted(write)) => match written {
                    Some(n_bytes) => bytes.advance(n_bytes),
                    None => return,
                },
                _ = changes.changed() => {}
            }
        }
    }

    /// Does something to the terminal if this person may at this moment. The lease cannot change meanwhile.
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

/// Begins a replay, and returns where the output goes on.
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
