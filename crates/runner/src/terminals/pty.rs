//! Pseudoterminals: the kernel's side of a terminal, with a shell in it.

use std::{io, os::fd::OwnedFd, path::Path, process::ExitStatus, time::Duration};

use deskhand_core::terminal::TerminalSize;
use rustix::{
    fs::{Mode, OFlags},
    process::Pid,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize},
};
use tokio::{
    net::unix::pipe::{Receiver, Sender},
    process::{Child, Command},
    time::Instant,
};

use super::display::Display;
use crate::{
    processes::ProcessSlot,
    shell::{self, ShellConfig},
};

/// The most output that is read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// The most pieces that are read after the shell has ended.
const MOST_LAST_PIECES: usize = 16;
/// The most output that is read per [`PACE_WINDOW`], about 25 MB per second.
///
/// Nobody reads that fast, and a program that writes faster would take the time of everything else on its way to the
/// viewers. It waits, as it does at any terminal.
const PACE_BYTES: usize = 256 * 1024;
const PACE_WINDOW: Duration = Duration::from_millis(10);
/// The prompt, unless a startup file sets another.
const PROMPT: &str = r"\w \$ ";
/// The terminal type for programs.
const TERM: &str = "xterm-256color";
/// The folders in which distributions keep the terminfo database.
const TERMINFO_FOLDERS: [&str; 3] = ["/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo"];

/// A pseudoterminal whose shell may be running. Its process id is also its session.
#[derive(Debug)]
pub(super) struct Pty {
    output: Receiver,
    input: Sender,
    pub(super) pid: Pid,
    pub(super) process: ProcessSlot,
}

/// The program of a terminal.
#[derive(Debug)]
pub(super) struct TerminalProgram<'a> {
    /// Runs instead of an interactive shell.
    pub(super) command: Option<&'a str>,
    /// True if it must not read startup files from the home folder, which the agent could have written, or leave a
    /// history there, which the agent could read.
    pub(super) is_private: bool,
}

impl Pty {
    /// Opens a pseudoterminal and starts the program in it.
    pub(super) fn open(
        config: &ShellConfig,
        size: TerminalSize,
        program: &TerminalProgram<'_>,
    ) -> io::Result<(Self, Child)> {
        let (master, slave) = pair()?;
        tcsetwinsize(&master, winsize(size))?;
        let mut command = shell_command(config, program);
        let child = command
            .stdin(slave.try_clone()?)
            .stdout(slave.try_clone()?)
            .stderr(slave)
            .kill_on_drop(true)
            .spawn()?;
        // The command holds descriptors of the slave, and the terminal stays open until all of them are closed.
        drop(command);
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        let pid = pid.and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the shell ended at once"))?;
        rustix::io::ioctl_fionbio(&master, true)?;
        // Tokio's pipe ends only read and write, which is all that a pseudoterminal needs.
        let input = Sender::from_owned_fd_unchecked(master.try_clone()?)?;
        let output = Receiver::from_owned_fd_unchecked(master)?;
        let process = ProcessSlot::default();
        process.set(pid);
        let pty = Self {
            output,
            input,
            pid,
            process,
        };
        Ok((pty, child))
    }

