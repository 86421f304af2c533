//! The person's own terminal, as long as another one is shown in it.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

use deskhand_core::terminal::TerminalSize;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

/// The most pieces of input that wait to be sent.
const MOST_PIECES: usize = 64;
const PIECE_BYTES: usize = 4096;

/// Passes on every key as it is pressed, until it is dropped. Dropping it gives the terminal its former settings,
/// however the command ends.
#[derive(Debug)]
pub(super) struct RawMode {
    before: Termios,
}

impl RawMode {
    pub(super) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // What was typed before is for the terminal too.
        tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // There is nothing else to try if this fails.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Returns the size of the terminal, within what a sandbox's terminal can have.
pub(super) fn size() -> TerminalSize {
    let Ok(size) = tcgetwinsize(io::stdout()) else {
        return TerminalSize::default();
    };
    let (least, most) = (TerminalSize::LEAST, TerminalSize::MOST);
    TerminalSize {
        cols: size.ws_col.clamp(least.cols, most.cols),
        rows: size.ws_row.clamp(least.rows, most.rows),
    }
}

/// Returns what is typed, as it is typed.
pub(super) fn keys() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    // A descriptor of its own has no buffer, which would keep what is typed for a later command.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (sender, keys) = mpsc::channel(MOST_PIECES);
    // The thread ends with the process: nothing can interrupt its reading.
    std::thread::spawn(move || {
        let mut buffer = [0; PIECE_BYTES];
        while let Ok(n_read @ 1..) = stdin.read(&mut buffer) {
            if sender.blocking_send(buffer[..n_read].to_vec()).is_err() {
                return;
            }
        }
    });
    Ok(keys)
}

/// Writes to the terminal at once.
pub(super) fn show(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
