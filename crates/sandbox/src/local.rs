//! Sandboxes on this machine, made by bubblewrap.
//!
//! They work for root and for ordinary users alike and need no daemon. A sandbox ends with its
//! session, with the server, and when the server is killed: see [`process`]. What it can see
//! stands in [`bubblewrap`], whom its programs are in [`identity`], how much it may use in
//! [`limits`].

pub(crate) mod browser;
pub(crate) mod bubblewrap;
pub(crate) mod cgroup;
mod files;
mod host;
pub(crate) mod identity;
mod limits;
pub(crate) mod process;
mod sandbox;
mod system;
mod tail;
mod trace;
mod usage;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use deskhand_core::{
    gateway::Entrance,
    id::SessionId,
    sandbox::{Sandbox, SandboxSpec, SandboxUsage, Sandboxes, StartSandboxError},
    tasks::Tasks,
};
use futures::future::join_all;
use tokio::{sync::OnceCell, task::spawn_blocking};
use tokio_util::sync::CancellationToken;

use self::{
    files::SessionFiles,
    host::Host,
    sandbox::{Handle, LocalSandbox},
    trace::Trace,
};

/// How sandboxes on this machine are made.
#[derive(Debug, Clone)]
pub struct LocalConfig {
    /// The folder for the files of all sandboxes. No other server may use it.
    pub dir: PathBuf,
    /// The program that is started in a sandbox with the one argument `runner`.
    pub runner: PathBuf,
    /// Bubblewrap: a path, or a name that is looked up.
    pub bubblewrap: PathBuf,
    /// The screen counts as settled after this long without a change.
    pub settle_quiet: Duration,
    /// And at the latest after this long.
    pub settle_max: Duration,
    /// What a shell command's reply holds at most.
    pub shell_output_bytes: usize,
    pub limits: Limits,
    /// How long a desktop may take to answer.
    pub start_timeout: Duration,
    /// Where programs in a sandbox may ask models; `None` for nowhere.
    pub gateway: Option<Entrance>,
}

impl LocalConfig {
    /// The usual settings.
    pub fn new(dir: PathBuf, runner: PathBuf) -> Self {
        Self {
            dir,
            runner,
            bubblewrap: PathBuf::from("bwrap"),
            settle_quiet: Duration::from_millis(60),
            settle_max: Duration::from_secs(2),
            shell_output_bytes: 64 * 1024,
            limits: Limits::default(),
            start_timeout: Duration::from_secs(20),
            gateway: None,
        }
    }
}

/// How much one sandbox may use, where the machine can enforce it.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    pub memory_bytes: u64,
    /// Processors' worth of time.
    pub cpus: f32,
    pub processes: u32,
    /// The longest single file.
    pub file_size_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            memory_bytes: 4 * GIB,
            cpus: 2.0,
            processes: 1024,
            file_size_bytes: 4 * GIB,
        }
    }
}

/// The sandboxes of this machine. Clones share them.
#[derive(Debug, Clone)]
pub struct LocalSandboxes {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: LocalConfig,
    tasks: Tasks,
    /// What the first start prepares for all.
    host: OnceCell<Arc<Host>>,
    slots: Mutex<HashMap<SessionId, Slot>>,
    /// Fires when no more sandboxes may start.
    closed: CancellationToken,
}

/// The newest sandbox of a session. Locked while it starts, so that there is never a second.
type Slot = Arc<tokio::sync::Mutex<Option<Handle>>>;

