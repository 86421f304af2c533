//! Sandboxes on this machine, created with bubblewrap.
//!
//! They work for root and for ordinary users alike and need no daemon. A sandbox ends with its session, with the
//! server, and even if the server is killed: see [`process`]. [`bubblewrap`] decides what it can see, [`seccomp`] what
//! it can ask of the kernel, [`identity`] as which user its programs run, [`limits`] how much memory and time they may
//! use, and [`images`] and [`disk`] how much of the disk.

pub(crate) mod browser;
pub(crate) mod bubblewrap;
pub(crate) mod cgroup;
mod disk;
mod doctor;
mod files;
mod host;
pub(crate) mod identity;
mod images;
pub mod interface;
mod limits;
pub(crate) mod process;
mod sandbox;
mod seccomp;
mod system;
mod tail;
mod trace;
mod trust;
mod usage;
mod view;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use deskhand_core::{
    id::SessionId,
    sandbox::{
        DoctorCheck, Lifecycle, Network, Sandbox, SandboxSpec, SandboxUsage, StartSandboxError,
    },
    tasks::Tasks,
};
use futures::future::join_all;
use tokio::{sync::OnceCell, task::spawn_blocking};
use tokio_util::sync::CancellationToken;

use self::{
    files::SessionFiles,
    host::Host,
    sandbox::{Handle, LocalExtras, LocalSandbox, LocalSpec},
    trace::Trace,
};
use crate::providers::{Provider, ProviderSettings};

/// The provider's entry in the list of providers.
pub(crate) const PROVIDER: Provider = Provider {
    name: NAME,
    build: |settings, tasks| Arc::new(LocalSandboxes::new(settings, tasks)),
};

const NAME: &str = "local";

/// The sandboxes of this machine. Clones share them.
#[derive(Debug, Clone)]
pub struct LocalSandboxes {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: ProviderSettings,
    tasks: Tasks,
    /// The machine, prepared by the first start for all later ones.
    host: OnceCell<Arc<Host>>,
    slots: Mutex<HashMap<SessionId, Slot>>,
    /// Cancelled when no more sandboxes may start.
    closed: CancellationToken,
}

/// The newest sandbox of a session. Locked while it starts, so that there is never a second one.
type Slot = Arc<tokio::sync::Mutex<Option<Handle>>>;

impl LocalSandboxes {
    /// Creates the provider. Nothing is started or written before it is needed.
    pub fn new(settings: ProviderSettings, tasks: Tasks) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                tasks,
                host: OnceCell::new(),
                slots: Mutex::default(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// Checks that this provider supports the spec. Errors name the unsupported part.
    fn supported(&self, spec: SandboxSpec) -> Result<(LocalSpec, LocalExtras), StartSandboxError> {
        let unsupported = |what: &str| {
            Err(StartSandboxError::Unsupported {
                provider: NAME,
                what: what.to_owned(),
            })
        };
        let Some(session) = spec.session else {
            return unsupported("a sandbox without a session");
        };
        if let Some(image) = spec.image {
            return unsupported(&format!("images, such as {image:?}"));
        }
        if spec.network == Network::Connected && self.shared.settings.network.is_none() {
            return unsupported("a network, because this server has none to connect it to");
        }
        let local = LocalSpec {
            session,
            computer: spec.computer,
            screen: spec.screen,
            limits: spec.limits.unwrap_or(self.shared.settings.limits),
            must_be_limited: spec.must_be_limited,
            network: spec.network,
        };
        let extras = LocalExtras {
            variables: spec.variables,
            authority: spec.authority,
        };
        Ok((local, extras))
    }
}

#[async_trait]
impl Lifecycle for LocalSandboxes {
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        let (spec, extras) = self.supported(spec)?;
        let slot = self.shared.slot(spec.session);
        let starting = async {
            let mut slot = slot.lock().await;
            if let Some(earlier) = slot.take() {
                earlier.stop().await;
            }
            let host = self.shared.host().await?;
            let parts = (&host, &self.shared.tasks);
            let started = LocalSandbox::start(parts, spec, extras, &mut slot).await;
            self.shared.make_spare(host);
            started
        };
        tokio::select! {
            biased;
            () = self.shared.closed.cancelled() => {
                Err(StartSandboxError::Failed("the server is shutting down".to_owned()))
            }
            // The future is boxed because it holds everything that a start needs.
            sandbox = Box::pin(starting) => Ok(Arc::new(sandbox?)),
        }
    }

    async fn sweep(&self) {
        let dir = &self.shared.settings.dir;
        let sessions = self.sessions_with_files().await.unwrap_or_else(|error| {
            tracing::warn!(%error, dir = %dir.display(), "could not list the files of sandboxes");
            Vec::new()
        });
        trace::end_leftovers(&sessions);
        for session in sessions {
            let files = SessionFiles::of(dir, session);
            if let Some(trace) = Trace::read(&files.trace()) {
                trace.clear().await;
            }
            if let Err(error) = files.remove_run() {
                tracing::warn!(%error, session.id = %session, "could not remove the traces of a sandbox");
            }
        }
        if let Err(error) = self.shared.host().await {
            tracing::warn!(error = %chain(&error), "sandboxes cannot be started yet");
        }
    }

    async fn stop_all(&self) {
        self.shared.closed.cancel();
        let slots: Vec<Slot> = self.shared.slots().values().cloned().collect();
        join_all(slots.iter().map(|slot| async {
            if let Some(handle) = &*slot.lock().await {
                handle.stop().await;
            }
        }))
        .await;
    }

    async fn remove_files(&self, session: SessionId) -> io::Result<()> {
        let slot = self.shared.slot(session);
        let mut slot = slot.lock().await;
        if let Some(handle) = slot.take() {
            handle.stop().await;
        }
        let files = SessionFiles::of(&self.shared.settings.dir, session);
        spawn_blocking(move || files.remove()).await??;
        self.shared.slots().remove(&session);
        Ok(())
    }

    async fn sessions_with_files(&self) -> io::Result<Vec<SessionId>> {
        let dir = self.shared.settings.dir.clone();
        spawn_blocking(move || files::sessions_in(&dir)).await?
    }

    async fn check(&self) -> Result<(), StartSandboxError> {
        self.shared.host().await.map(drop)
    }

    async fn doctor(&self) -> Vec<DoctorCheck> {
        doctor::checks(&self.shared.settings).await
    }

    async fn usage(&self) -> SandboxUsage {
        let Some(host) = self.shared.host.get() else {
            return SandboxUsage::default();
        };
        let slots: Vec<Slot> = self.shared.slots().values().cloned().collect();
        // A sandbox that is starting is locked, and counted next time.
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
                let settings = self.settings.clone();
                spawn_blocking(move || Host::prepare(settings))
                    .await
                    .map_err(io::Error::from)?
                    .map(Arc::new)
            })
            .await?;
        Ok(Arc::clone(host))
    }

    /// Prepares for the next start of a new session.
    fn make_spare(&self, host: Arc<Host>) {
        self.tasks.spawn("spare home", async move {
            // This fails only when the runtime shuts down.
            let _ = spawn_blocking(move || host.homes.make_spare()).await;
        });
    }

    fn slot(&self, session: SessionId) -> Slot {
        Arc::clone(self.slots().entry(session).or_default())
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Slot>> {
        // No code under this lock panics.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the file of a program by its path, or by its name in the folders that sandboxes search.
pub(crate) fn find_program(name: &Path) -> Option<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        // Joining an absolute path returns that path.
        .map(|folder| Path::new(folder).join(name))
        .find(|program| program.is_file())
}

/// Formats an error and its causes as one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
