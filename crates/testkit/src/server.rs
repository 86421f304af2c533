//! `deskhand serve` as a process.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use deskhand_api::users::SignInLinkView;
use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::{Client, client::choose_tls, eventually};

/// The options for starting a server.
#[derive(Debug, Default, Clone)]
pub struct ServerOptions {
    /// Environment variables besides `PATH` and `HOME`.
    pub variables: Vec<(String, String)>,
    /// The user and group to run as, if the test runs as root.
    pub user: Option<u32>,
    /// Scenarios for `scripted/NAME`, as name and YAML.
    pub scenarios: Vec<(String, String)>,
    /// The size of the file system for pictures, if it should be a small one.
    pub picture_bytes: Option<u64>,
    /// Files and folders that replace others for the server and its sandboxes, each with the path that it covers.
    pub covers: Vec<(PathBuf, PathBuf)>,
    /// Names that the server resolves, in addition to those that this machine knows.
    pub hosts: Vec<(String, String)>,
    /// A `.tar.gz` to unpack into the server's home before it starts. It contains `data/` and `scenarios/`.
    pub archive: Option<PathBuf>,
}

/// A server with its own data folder. It is killed, and the folder removed, on drop.
#[derive(Debug)]
pub struct Server {
    program: PathBuf,
    options: ServerOptions,
    home: tempfile::TempDir,
    child: Option<Child>,
    /// The address of the page, as the server printed it.
    page: String,
    /// The output on standard error.
    log: Arc<Mutex<String>>,
}

impl Server {
    /// Starts `program` and waits until it prints its address.
    pub fn start(program: impl Into<PathBuf>, options: ServerOptions) -> Self {
        choose_tls();
        let home = tempfile::Builder::new()
            .prefix("deskhand-test-")
            .tempdir()
            .unwrap();
        let scenarios = home.path().join("scenarios");
        std::fs::create_dir(&scenarios).unwrap();
        for (name, yaml) in &options.scenarios {
            std::fs::write(scenarios.join(format!("{name}.yaml")), yaml).unwrap();
        }
        if let Some(archive) = &options.archive {
            unpack(archive, home.path());
        }
        if let Some(user) = options.user {
            std::os::unix::fs::chown(home.path(), Some(user), Some(user)).unwrap();
        }
        let log = Arc::default();
        let mut server = Self {
            program: program.into().canonicalize().unwrap(),
            options,
            home,
            child: None,
            page: String::new(),
            log,
        };
        server.start_again();
        server
    }

