//! The machine, prepared once for every sandbox of this server.

use std::{io, path::PathBuf, sync::Arc};

use deskhand_core::{id::SessionId, sandbox::StartSandboxError};

use super::{
    browser,
    cgroup::Groups,
    disk::Reserve,
    files::{SessionFiles, make_passage},
    find_program,
    identity::Identity,
    images::Homes,
    process::Spawner,
    seccomp,
    system::X_SERVER,
    usage::Meter,
    view::View,
};
use crate::providers::ProviderSettings;

/// Programs that a sandbox requires, and the packages that contain them.
const NEEDED: [(&str, &str); 3] = [
    (X_SERVER, "tigervnc-standalone-server"),
    ("openbox", "openbox"),
    ("prlimit", "util-linux"),
];

/// This machine, ready to start sandboxes.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) settings: ProviderSettings,
    pub(crate) bubblewrap: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) spawner: Spawner,
    /// The paths as bubblewrap sees them.
    pub(crate) view: View,
    pub(crate) homes: Homes,
    pub(crate) groups: Groups,
    /// The filter of system calls, if there is one for this processor.
    pub(crate) filter: Option<Vec<u8>>,
    /// The part of the disk that no sandbox may take.
    pub(crate) reserve: Reserve,
    pub(crate) meter: Arc<Meter>,
}

impl Host {
    pub(crate) fn prepare(settings: ProviderSettings) -> Result<Self, StartSandboxError> {
        let bubblewrap = find_program(&settings.bubblewrap)
            .ok_or_else(|| missing("bubblewrap is not installed", "bubblewrap"))?;
        for (program, package) in NEEDED {
            if find_program(program.as_ref()).is_none() {
                return Err(missing(&format!("{program} is not installed"), package));
            }
        }
        if browser::program().is_none() {
            tracing::warn!("no browser is installed, so sandboxes will have none");
        }
        let identity = Identity::of_sandboxes();
        make_passage(&settings.dir, identity)?;
        if !settings.runner.is_file() {
            let problem = format!(
                "the runner's program {} is missing",
                settings.runner.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, problem).into());
        }
        let (spawner, view) = Spawner::start(identity, &settings.dir, &settings.runner)?;
        Ok(Self {
            bubblewrap,
            identity,
            spawner,
            homes: Homes::prepare(settings.disk_quota, &settings.dir, settings.limits, &view)?,
            view,
            groups: Groups::prepare(),
            filter: seccomp::program(),
            reserve: Reserve::new(settings.reserve_bytes),
            meter: Arc::default(),
            settings,
        })
    }

    /// Returns the files of a session.
    pub(crate) fn files(&self, session: SessionId) -> SessionFiles {
        self.view.files(&self.settings.dir, session)
    }
}

fn missing(what: &str, package: &str) -> StartSandboxError {
    StartSandboxError::Missing {
        what: what.to_owned(),
        remedy: format!("run `apt-get install {package}`"),
    }
}