    /// Waits until the terminal accepts input, and writes it if `if_admitted` still allows it.
    ///
    /// Returns the number of bytes written, or `None` if it was not allowed or the terminal is gone. This method is
    /// cancel safe.
    pub(super) async fn write(
        &self,
        bytes: &[u8],
        if_admitted: impl Fn(&mut dyn FnMut()),
    ) -> Option<usize> {
        loop {
            self.input.writable().await.ok()?;
            let mut written = None;
            if_admitted(&mut || written = Some(self.input.try_write(bytes)));
            match written? {
                Ok(n_bytes) => return Some(n_bytes),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
    }

    pub(super) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        Ok(tcsetwinsize(&self.input, winsize(size))?)
    }

    /// Appends everything that the program writes to the display until it ends. Returns its exit status.
    pub(super) async fn show(&self, mut child: Child, display: &Display) -> Option<ExitStatus> {
        let mut buffer = vec![0; PIECE_BYTES].into_boxed_slice();
        let mut pace = Pace::new();
        let status = loop {
            tokio::select! {
                status = child.wait() => break status.ok(),
                is_open = self.read_into(&mut buffer, display, &mut pace) => if !is_open {
                    break child.wait().await.ok();
                },
            }
        };
        // Background programs may keep writing, but the terminal ends with its shell.
        for _ in 0..MOST_LAST_PIECES {
            let n_read = self.read_now(&mut buffer);
            if n_read == 0 {
                break;
            }
            display.append(&buffer[..n_read]);
        }
        status
    }

    /// Waits for output and appends it to the display. Returns false at the end of the output. This method is cancel
    /// safe.
    async fn read_into(&self, buffer: &mut [u8], display: &Display, pace: &mut Pace) -> bool {
        if self.output.readable().await.is_err() {
            return false;
        }
        match self.output.try_read(buffer) {
            Ok(0) => false,
            Ok(n_first) => {
                // The kernel returns small pieces, so all that are available are joined.
                let n_more = self.read_now(&mut buffer[n_first..]);
                display.append(&buffer[..n_first + n_more]);
                pace.keep(n_first + n_more).await;
                true
            }
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }

    /// Reads the available output without waiting.
    fn read_now(&self, buffer: &mut [u8]) -> usize {
        let mut n_bytes = 0;
        while n_bytes < buffer.len()
            && let Ok(n_read @ 1..) = self.output.try_read(&mut buffer[n_bytes..])
        {
            n_bytes += n_read;
        }
        n_bytes
    }
}

/// Slows down a flood of output.
#[derive(Debug)]
struct Pace {
    window_began: Instant,
    n_bytes: usize,
}

impl Pace {
    fn new() -> Self {
        Self {
            window_began: Instant::now(),
            n_bytes: 0,
        }
    }

    /// Counts output, and waits for the end of the window once it has had its share.
    async fn keep(&mut self, n_bytes: usize) {
        self.n_bytes += n_bytes;
        let window_ends = self.window_began + PACE_WINDOW;
        if self.n_bytes >= PACE_BYTES {
            tokio::time::sleep_until(window_ends).await;
        } else if Instant::now() < window_ends {
            return;
        }
        *self = Self::new();
    }
}

/// Opens both ends of a pseudoterminal.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name, flags, Mode::empty())?;
    // Without this, deleting a character of several bytes leaves some of them.
    let mut settings = tcgetattr(&slave)?;
    settings.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &settings)?;
    Ok((master, slave))
}

fn shell_command(config: &ShellConfig, program: &TerminalProgram<'_>) -> Command {
    let mut command = shell::program(config);
    command
        // `setsid` starts a session and makes its standard input the session's terminal.
        .args(["--default-signal", "setsid", "--ctty", "bash"])
        .current_dir(&config.home)
        .env("TERM", TERM)
        .env("COLORTERM", "truecolor")
        .env("PS1", PROMPT);
    if program.is_private {
        command
            .args(["--norc", "--noprofile"])
            .env("HISTFILE", "/dev/null")
            // `~/.inputrc` could bind commands to keys. If this file does not exist, the built-in bindings apply.
            .env("INPUTRC", "/etc/inputrc");
        // The system's terminfo takes precedence over `~/.terminfo`.
        if let Some(folder) = terminfo_folder() {
            command.env("TERMINFO", folder);
        }
    }
    if let Some(text) = program.command {
        command.args(["-c", text]);
    }
    command
}

/// Returns the folder with the system's terminfo entry for [`TERM`].
fn terminfo_folder() -> Option<&'static str> {
    let is_in = |folder: &&str| Path::new(folder).join("x").join(TERM).exists();
    TERMINFO_FOLDERS.into_iter().find(is_in)
}

fn winsize(size: TerminalSize) -> Winsize {
    Winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
