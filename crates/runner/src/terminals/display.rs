//! The viewer's side of a terminal: its recent output and its state, for any number of viewers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deskhand_core::{
    id::TerminalId,
    terminal::{Terminal, TerminalEnd, TerminalNumber, TerminalSize},
};
use tokio::sync::watch;

use super::scrollback::{OutputPiece, Scrollback};

/// The most output in one message to a viewer.
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Display {
    state: Mutex<DisplayState>,
    /// Wakes viewers after a change.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct DisplayState {
    scrollback: Scrollback,
    terminal: Terminal,
    is_removed: bool,
}

impl Display {
    pub(super) fn new(number: TerminalNumber, name: String, size: TerminalSize) -> Self {
        let terminal = Terminal {
            id: TerminalId::new(),
            number,
            name,
            size,
            is_paused: false,
            ended: None,
        };
        Self {
            state: Mutex::new(DisplayState {
                scrollback: Scrollback::default(),
                terminal,
                is_removed: false,
            }),
            changed: watch::Sender::default(),
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Wakes all viewers.
    pub(super) fn notify(&self) {
        self.changed.send_replace(());
    }

    pub(super) fn append(&self, bytes: &[u8]) {
        self.state().scrollback.append(bytes);
        self.notify();
    }

    /// Returns the position where a new viewer begins, and the bytes to send it first.
    pub(super) fn replay(&self) -> (u64, Bytes) {
        self.state().scrollback.replay()
    }

    /// Returns the same for a viewer that fell behind.
    pub(super) fn catch_up(&self) -> (u64, Bytes) {
        self.state().scrollback.catch_up()
    }

    pub(super) fn read(&self, at: &mut u64) -> OutputPiece {
        self.state().scrollback.read(at, PIECE_BYTES)
    }

    pub(super) fn terminal(&self) -> Terminal {
        self.state().terminal.clone()
    }

    pub(super) fn rename(&self, name: String) {
        self.state().terminal.name = name;
        self.notify();
    }

    pub(super) fn resize(&self, size: TerminalSize) {
        self.state().terminal.size = size;
        self.notify();
    }

    /// Records the end of the terminal. Later calls have no effect.
    pub(super) fn end(&self, end: TerminalEnd) {
        self.state().terminal.ended.get_or_insert(end);
        self.notify();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().terminal.ended.is_some()
    }

    /// Ends the streams of viewers after they have received everything.
    pub(super) fn remove(&self) {
        self.state().is_removed = true;
        self.notify();
    }

    pub(super) fn is_removed(&self) -> bool {
        self.state().is_removed
    }

    fn state(&self) -> MutexGuard<'_, DisplayState> {
        // No code under this lock panics halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
