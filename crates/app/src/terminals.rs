//! Terminals in the computers of sessions, shared by everybody who sees the session.
//!
//! Everybody may watch. People with the right to drive may open, rename and end terminals and type into them, while the
//! agent works. While a person has control, only they may. The runner checks this again for every byte, since it is the
//! first to learn of a change of control.

use std::{pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_agent::DeskError;
use deskhand_core::{
    id::{SessionId, UserId},
    lease::Lease,
    right::Right,
    sandbox::{
        Actor, Call, ComputerError, ComputerExt, ForSession, KillTerminal, ListTerminals,
        OpenTerminal, Operation, RenameTerminal, StreamTarget, Streams, TerminalOpened,
    },
    session::Phase,
    terminal::{
        BadTerminal, Framed, Terminal, TerminalFrames, TerminalInput, TerminalNumber, TerminalSize,
        TerminalUpdate, checked_command, checked_name,
    },
    viewer::Viewer,
};
use deskhand_store::Store;
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio::time::timeout;

use crate::{
    FindError, WakeError,
    live::{LiveSessions, desk::SessionDesk, session::LiveSession},
    refusal::refusals,
    session_computer::SessionComputer,
    sessions::find::{find, find_with},
};

/// The time from the loss of a computer until its end is noticed.
const LONGEST_DEATH: Duration = Duration::from_secs(10);

/// The terminals of all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Terminals {
    store: Store,
    live: LiveSessions,
}

/// A terminal to open.
#[derive(Debug, Default)]
pub struct NewTerminal {
    /// The default is named after the terminal's number.
    pub name: Option<String>,
    /// The default is 80 columns and 24 rows.
    pub size: Option<TerminalSize>,
    /// A command to run instead of an interactive shell.
    pub command: Option<String>,
}

/// A viewer's connection to a terminal.
#[derive(Debug)]
pub struct TerminalStream {
    pub updates: TerminalUpdates,
    pub typist: TerminalTypist,
}

/// The output of a terminal, and the changes of its state.
pub struct TerminalUpdates {
    incoming: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    frames: TerminalFrames,
    /// The session that output keeps awake, if the viewer may type.
    live: Option<Arc<LiveSession>>,
}

/// The input of a terminal.
pub struct TerminalTypist {
    outgoing: Pin<Box<dyn Sink<Bytes, Error = std::io::Error> + Send>>,
    live: Option<Arc<LiveSession>>,
}

/// The reason why a terminal was not opened, changed or shown.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error(transparent)]
    Bad(#[from] BadTerminal),
    #[error("terminal 0 is the agent's shell: it can only be watched")]
    AgentShell,
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("the desktop of session {0} is not running; open a terminal to start it")]
    Asleep(SessionId),
    #[error("session {session} has no terminal {number}; it may have ended with its desktop")]
    NoTerminal {
        session: SessionId,
        number: TerminalNumber,
    },
    #[error("{0} terminals are open, which is the limit; end one first")]
    TooMany(usize),
    #[error("{} has control of session {session} until {}; wait, or ask them to hand back", .lease.name, .lease.until)]
    SomebodyElseDrives { session: SessionId, lease: Lease },
    #[error("{}", .0.message)]
    NoSandbox(DeskError),
    #[error("control of session {0} changed in the meantime; try again")]
    ControlChanged(SessionId),
    #[error("the desktop did not open or change the terminal: {0}")]
    Computer(ComputerError),
}

