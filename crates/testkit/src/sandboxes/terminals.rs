//! Terminals of a fake sandbox: each echoes what is typed and repeats every line, like `cat`. Ctrl-D ends it.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use deskhand_core::{
    id::TerminalId,
    sandbox::{Actor, ByteStream, LeaseHolder, OpenTerminal, TerminalOpened},
    terminal::{
        Framed, ReadOnly, ReplayStart, Terminal, TerminalEnd, TerminalFrames, TerminalInput,
        TerminalNumber, TerminalSize, TerminalUpdate, ViewedTerminal,
    },
};
use futures::{FutureExt, SinkExt, StreamExt, channel::mpsc, future::BoxFuture};
use tokio::sync::watch;

/// The same as of a real sandbox.
const MOST_RUNNING: usize = 10;
/// The maximum number of frames that may wait in one direction.
const STREAM_LENGTH: usize = 16;
const END_OF_INPUT: u8 = 4;

/// The terminals of one machine. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct FakeTerminals {
    table: Arc<Mutex<FakeTable>>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct FakeTable {
    holder: LeaseHolder,
    lease: u64,
    last_number: u32,
    all: Vec<FakeTerminal>,
}

#[derive(Debug)]
struct FakeTerminal {
    terminal: Terminal,
    lease: u64,
    output: Vec<u8>,
    line: Vec<u8>,
}

/// One viewer's end.
struct FakeViewer {
    terminals: FakeTerminals,
    number: TerminalNumber,
    actor: Actor,
    may_type: bool,
}

impl Default for FakeTerminals {
    fn default() -> Self {
        let agent = FakeTerminal::new(TerminalNumber::AGENT, "agent".to_owned(), 0);
        let table = FakeTable {
            holder: LeaseHolder::Nobody,
            lease: 0,
            last_number: 0,
            all: vec![agent],
        };
        Self {
            table: Arc::new(Mutex::new(table)),
            changed: watch::Sender::default(),
        }
    }
}

impl FakeTerminals {
    pub(super) fn set_holder(&self, holder: LeaseHolder) {
        let mut table = self.table();
        if table.holder != holder {
            table.holder = holder;
            table.lease += 1;
        }
        drop(table);
        self.changed.send_replace(());
    }

    pub(super) fn open(&self, wanted: &OpenTerminal) -> TerminalOpened {
        let mut table = self.table();
        let people = table.all.iter().filter(|it| it.terminal.number.0 > 0);
        if people.filter(|it| it.terminal.ended.is_none()).count() >= MOST_RUNNING {
            return TerminalOpened::TooMany(MOST_RUNNING);
        }
        table.last_number += 1;
        let number = TerminalNumber(table.last_number);
        let name = wanted.name.clone();
        let name = name.unwrap_or_else(|| format!("Terminal {number}"));
        let mut terminal = FakeTerminal::new(number, name, table.lease);
        terminal.terminal.size = wanted.size;
        let opened = terminal.terminal.clone();
        table.all.push(terminal);
        TerminalOpened::Opened(opened)
    }

    pub(super) fn list(&self) -> Vec<Terminal> {
        let table = self.table();
        table.all.iter().map(|it| table.describe(it)).collect()
    }

    pub(super) fn rename(&self, number: TerminalNumber, name: &str) -> Option<Terminal> {
        let mut table = self.table();
        let renamed = table.find(number)?;
        name.clone_into(&mut renamed.terminal.name);
        let terminal = renamed.terminal.clone();
        drop(table);
        self.changed.send_replace(());
        Some(terminal)
    }

    pub(super) fn kill(&self, number: TerminalNumber) -> Option<Terminal> {
        let mut table = self.table();
        let terminal = table.find(number)?.terminal.clone();
        table.all.retain(|it| it.terminal.number != number);
        drop(table);
        self.changed.send_replace(());
        Some(Terminal {
            ended: Some(TerminalEnd::Killed),
            ..terminal
        })
    }

    /// Opens a stream to a terminal: the viewer's end, and the task that serves it.
    pub(super) fn view(
        &self,
        number: TerminalNumber,
        actor: Actor,
        may_type: bool,
    ) -> Option<(ByteStream, BoxFuture<'static, ()>)> {
        self.table().find(number)?;
        let (to_client, incoming) = mpsc::channel(STREAM_LENGTH);
        let (outgoing, from_client) = mpsc::channel(STREAM_LENGTH);
        let client = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let viewer = FakeViewer {
            terminals: self.clone(),
            number,
            actor,
            may_type,
        };
        let serving = async move {
            tokio::select! {
                () = viewer.show(to_client) => {}
                () = viewer.listen(from_client) => {}
            }
        };
        Some((client, serving.boxed()))
    }

