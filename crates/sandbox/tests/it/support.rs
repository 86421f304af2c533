//! Helpers that the tests share.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::{
    action::ScreenSize,
    id::SessionId,
    sandbox::{Actor, Call, ComputerError, ComputerExt, Lifecycle, Network, Sandbox, SandboxSpec},
    shell::{ShellEnding, ShellOutput, ShellRequest},
    tasks::Tasks,
};
use deskhand_sandbox::{local::LocalSandboxes, providers::ProviderSettings};
use tempfile::TempDir;

/// The variable with the folder of the examples, if they are not beside the test.
pub(crate) const EXAMPLES: &str = "DESKHAND_TEST_EXAMPLES";

/// A folder with sandboxes, all of which end with the test.
pub(crate) struct World {
    pub(crate) sandboxes: LocalSandboxes,
    pub(crate) config: ProviderSettings,
    pub(crate) tasks: Tasks,
    _dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut ProviderSettings)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = ProviderSettings::new(dir.path().join("sandboxes"), example("stand_in"));
        change(&mut config);
        let tasks = Tasks::default();
        Self {
            sandboxes: LocalSandboxes::new(config.clone(), tasks.clone()),
            config,
            tasks,
            _dir: dir,
        }
    }

    pub(crate) async fn start(&self, session: SessionId) -> Arc<dyn Sandbox> {
        self.sandboxes.start(spec(session)).await.unwrap()
    }

    /// Starts a sandbox with a network.
    pub(crate) async fn start_connected(&self, session: SessionId) -> Arc<dyn Sandbox> {
        let connected = SandboxSpec {
            network: Network::Connected,
            ..spec(session)
        };
        self.sandboxes.start(connected).await.unwrap()
    }

    pub(crate) fn folder(&self, session: SessionId) -> PathBuf {
        self.config.dir.join(session.to_string())
    }

    /// Ends everything, and checks that this worked.
    pub(crate) async fn end(self) {
        self.sandboxes.stop_all().await;
        assert!(self.tasks.end(Duration::from_secs(60)).await);
    }
}

pub(crate) fn spec(session: SessionId) -> SandboxSpec {
    SandboxSpec::new(ScreenSize::default()).for_session(session)
}

pub(crate) fn shell(command: &str) -> ShellRequest {
    ShellRequest::Run {
        command: command.to_owned(),
        timeout_ms: 60_000,
    }
}

/// Runs a command in the sandbox.
pub(crate) async fn run(
    sandbox: &dyn Sandbox,
    command: &str,
) -> Result<ShellOutput, ComputerError> {
    let call = Call::by(Actor::Agent);
    sandbox.perform(call, shell(command)).await
}

/// Runs a command that must succeed, and returns its output.
pub(crate) async fn said(sandbox: &dyn Sandbox, command: &str) -> String {
    let output = run(sandbox, command).await.unwrap();
    let ending = ShellEnding::Exited { code: 0 };
    assert_eq!(output.ending, ending, "{command}: {}", output.output);
    output.output.trim().to_owned()
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the number of processes on this machine that have `text` on their command line.
pub(crate) fn n_processes(text: &str) -> usize {
    let is_it = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_process = entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        is_process && String::from_utf8_lossy(&line).contains(text)
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries.flatten().filter(is_it).count()
}

/// Finds the control groups of this session, wherever they are.
pub(crate) fn groups_of(session: SessionId) -> Vec<PathBuf> {
    fn add(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().contains(name) {
                    found.push(entry.path());
                }
                add(&entry.path(), name, found);
            }
        }
    }
    let mut found = Vec::new();
    add(
        Path::new("/sys/fs/cgroup"),
        &session.to_string(),
        &mut found,
    );
    found
}

/// Returns true if new homes of this world are images, by the report of `doctor`.
pub(crate) async fn homes_are_images(world: &World) -> bool {
    let checks = world.sandboxes.doctor().await;
    let check = checks.iter().find(|check| check.name == "disk limit");
    check.unwrap().detail.contains("by an image")
}

/// Returns the loop devices of this session.
pub(crate) fn loop_devices_of(session: SessionId) -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let is_its = |device: &PathBuf| {
        let file = fs::read_to_string(device.join("loop/backing_file"));
        file.is_ok_and(|file| file.contains(&session.to_string()))
    };
    devices.map(|entry| entry.path()).filter(is_its).collect()
}

/// Returns the path of an example's program. Cargo builds examples along with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    if let Some(dir) = env::var_os(EXAMPLES) {
        return Path::new(&dir).join(name);
    }
    let test = env::current_exe().unwrap();
    let target = test.ancestors().nth(2).unwrap();
    target.join("examples").join(name)
}

/// Returns a command that runs only the otherwise ignored test `name` of this program.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that plays several servers"
)]
pub(crate) fn again(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args([
        "--exact",
        name,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
}

/// Like [`again`], as a user who is not root. Only root can do that.
#[expect(clippy::disallowed_methods, reason = "a test that plays several users")]
pub(crate) fn again_as_nobody(program: &Path, name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(program)
        .args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command
}