refusals! {
    TerminalError passes on Find, Wake;
    Self::Bad(_) | Self::AgentShell => Invalid("bad_terminal"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::Asleep(_) => Conflict("no_sandbox"),
    Self::NoTerminal { .. } => NotFound("no_terminal"),
    Self::TooMany(most) => TooMany("too_many_terminals", { "most": most }),
    Self::SomebodyElseDrives { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::ControlChanged(_) => Conflict("control_changed"),
    Self::NoSandbox(_) | Self::Computer(_) => Unavailable("no_sandbox"),
}

impl Terminals {
    pub(crate) fn new(store: Store, live: LiveSessions) -> Self {
        Self { store, live }
    }

    /// Opens a terminal, in a sandbox that is started if necessary.
    pub async fn open(
        &self,
        user: UserId,
        id: SessionId,
        wanted: NewTerminal,
    ) -> Result<Terminal, TerminalError> {
        let open = OpenTerminal {
            name: wanted.name.as_deref().map(checked_name).transpose()?,
            size: wanted.size.unwrap_or_default().check()?,
            command: wanted.command.map(checked_command).transpose()?,
        };
        let session = find_with(&self.store, Right::Drive, Viewer::User(user), id).await?;
        if session.phase == Phase::Terminated {
            return Err(TerminalError::Ended(id));
        }
        self.check_control(user, id)?;
        let guard = self.live.wake(&session).await?;
        let has_command = open.command.is_some();
        let mut opened = self.open_in(&guard.desk, user, id, open.clone()).await;
        // The computer has just died, and a shell with it. A command that may have begun is not run twice.
        if let (Err(TerminalError::Asleep(_)), false) = (&opened, has_command) {
            opened = self.open_in(&guard.desk, user, id, open).await;
        }
        match opened? {
            TerminalOpened::Opened(terminal) => {
                if has_command {
                    guard.activity.note_directed();
                }
                Ok(terminal)
            }
            TerminalOpened::TooMany(most) => Err(TerminalError::TooMany(most)),
            TerminalOpened::ControlChanged => Err(TerminalError::ControlChanged(id)),
        }
    }

    /// Opens a terminal in the session's computer. If the computer dies meanwhile, its end has been noticed before this
    /// returns.
    async fn open_in(
        &self,
        desk: &Arc<SessionDesk>,
        user: UserId,
        id: SessionId,
        open: OpenTerminal,
    ) -> Result<TerminalOpened, TerminalError> {
        let computer = desk.computer().await;
        let computer = computer.map_err(TerminalError::NoSandbox)?;
        let opened = self.perform(&computer, user, id, open).await;
        if let Err(TerminalError::Asleep(_)) = opened {
            let _ = timeout(LONGEST_DEATH, computer.ended()).await;
        }
        opened
    }

    /// Lists the terminals. The list is empty while the sandbox is not running.
    pub async fn list(&self, user: UserId, id: SessionId) -> Result<Vec<Terminal>, TerminalError> {
        find(&self.store, Viewer::User(user), id).await?;
        let Some(computer) = self.live.running_computer(id) else {
            return Ok(Vec::new());
        };
        match self.perform(&computer, user, id, ListTerminals).await {
            Ok(list) => Ok(list.terminals),
            // The sandbox has ended in the meantime.
            Err(TerminalError::Asleep(_)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    pub async fn rename(
        &self,
        user: UserId,
        id: SessionId,
        number: TerminalNumber,
        name: &str,
    ) -> Result<Terminal, TerminalError> {
        let name = checked_name(name)?;
        let computer = self.computer_to_change(user, id, number).await?;
        let rename = RenameTerminal { number, name };
        let found = self.perform(&computer, user, id, rename).await?;
        let none = TerminalError::NoTerminal {
            session: id,
            number,
        };
        found.terminal.ok_or(none)
    }

    /// Ends a terminal with everything that runs in it, and removes it.
    pub async fn kill(
        &self,
        user: UserId,
        id: SessionId,
        number: TerminalNumber,
    ) -> Result<(), TerminalError> {
        let computer = self.computer_to_change(user, id, number).await?;
        let kill = KillTerminal { number };
        let found = self.perform(&computer, user, id, kill).await?;
        let none = TerminalError::NoTerminal {
            session: id,
            number,
        };
        found.terminal.map(drop).ok_or(none)
    }

    /// Connects a viewer to a terminal. `may_type` is true if they have the right to drive. Then activity in the terminal
    /// keeps the session awake.
    pub async fn attach(
        &self,
        user: UserId,
        id: SessionId,
        number: TerminalNumber,
        may_type: bool,
    ) -> Result<TerminalStream, TerminalError> {
        let terminals = self.list(user, id).await?;
        let computer = self.live.running_computer(id);
        let computer = computer.ok_or(TerminalError::Asleep(id))?;
        if terminals.is_empty() {
            return Err(TerminalError::Asleep(id));
        }
        if !terminals.iter().any(|terminal| terminal.number == number) {
            return Err(TerminalError::NoTerminal {
                session: id,
                number,
            });
        }
        let target = StreamTarget::Terminal { number, may_type };
        let opened = computer.open(target, Actor::Person(user)).await;
        let stream = opened.map_err(TerminalError::Computer)?;
        let live = self.live.get(id).filter(|_| may_type);
        Ok(TerminalStream {
            updates: TerminalUpdates {
                incoming: stream.incoming,
                frames: TerminalFrames::default(),
                live: live.clone(),
            },
            typist: TerminalTypist {
                outgoing: stream.outgoing,
                live,
            },
        })
    }

    async fn computer_to_change(
        &self,
        user: UserId,
        id: SessionId,
        number: TerminalNumber,
    ) -> Result<Arc<SessionComputer>, TerminalError> {
        find_with(&self.store, Right::Drive, Viewer::User(user), id).await?;
        if number == TerminalNumber::AGENT {
            return Err(TerminalError::AgentShell);
        }
        self.check_control(user, id)?;
        let computer = self.live.running_computer(id);
        computer.ok_or(TerminalError::NoTerminal {
            session: id,
            number,
        })
    }

    /// Checks that no other person has control.
    fn check_control(&self, user: UserId, id: SessionId) -> Result<(), TerminalError> {
        let held = self.live.attendance(id).held().map(|held| held.lease);
        match held.filter(|lease| lease.user != user) {
            Some(lease) => Err(TerminalError::SomebodyElseDrives { session: id, lease }),
            None => Ok(()),
        }
    }

    async fn perform<O: Operation<ForSession>>(
        &self,
        computer: &SessionComputer,
        user: UserId,
        id: SessionId,
        operation: O,
    ) -> Result<O::Reply, TerminalError> {
        let call = Call::by(Actor::Person(user));
        let done = computer.perform(call, operation).await;
        done.map_err(|error| match error {
            // Control has changed since the check.
            ComputerError::Refused { .. } => self
                .check_control(user, id)
                .err()
                .unwrap_or(TerminalError::ControlChanged(id)),
            ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_) => {
                TerminalError::Asleep(id)
            }
            ComputerError::Failed(_)
            | ComputerError::Cancelled
            | ComputerError::NoSoundCard
            | ComputerError::NothingListens(_) => TerminalError::Computer(error),
        })
    }
}

impl TerminalUpdates {
    /// Waits for the next update. Returns `None` when the terminal is removed or the sandbox is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<TerminalUpdate> {
        loop {
            match self.frames.read() {
                Ok(Some(update)) => {
                    if let (TerminalUpdate::Output(_), Some(live)) = (&update, &self.live) {
                        live.activity.touch();
                    }
                    return Some(update);
                }
                Ok(None) => {}
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "could not read a frame of a terminal; closing its stream"
                    );
                    return None;
                }
            }
            let piece = self.incoming.next().await?;
            self.frames.push(&piece);
        }
    }
}

impl TerminalTypist {
    /// Sends input. The runner drops it if the person may not type at that moment.
    pub async fn send(&mut self, input: TerminalInput) -> std::io::Result<()> {
        if let Some(live) = &self.live {
            if is_command(&input) {
                live.activity.note_directed();
            } else {
                live.activity.touch();
            }
        }
        self.outgoing.send(input.to_frame()).await
    }
}

/// Returns true for input that contains a line end. Automatic replies of a terminal, such as the position of the cursor,
/// never do.
fn is_command(input: &TerminalInput) -> bool {
    match input {
        TerminalInput::Typed(text) => text.contains(&b'\r') || text.contains(&b'\n'),
        TerminalInput::Resize(_) => false,
    }
}

impl std::fmt::Debug for TerminalUpdates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalUpdates").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TerminalTypist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalTypist").finish_non_exhaustive()
    }
}