impl LocalSandboxes {
    /// Nothing is started or written before it is needed.
    pub fn new(config: LocalConfig, tasks: Tasks) -> Self {
        Self {
            shared: Arc::new(Shared {
                config,
                tasks,
                host: OnceCell::new(),
                slots: Mutex::default(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// Clears away what an earlier server left that was killed, and prepares the first start.
    /// For the start of a server, before the first sandbox.
    pub async fn sweep(&self) {
        let dir = &self.shared.config.dir;
        let sessions = self.sessions_with_files().await.unwrap_or_else(|error| {
            tracing::warn!(%error, dir = %dir.display(), "the files of sandboxes cannot be listed");
            Vec::new()
        });
        trace::end_leftovers(&sessions);
        for session in sessions {
            let files = SessionFiles::of(dir, session);
            if let Some(trace) = Trace::read(&files.trace()) {
                trace.clear().await;
            }
            if let Err(error) = files.remove_run() {
                tracing::warn!(%error, session.id = %session, "the traces of a sandbox are left");
            }
        }
        if let Err(error) = self.shared.host().await {
            tracing::warn!(error = %chain(&error), "sandboxes cannot be started yet");
        }
    }

    /// Ends all sandboxes and returns when they are gone. None can be started afterwards.
    pub async fn stop_all(&self) {
        self.shared.closed.cancel();
        let slots: Vec<Slot> = self.shared.slots().values().cloned().collect();
        join_all(slots.iter().map(|slot| async {
            if let Some(handle) = &*slot.lock().await {
                handle.stop().await;
            }
        }))
        .await;
    }
}

#[async_trait]
impl Sandboxes for LocalSandboxes {
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        let slot = self.shared.slot(spec.session);
        let starting = async {
            let mut slot = slot.lock().await;
            if let Some(earlier) = slot.take() {
                earlier.stop().await;
            }
            let host = self.shared.host().await?;
            LocalSandbox::start(&host, &self.shared.tasks, spec, &mut slot).await
        };
        tokio::select! {
            biased;
            () = self.shared.closed.cancelled() => {
                Err(StartSandboxError::Failed("the server is ending".to_owned()))
            }
            // Boxed, since it holds everything that a start needs.
            sandbox = Box::pin(starting) => Ok(Arc::new(sandbox?)),
        }
    }

    async fn remove_files(&self, session: SessionId) -> io::Result<()> {
        let slot = self.shared.slot(session);
        let mut slot = slot.lock().await;
        if let Some(handle) = slot.take() {
            handle.stop().await;
        }
        let files = SessionFiles::of(&self.shared.config.dir, session);
        spawn_blocking(move || files.remove()).await??;
        self.shared.slots().remove(&session);
        Ok(())
    }

    async fn sessions_with_files(&self) -> io::Result<Vec<SessionId>> {
        let dir = self.shared.config.dir.clone();
        spawn_blocking(move || files::sessions_in(&dir)).await?
    }

    async fn check(&self) -> Result<(), StartSandboxError> {
        self.shared.host().await.map(drop)
    }

    async fn usage(&self) -> SandboxUsage {
        let Some(host) = self.shared.host.get() else {
            return SandboxUsage::default();
        };
        let slots: Vec<Slot> = self.shared.slots().values().cloned().collect();
        // One that is starting is locked, and counted the next time.
        let metered = |slot: &Slot| slot.try_lock().ok()?.as_ref().map(Handle::metered);
        let sandboxes = slots.iter().filter_map(metered).collect();
        host.meter.read(sandboxes).await
    }
}

impl Shared {
    async fn host(&self) -> Result<Arc<Host>, StartSandboxError> {
        let host = self
            .host
            .get_or_try_init(|| async {
                let config = self.config.clone();
                spawn_blocking(move || Host::prepare(config))
                    .await
                    .map_err(io::Error::from)?
                    .map(Arc::new)
            })
            .await?;
        Ok(Arc::clone(host))
    }

    fn slot(&self, session: SessionId) -> Slot {
        Arc::clone(self.slots().entry(session).or_default())
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Slot>> {
        // Nothing panics while the lock is held.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of a program that is named, or looked up where programs are in a sandbox.
pub(crate) fn find_program(name: &Path) -> Option<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        // Joining an absolute path gives that path.
        .map(|folder| Path::new(folder).join(name))
        .find(|program| program.is_file())
}

/// An error with its causes, for a log line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
