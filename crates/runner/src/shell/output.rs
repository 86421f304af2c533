//! The pipe to which everything started from the shell writes its output.
//!
//! It outlives every bash, so background jobs of a shell that has ended still have a reader. It is always read, so
//! a job that writes between two commands never blocks. That output is put before the output of the next command.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use bytes::Bytes;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::{net::unix::pipe::Receiver, time::Instant};

use super::{
    capture::{Capture, Captured},
    whole_output::{OutputFiles, WholeOutput},
};
use crate::terminals::Transcript;

/// The shortest interval between two pieces of output sent while a command runs.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// The most output that waits to be sent. Any further output is only in the reply.
const PROGRESS_BYTES: usize = 64 * 1024;
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Output {
    pipe: Receiver,
    writer: OwnedFd,
    buffer: Box<[u8]>,
    capture: Capture,
    /// The output from before the running command.
    earlier: Captured,
    limit_bytes: usize,
    files: OutputFiles,
    /// The file of the running command, once its output is long.
    whole: Option<WholeOutput>,
    progress: Option<Progress>,
    /// The transcript in which people watch the output, if they can.
    transcript: Option<Transcript>,
}

#[derive(Debug)]
struct Progress {
    bytes: Vec<u8>,
    due_at: Instant,
}

impl Output {
    pub(super) fn open(
        limit_bytes: usize,
        files: OutputFiles,
        transcript: Option<Transcript>,
    ) -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self {
            pipe: Receiver::from_owned_fd(reader)?,
            writer,
            buffer: vec![0; PIECE_BYTES].into_boxed_slice(),
            capture: Capture::new(idle_limit(limit_bytes)),
            earlier: Captured::default(),
            limit_bytes,
            files,
            whole: None,
            progress: None,
            transcript,
        })
    }

    /// Returns a write end for a new bash.
    pub(super) fn writer(&self) -> io::Result<OwnedFd> {
        self.writer.try_clone()
    }

    /// Assigns output to a new command from now on.
    pub(super) fn begin(&mut self) {
        self.drain();
        let capture = std::mem::replace(&mut self.capture, Capture::new(self.limit_bytes));
        self.earlier = capture.finish();
        self.progress = Some(Progress {
            bytes: Vec::new(),
            due_at: Instant::now() + PROGRESS_EVERY,
        });
    }

    /// Ends the command. All output until now belongs to it.
    pub(super) fn end(&mut self) -> Captured {
        self.drain();
        let idle = Capture::new(idle_limit(self.limit_bytes));
        let late = std::mem::replace(&mut self.capture, idle).finish();
        let earlier = std::mem::take(&mut self.earlier);
        self.progress = None;
        Captured {
            text: earlier.text + &late.text,
            omitted_bytes: earlier.omitted_bytes + late.omitted_bytes,
            file: self.whole.take().map(|whole| whole.path()),
        }
    }

    /// Waits for output and stores it, or returns a piece of it when one is due. Cancel safe.
    pub(super) async fn fill(&mut self) -> Option<Bytes> {
        let waiting = self
            .progress
            .as_ref()
            .filter(|progress| !progress.bytes.is_empty());
        let due_at = waiting.map(|progress| progress.due_at);
        let due = async {
            match due_at {
                Some(due_at) => tokio::time::sleep_until(due_at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // We hold a writer ourselves, so the pipe never ends. The only possible error is the runtime's own at
            // shutdown, when no caller waits any more.
            Ok(()) = self.pipe.readable() => {
                if let Ok(n_read) = self.pipe.try_read(&mut self.buffer) {
                    self.take_in(n_read);
                }
                None
            }
            () = due => {
                let progress = self.progress.as_mut()?;
                progress.due_at = Instant::now() + PROGRESS_EVERY;
                Some(Bytes::from(std::mem::take(&mut progress.bytes)))
            }
        }
    }

    /// Reads the bytes that are in the pipe now, but not those that a busy job adds meanwhile.
    ///
    /// This bypasses tokio, which notices new bytes only when it polls the pipe again.
    fn drain(&mut self) {
        let waiting = rustix::io::ioctl_fionread(self.pipe.as_fd()).unwrap_or(0);
        let mut n_waiting = usize::try_from(waiting).unwrap_or(usize::MAX);
        while n_waiting > 0 {
            let n_wanted = n_waiting.min(self.buffer.len());
            match rustix::io::read(&self.pipe, &mut self.buffer[..n_wanted]) {
                Ok(0) => break,
                Ok(n_read) => {
                    self.take_in(n_read);
                    n_waiting -= n_read;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
    }

    fn take_in(&mut self, n_read: usize) {
        let bytes = &self.buffer[..n_read];
        if self.progress.is_some() && self.whole.is_none() {
            let so_far = self.capture.last_whole(n_read);
            self.whole = so_far.and_then(|so_far| self.files.begin(&so_far));
        }
        self.whole = self
            .whole
            .take()
            .and_then(|mut whole| whole.push(bytes).then_some(whole));
        self.capture.push(bytes);
        if let Some(transcript) = &self.transcript {
            transcript.output(bytes);
        }
        if let Some(progress) = &mut self.progress {
            let room = PROGRESS_BYTES - progress.bytes.len();
            progress.bytes.extend_from_slice(&bytes[..room.min(n_read)]);
        }
    }
}

/// Returns the limit between commands, which is lower so that a noisy job does not drown the next command.
fn idle_limit(limit_bytes: usize) -> usize {
    limit_bytes / 8
}