    fn table(&self) -> MutexGuard<'_, FakeTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeTable {
    fn find(&mut self, number: TerminalNumber) -> Option<&mut FakeTerminal> {
        self.all.iter_mut().find(|it| it.terminal.number == number)
    }

    fn is_paused(&self, terminal: &FakeTerminal) -> bool {
        self.holder != LeaseHolder::Nobody && terminal.lease != self.lease
    }

    fn describe(&self, terminal: &FakeTerminal) -> Terminal {
        Terminal {
            is_paused: self.is_paused(terminal) && terminal.terminal.ended.is_none(),
            ..terminal.terminal.clone()
        }
    }

    fn read_only(&self, terminal: &FakeTerminal, viewer: &FakeViewer) -> Option<ReadOnly> {
        let reasons = [
            (terminal.terminal.ended.is_some(), ReadOnly::Ended),
            (viewer.number == TerminalNumber::AGENT, ReadOnly::AgentShell),
            (!viewer.may_type, ReadOnly::Watching),
            (!self.holder.admits(viewer.actor), ReadOnly::Control),
            (self.is_paused(terminal), ReadOnly::Paused),
        ];
        let mut reasons = reasons.into_iter();
        reasons.find_map(|(applies, reason)| applies.then_some(reason))
    }
}

impl FakeTerminal {
    fn new(number: TerminalNumber, name: String, lease: u64) -> Self {
        Self {
            terminal: Terminal {
                id: TerminalId::new(),
                number,
                name,
                size: TerminalSize::default(),
                is_paused: false,
                ended: None,
            },
            lease,
            output: Vec::new(),
            line: Vec::new(),
        }
    }

    fn type_in(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\r' | b'\n' => {
                    self.line.extend(b"\r\n");
                    self.output.extend(b"\r\n");
                    self.output.append(&mut self.line);
                }
                &END_OF_INPUT => self.terminal.ended = Some(TerminalEnd::Exited { code: 0 }),
                byte => {
                    self.output.push(*byte);
                    self.line.push(*byte);
                }
            }
        }
    }
}

impl FakeViewer {
    /// Sends output and changes until the terminal is removed or the client leaves.
    async fn show(&self, mut to_client: mpsc::Sender<Bytes>) {
        let mut changes = self.terminals.changed.subscribe();
        let (mut n_shown, mut told) = (None, None);
        loop {
            changes.mark_unchanged();
            let Some((state, output)) = self.look(n_shown.unwrap_or(0)) else {
                return;
            };
            let mut updates = Vec::new();
            if told.as_ref() != Some(&state) {
                updates.push(TerminalUpdate::State(state.clone()));
                told = Some(state);
            }
            if n_shown.is_none() {
                updates.push(TerminalUpdate::Replay(ReplayStart { missed: false }));
            }
            n_shown = Some(n_shown.unwrap_or(0) + output.len());
            if !output.is_empty() {
                updates.push(TerminalUpdate::Output(output));
            }
            for update in updates {
                if to_client.send(update.to_frame()).await.is_err() {
                    return;
                }
            }
            // The viewer holds the sender, so waiting cannot fail.
            let _ = changes.changed().await;
        }
    }

    fn look(&self, n_shown: usize) -> Option<(ViewedTerminal, Bytes)> {
        let table = self.terminals.table();
        let terminal = table
            .all
            .iter()
            .find(|it| it.terminal.number == self.number)?;
        let state = ViewedTerminal {
            terminal: table.describe(terminal),
            read_only: table.read_only(terminal, self),
        };
        let output = Bytes::copy_from_slice(&terminal.output[n_shown..]);
        Some((state, output))
    }

    async fn listen(&self, mut from_client: mpsc::Receiver<Bytes>) {
        let mut frames = TerminalFrames::default();
        while let Some(piece) = from_client.next().await {
            frames.push(&piece);
            while let Some(input) = frames.read::<TerminalInput>().expect("frames are whole") {
                self.take(input);
            }
        }
    }

    fn take(&self, input: TerminalInput) {
        let mut table = self.terminals.table();
        let mut all = table.all.iter();
        let place = all.position(|it| it.terminal.number == self.number);
        let Some(place) = place.filter(|it| table.read_only(&table.all[*it], self).is_none())
        else {
            return;
        };
        let terminal = &mut table.all[place];
        match input {
            TerminalInput::Typed(bytes) => terminal.type_in(&bytes),
            TerminalInput::Resize(size) => {
                if let Ok(size) = size.check() {
                    terminal.terminal.size = size;
                }
            }
        }
        drop(table);
        self.terminals.changed.send_replace(());
    }
}
