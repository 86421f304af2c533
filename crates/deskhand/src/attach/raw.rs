//! The person's own terminal, while another one is shown in it.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

use deskhand_core::terminal::TerminalSize;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

/// The maximum number of pieces of input that wait to be sent.
const MOST_PIECES: usize = 64;
const PIECE_BYTES: usize = 4096;

/// Puts the terminal into raw mode, so that every key is passed on as it is pressed. The former settings are restored on
/// drop.
#[derive(Debug)]
pub(super) struct RawMode {
    before: Termios,
}

impl RawMode {
    pub(super) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Input that was typed before is kept, since it is for the terminal too.
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

/// Returns the size of the terminal, within the limits of a sandbox's terminal.
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

/// Returns a channel with the input, as it is typed.
pub(super) fn keys() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    // A separate descriptor is unbuffered. A buffer could swallow input for a later command.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (sender, keys) = mpsc::channel(MOST_PIECES);
    // The thread ends with the process, since nothing can interrupt its read.
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

/// Writes to the terminal and flushes.
pub(super) fn show(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
