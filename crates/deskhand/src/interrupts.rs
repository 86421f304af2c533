//! Requests from outside that this process end.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for Ctrl-C and for a service manager's request to end.
///
/// From the moment it is made the signals no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

/// How the end was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    CtrlC,
    Terminate,
}

impl Interrupt {
    /// What a shell reports for a process that was ended like this.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::CtrlC => 130,
            Self::Terminate => 143,
        }
    }
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::CtrlC,
            _ = self.terminate.recv() => Interrupt::Terminate,
        }
    }
}
