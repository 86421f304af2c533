//! Pseudoterminals that several people can watch and type into at once.
//!
//! Without a lease, everybody with the right can type. While a person has control, only they can type, and only into
//! terminals that they have opened since: all earlier ones are frozen with the agent's programs, which could have
//! tampered with them. A terminal opened under a lease reads no startup files from the home folder. None of this is
//! available to the agent.

mod display;
mod handlers;
mod pty;
mod scrollback;
mod transcript;
mod viewer;

use std::{
    io,
    os::unix::process::ExitStatusExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::{
    sandbox::{Actor, LeaseHolder, OpenTerminal, TerminalOpened},
    tasks::Tasks,
    terminal::{ReadOnly, Terminal, TerminalEnd, TerminalNumber, TerminalSize},
};
use rustix::process::Pid;

use self::{
    display::Display,
    pty::{Pty, TerminalProgram},
};
pub(crate) use self::{transcript::Transcript, viewer::Viewer};
use crate::{
    processes::ProcessName,
    shell::{ShellConfig, kill_sessions},
};

/// The most terminals that run at the same time.
const MOST_RUNNING: usize = 10;
/// The most terminals of people, including those that have ended. The oldest ended ones are forgotten.
const MOST_KEPT: usize = 20;

/// Reasons why a terminal could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenTerminalError {
    #[error("could not start a shell in a terminal")]
    Start(#[source] io::Error),
}

/// All terminals of a computer. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Terminals(Arc<TerminalsParts>);

#[derive(Debug)]
struct TerminalsParts {
    config: ShellConfig,
    tasks: Tasks,
    table: Mutex<TerminalTable>,
}

#[derive(Debug)]
struct TerminalTable {
    holder: LeaseHolder,
    /// The number of lease changes so far.
    lease: u64,
    last_number: u32,
    /// The agent's shell, and then the terminals of people in the order in which they were opened.
    all: Vec<Arc<OpenedTerminal>>,
}

/// A terminal, running or ended.
#[derive(Debug)]
struct OpenedTerminal {
    number: TerminalNumber,
    display: Arc<Display>,
    /// The lease under which it was opened.
    lease: u64,
    /// Absent once its shell has ended, and for the agent's.
    pty: Mutex<Option<Arc<Pty>>>,
}

impl Terminals {
    /// Creates the table with only the agent's shell.
    pub(crate) fn new(config: ShellConfig, agent: &Transcript, tasks: Tasks) -> Self {
        let agent = OpenedTerminal {
            number: TerminalNumber::AGENT,
            display: Arc::clone(&agent.0),
            lease: 0,
            pty: Mutex::default(),
        };
        let table = TerminalTable {
            holder: LeaseHolder::Nobody,
            lease: 0,
            last_number: 0,
            all: vec![Arc::new(agent)],
        };
        Self(Arc::new(TerminalsParts {
            config,
            tasks,
            table: Mutex::new(table),
        }))
    }

    /// Obeys only this lease holder from now on. Input of others is dropped once this returns.
    pub(crate) fn set_lease_holder(&self, holder: LeaseHolder) {
        let mut table = self.table();
        table.holder = holder;
        table.lease += 1;
        for terminal in &table.all {
            terminal.display.notify();
        }
    }

    /// Returns the shells of the terminals that were opened in the current lease.
    pub(crate) fn leased_shells(&self) -> Vec<ProcessName> {
        let table = self.table();
        let own = table.all.iter().filter(|it| it.lease == table.lease);
        own.filter_map(|it| it.pty()?.process.get()).collect()
    }

    /// Returns a viewer of a terminal, if it exists.
    pub(crate) fn viewer(
        &self,
        number: TerminalNumber,
        actor: Actor,
        may_type: bool,
    ) -> Option<Viewer> {
        let terminal = self.table().find(number)?;
        Some(Viewer {
            terminals: self.clone(),
            terminal,
            actor,
            may_type,
        })
    }

    fn lease(&self) -> u64 {
        self.table().lease
    }

    /// Opens a terminal, if the lease is still the one with this number.
    fn open(&self, lease: u64, wanted: &OpenTerminal) -> Result<TerminalOpened, OpenTerminalError> {
        let size = wanted.size.check();
        let size = size.map_err(|bad| OpenTerminalError::Start(io::Error::other(bad)))?;
        // The lock is held while the shell starts, so that the lease cannot change in between.
        let mut table = self.table();
        if table.lease != lease {
            return Ok(TerminalOpened::ControlChanged);
        }
        if table.n_running() >= MOST_RUNNING {
            return Ok(TerminalOpened::TooMany(MOST_RUNNING));
        }
        let program = TerminalProgram {
            command: wanted.command.as_deref(),
            is_private: table.holder != LeaseHolder::Nobody,
        };
        let opened = Pty::open(&self.0.config, size, &program);
        let (pty, child) = opened.map_err(OpenTerminalError::Start)?;
        table.forget_oldest();
        table.last_number += 1;
        let number = TerminalNumber(table.last_number);
        let name = wanted.name.clone();
        let name = name.unwrap_or_else(|| format!("Terminal {number}"));
        let pty = Arc::new(pty);
        let terminal = Arc::new(OpenedTerminal {
            number,
            display: Arc::new(Display::new(number, name, size)),
            lease,
            pty: Mutex::new(Some(Arc::clone(&pty))),
        });
        table.all.push(Arc::clone(&terminal));
        let described = table.describe(&terminal);
        drop(table);
        let shutdown = self.0.tasks.shutdown().clone();
        self.0.tasks.spawn("terminal", async move {
            let shown = pty.show(child, &terminal.display);
            let status = shutdown.run_until_cancelled(shown).await.flatten();
            // Closing the terminal hangs up programs that the shell left behind.
            drop(terminal.take_pty());
            let code = status.map_or(-1, |status| {
                status
                    .code()
                    .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
            });
            terminal.display.end(TerminalEnd::Exited { code });
        });
        Ok(TerminalOpened::Opened(described))
    }

    fn list(&self) -> Vec<Terminal> {
        let table = self.table();
        table.all.iter().map(|it| table.describe(it)).collect()
    }

    fn rename(&self, number: TerminalNumber, name: String) -> Option<Terminal> {
        let table = self.table();
        let terminal = table.find(number)?;
        terminal.display.rename(name);
        Some(table.describe(&terminal))
    }

    /// Ends a terminal with everything in it, and removes it. The agent's shell stays.
    async fn kill(&self, number: TerminalNumber) -> Option<Terminal> {
        let (terminal, described) = {
            let mut table = self.table();
            let terminal = table.find(number).filter(|it| it.number.0 > 0)?;
            table.all.retain(|it| it.number != number);
            terminal.display.end(TerminalEnd::Killed);
            let described = table.describe(&terminal);
            (terminal, described)
        };
        if let Some(pty) = terminal.pty() {
            let session: Pid = pty.pid;
            // This blocks on file I/O. It fails only while the runtime shuts down.
            let _ = tokio::task::spawn_blocking(move || kill_sessions(&[session])).await;
        }
        terminal.display.remove();
        Some(described)
    }

    fn table(&self) -> MutexGuard<'_, TerminalTable> {
        // No code under this lock panics halfway.
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TerminalTable {
    fn find(&self, number: TerminalNumber) -> Option<Arc<OpenedTerminal>> {
        self.all.iter().find(|it| it.number == number).cloned()
    }

    fn n_running(&self) -> usize {
        self.all.iter().filter(|it| it.pty().is_some()).count()
    }

    /// Makes room for one more terminal.
    fn forget_oldest(&mut self) {
        let is_over = |it: &Arc<OpenedTerminal>| it.display.has_ended();
        while self.all.len() > MOST_KEPT
            && let Some(oldest) = self.all.iter().position(is_over)
        {
            self.all.remove(oldest).display.remove();
        }
    }

    /// Returns the current state of a terminal.
    fn describe(&self, terminal: &OpenedTerminal) -> Terminal {
        let described = terminal.display.terminal();
        let is_paused = self.is_paused(terminal) && described.ended.is_none();
        Terminal {
            is_paused,
            ..described
        }
    }

    fn is_paused(&self, terminal: &OpenedTerminal) -> bool {
        self.holder != LeaseHolder::Nobody && terminal.lease != self.lease
    }

    /// Returns the reason why an actor cannot type into a terminal now.
    fn read_only(
        &self,
        terminal: &OpenedTerminal,
        actor: Actor,
        may_type: bool,
    ) -> Option<ReadOnly> {
        if terminal.display.has_ended() {
            Some(ReadOnly::Ended)
        } else if terminal.number == TerminalNumber::AGENT {
            Some(ReadOnly::AgentShell)
        } else if !may_type {
            Some(ReadOnly::Watching)
        } else if !self.holder.admits(actor) {
            Some(ReadOnly::Control)
        } else if self.is_paused(terminal) {
            Some(ReadOnly::Paused)
        } else {
            None
        }
    }
}

impl OpenedTerminal {
    fn pty(&self) -> Option<Arc<Pty>> {
        self.slot().clone()
    }

    fn take_pty(&self) -> Option<Arc<Pty>> {
        self.slot().take()
    }

    fn resize(&self, size: TerminalSize) {
        let (Some(pty), Ok(size)) = (self.pty(), size.check()) else {
            return;
        };
        match pty.resize(size) {
            Ok(()) => self.display.resize(size),
            Err(error) => tracing::warn!(%error, "could not resize a terminal"),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Pty>>> {
        // No code under this lock panics halfway.
        self.pty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
