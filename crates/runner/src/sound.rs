//! The sandbox's sound card: PulseAudio with one output that nobody but the runner hears.
//!
//! The runner listens on PulseAudio's socket from the start, so programs can connect at any time. The first connection
//! starts PulseAudio, which takes over the socket, and ends when nobody has been connected for a while. So a sandbox
//! without sound has no such process, and sound is captured only while somebody listens.
//!
//! PulseAudio goes on while a person has control and the agent's programs are frozen. Therefore it loads no code and
//! reads no settings that the agent's programs could have written, and everything that records is cut off first.

mod capture;
mod daemon;
mod encoder;
mod pulse;
mod stamps;

use std::{
    collections::{BTreeMap, HashSet},
    io,
    os::fd::{AsRawFd, OwnedFd},
    os::unix::{fs::DirBuilderExt, net::UnixListener},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{computer::ComputerKind, tasks::Tasks};
use rustix::fs::{Mode, OFlags};
use tokio::{
    net::UnixStream,
    sync::{Notify, mpsc},
    time::timeout,
};

pub(crate) use self::capture::CaptureError;
use self::{
    daemon::Daemon,
    pulse::{PulseClient, PulseClientError},
};
use crate::processes::{ProcessName, ProcessSlot};

const PROGRAM: &str = "pulseaudio";
/// The environment variable that tells programs where PulseAudio listens.
const SERVER_VARIABLE: &str = "PULSE_SERVER";
/// The time to cut off everything that records. It takes a few milliseconds.
const CUT_OFF_TIMEOUT: Duration = Duration::from_secs(1);

/// The sound card. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct SoundCard(Arc<SoundCardParts>);

#[derive(Debug)]
struct SoundCardParts {
    path: PathBuf,
    /// A handle to the socket, which stays valid if a program replaces its file.
    handle: OwnedFd,
    /// The process of PulseAudio.
    process: ProcessSlot,
    /// Ends PulseAudio. The next connection starts it again.
    end: Notify,
    /// The numbers of the runner's own connections that record.
    own_clients: Mutex<HashSet<u32>>,
}

/// Programs that recorded, besides the people who listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Recorders {
    None,
    /// There were some, or there may have been.
    Found,
}

/// One of the runner's own connections. It is forgotten on drop.
#[derive(Debug)]
struct OwnClient {
    card: SoundCard,
    number: u32,
}

impl SoundCard {
    /// Opens the sound card of a computer with a screen, if PulseAudio is installed.
    ///
    /// No other program may run yet. `notices` receives a sentence if PulseAudio cannot be started later.
    pub(crate) fn open(
        computer: ComputerKind,
        runtime_dir: &Path,
        tasks: &Tasks,
        notices: mpsc::Sender<String>,
    ) -> Option<Self> {
        if !computer.has_screen() || !is_installed() {
            return None;
        }
        match Self::listen(&runtime_dir.join("sound"), tasks, notices) {
            Ok(card) => Some(card),
            Err(error) => {
                tracing::warn!(%error, "could not open the socket of the sound card");
                None
            }
        }
    }

    fn listen(folder: &Path, tasks: &Tasks, notices: mpsc::Sender<String>) -> io::Result<Self> {
        let mut builder = std::fs::DirBuilder::new();
        // PulseAudio refuses a folder that others can read.
        builder.recursive(true).mode(0o700).create(folder)?;
        let path = folder.join("native");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // Another runner with this process id has left it.
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let handle = rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let card = Self(Arc::new(SoundCardParts {
            path,
            handle,
            process: ProcessSlot::default(),
            end: Notify::new(),
            own_clients: Mutex::default(),
        }));
        let daemon = Daemon::new(card.clone(), listener.into(), folder, notices, tasks)?;
        let shutdown = tasks.shutdown().clone();
        tasks.spawn("sound", async move {
            shutdown.run_until_cancelled(daemon.keep()).await;
        });
        Ok(card)
    }

    /// Returns the environment variables by which programs find it.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        let server = format!("unix:{}", self.0.path.display());
        [(SERVER_VARIABLE.to_owned(), server)].into()
    }

    /// Returns the process of PulseAudio, if it runs.
    pub(crate) fn process(&self) -> Option<ProcessName> {
        self.0.process.get()
    }

    /// Cuts off everything that records, except for the people who listen.
    ///
    /// A frozen program would find the recorded sound when it goes on. Called when the agent's programs are frozen.
    pub(crate) async fn cut_off_recorders(&self) -> Recorders {
        if self.process().is_none() {
            return Recorders::None;
        }
        let problem = match timeout(CUT_OFF_TIMEOUT, self.kill_recorders()).await {
            Ok(Ok(recorders)) => return recorders,
            Ok(Err(error)) => crate::whole_story(&error),
            Err(_late) => "it does not answer".to_owned(),
        };
        tracing::warn!(
            problem,
            "could not cut off what records, so PulseAudio is ended"
        );
        self.0.end.notify_waiters();
        Recorders::Found
    }

    async fn kill_recorders(&self) -> Result<Recorders, PulseClientError> {
        let mut client = PulseClient::connect(self.dial().await?).await?;
        let mut found = Recorders::None;
        for recorder in client.recorders().await? {
            let is_own = |client| self.own_clients().contains(&client);
            if !recorder.client_index.is_some_and(is_own) {
                client.kill_recorder(recorder.index).await?;
                found = Recorders::Found;
            }
        }
        Ok(found)
    }

    /// Connects to PulseAudio, which is started if it does not run.
    async fn dial(&self) -> io::Result<UnixStream> {
        // A socket is connected to by path only. This path means the socket itself and not the name it had.
        let path = format!("/proc/self/fd/{}", self.0.handle.as_raw_fd());
        UnixStream::connect(path).await
    }

    fn own(&self, number: u32) -> OwnClient {
        self.own_clients().insert(number);
        OwnClient {
            card: self.clone(),
            number,
        }
    }

    fn own_clients(&self) -> MutexGuard<'_, HashSet<u32>> {
        // No code under this lock panics halfway.
        self.0
            .own_clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnClient {
    fn drop(&mut self) {
        self.card.own_clients().remove(&self.number);
    }
}

fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file())
}

#[cfg(test)]
#[path = "sound/tests.rs"]
mod tests;