    /// Starts the server again in the same folder.
    pub fn start_again(&mut self) {
        assert!(self.child.is_none(), "the server still runs");
        let mut command = self.command();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.data_dir())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env(
                "DESKHAND_MODELS_SCENARIOS_DIR",
                self.home.path().join("scenarios"),
            )
            // Tests send more requests and create more sessions than any person does.
            .env("DESKHAND_LIMITS_AWAKE_SESSIONS", "1000")
            .env("DESKHAND_LIMITS_SESSIONS_PER_DAY", "100000")
            .env("DESKHAND_RATE_REQUESTS_PER_SECOND", "0")
            .env("DESKHAND_RATE_SIGN_INS_PER_MINUTE", "0")
            .env("DESKHAND_RATE_WRONG_TOKENS_PER_MINUTE", "0")
            .env("DESKHAND_CONNECTIONS_SOCKETS_PER_USER", "0")
            // Tests with several users also run on machines that cannot limit sandboxes.
            .env("DESKHAND_SANDBOX_REQUIRE_LIMITS", "never")
            // Tests look into homes from outside, and find the processes of sandboxes by what they have mounted.
            .env("DESKHAND_SANDBOX_DISK_QUOTA", "watched")
            .envs(self.options.variables.iter().cloned())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = self.options.user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::clone(&self.log);
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let mut log = log.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut found = lines.by_ref().map_while(Result::ok);
        let page = found.find_map(|line| line.trim().strip_prefix("Open ").map(str::to_owned));
        let Some(page) = page else {
            child.wait().unwrap();
            panic!("the server did not start:\n{}", self.log());
        };
        self.page = page.trim().to_owned();
        // If the rest were not read, the server would block.
        std::thread::spawn(move || lines.for_each(drop));
        self.child = Some(child);
    }

    /// Returns the command that runs the program, with some files replaced if the options say so.
    #[expect(clippy::disallowed_methods, reason = "the server is what is tested")]
    fn command(&self) -> Command {
        let ServerOptions {
            picture_bytes,
            hosts,
            covers,
            ..
        } = &self.options;
        if !covers.is_empty() {
            return covered(covers, &self.program);
        }
        if picture_bytes.is_none() && hosts.is_empty() {
            return Command::new(&self.program);
        }
        let mut command = Command::new("bwrap");
        command.args(["--die-with-parent", "--dev-bind", "/", "/"]);
        if let Some(bytes) = picture_bytes {
            command
                .args(["--size", &bytes.to_string(), "--tmpfs"])
                .arg(self.data_dir().join("blobs"));
        }
        if !hosts.is_empty() {
            // The server looks up names with a trailing dot.
            let line = |(name, address): &(String, String)| format!("{address} {name} {name}.\n");
            let lines: String = hosts.iter().map(line).collect();
            let file = self.home.path().join("hosts");
            std::fs::write(&file, format!("127.0.0.1 localhost\n{lines}")).unwrap();
            command.arg("--ro-bind").arg(file).arg("/etc/hosts");
        }
        command.arg(&self.program);
        command
    }

    /// Returns a new sign-in link of the administrator.
    pub async fn link(&self) -> String {
        let link = self.client().post("/api/sign-in-links", json!({})).await;
        link.view::<SignInLinkView>().url
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        self.page.replace("localhost", "127.0.0.1")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Returns the home folder of a session's sandbox, as seen from outside.
    pub fn home_of(&self, session: &crate::Session) -> PathBuf {
        self.data_dir()
            .join("sandboxes")
            .join(&session.id)
            .join("home")
    }

    /// Returns a folder name that occurs nowhere else on this machine.
    pub fn mark(&self) -> String {
        self.home
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the output on standard error so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Returns the administrator's token.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("admin-token"))
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Returns a client with the administrator's token.
    pub fn client(&self) -> Client {
        Client::new(self.url(), self.token())
    }

    pub fn pid(&self) -> i32 {
        Pid::from_child(self.child.as_ref().expect("the server runs"))
            .as_raw_nonzero()
            .get()
    }

    /// Kills the server with `SIGKILL`.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("the server runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the server to end, and returns its exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let mut child = self.child.take().expect("the server runs");
        rustix::process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
        // The folder can only be removed once no process of a sandbox uses it.
        let mark = self.mark();
        if !std::thread::panicking() {
            eventually("no process of a sandbox is left", || {
                crate::processes_with_mount(&mark).is_empty()
            });
        }
    }
}

/// Returns a command that runs a program in a new mount namespace with these files replaced.
#[expect(clippy::disallowed_methods, reason = "the server is what is tested")]
pub(crate) fn covered(covers: &[(PathBuf, PathBuf)], program: &Path) -> Command {
    const SCRIPT: &str = r#"
        set -e
        while [ "$1" != -- ]; do mount --bind "$1" "$2"; shift 2; done
        shift
        exec "$@"
    "#;
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        SCRIPT,
        "sh",
    ]);
    for (ours, covered) in covers {
        command.arg(ours).arg(covered);
    }
    command.arg("--").arg(program);
    command
}

#[expect(clippy::disallowed_methods, reason = "tar is not what is tested")]
fn unpack(archive: &Path, folder: &Path) {
    let unpacked = Command::new("tar")
        .args(["--extract", "--gzip", "--no-same-owner", "--file"])
        .arg(archive)
        .arg("--directory")
        .arg(folder)
        .status()
        .unwrap();
    assert!(unpacked.success(), "cannot unpack {}", archive.display());
}
