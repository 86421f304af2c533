//! PostgreSQL for tests: databases on an existing server, and a server that can be stopped.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::net::TcpSocket;
use tokio_postgres::NoTls;

/// The timeout for the start of a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates an empty database on the server that `scripts/with-postgres` started, and returns its address.
pub async fn new_postgres_database(name: &str) -> String {
    let server = std::env::var("DESKHAND_TEST_POSTGRES")
        .expect("tests on PostgreSQL need a server: run them with scripts/with-postgres");
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    let made = format!("CREATE DATABASE {name}");
    tokio::select! {
        made = client.batch_execute(&made) => made.unwrap(),
        ended = connection => panic!("the server went away: {ended:?}"),
    }
    let (address, _) = server.rsplit_once('/').unwrap();
    format!("{address}/{name}")
}

/// A server that can be stopped and started again. It ends with the test.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
    /// Bound to the port, so that nobody else gets it. PostgreSQL does, because this one does not listen.
    _place: TcpSocket,
    port: u16,
    child: Option<Child>,
}

impl Postgres {
    /// Creates a server and waits until it is up.
    pub async fn start() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deskhand-postgres-")
            .tempdir()
            .unwrap();
        let place = TcpSocket::new_v4().unwrap();
        place.set_reuseaddr(true).unwrap();
        place.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = place.local_addr().unwrap().port();
        let mut postgres = Self {
            programs: programs(),
            folder,
            _place: place,
            port,
            child: None,
        };
        if geteuid().is_root() {
            let owned = own(&["chown", "postgres"])
                .arg(postgres.folder.path())
                .status();
            assert!(owned.unwrap().success());
        }
        let mut initdb = postgres.program("initdb");
        initdb.args([
            "-U",
            "deskhand",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        assert!(initdb.status().unwrap().success());
        postgres.start_again().await;
        postgres
    }

    /// Starts the server again with its existing data.
    pub async fn start_again(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        let mut command = self.program("postgres");
        command.args(["-p", &self.port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            // The data need not survive a crash of the machine.
            "fsync=off",
            "max_connections=100",
        ] {
            command.args(["-c", setting]);
        }
        self.child = Some(command.spawn().unwrap());
        let deadline = Instant::now() + PATIENCE;
        while tokio_postgres::connect(&self.url(), NoTls).await.is_err() {
            assert!(Instant::now() < deadline, "PostgreSQL did not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the server in the middle of its work.
    pub fn stop_at_once(&mut self) {
        let mut child = self.child.take().expect("it runs");
        kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
        child.wait().unwrap();
    }

    /// Returns the address of its database, which is empty at first.
    pub fn url(&self) -> String {
        format!("postgres://deskhand@127.0.0.1:{}/postgres", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns a command for one of its programs. The process does not outlive the test.
    fn program(&self, name: &str) -> Command {
        let mut words = vec!["setpriv", "--pdeathsig", "KILL"];
        // PostgreSQL refuses to run as root.
        if geteuid().is_root() {
            words.extend([
                "--reuid",
                "postgres",
                "--regid",
                "postgres",
                "--init-groups",
            ]);
        }
        let mut command = own(&words);
        command
            .arg(self.programs.join(name))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .current_dir(self.folder.path());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.stop_at_once();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the database is part of what is tested"
)]
fn own(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Returns the folder with the programs of the newest version.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .expect("PostgreSQL is not installed: run scripts/setup test")
        .flatten();
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions
        .map(|entry| entry.path())
        .max_by_key(|path| version(path))
        .expect("PostgreSQL is not installed: run scripts/setup test");
    newest.join("bin")
}
