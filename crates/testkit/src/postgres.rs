//! A PostgreSQL server of a test's own, to be stopped and started under a running Deskhand.

use std::{
    net::TcpListener,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// A server on loopback in a folder of its own. It is stopped, and the folder removed, at the end.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    /// PostgreSQL does not run as root.
    user: Option<(u32, u32)>,
}

impl Postgres {
    /// Makes one and starts it.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deskhand-postgres-")
            .tempdir()
            .unwrap();
        let user = rustix::process::getuid().is_root().then(postgres_user);
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            programs: programs(),
            folder,
            port: free.local_addr().unwrap().port(),
            user,
        };
        drop(free);
        server.run(
            "initdb",
            &[
                "-U",
                "deskhand",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ],
        );
        server.start_again();
        server
    }

    /// Its address for Deskhand.
    pub fn url(&self) -> String {
        format!("postgres://deskhand@127.0.0.1:{}/postgres", self.port)
    }

    pub fn start_again(&self) {
        let log = self.folder.path().join("log");
        let options = format!(
            "-c listen_addresses=127.0.0.1 -p {} -c unix_socket_directories='' -c fsync=off",
            self.port
        );
        let log = log.to_str().unwrap();
        self.run("pg_ctl", &["start", "-w", "-s", "-l", log, "-o", &options]);
    }

    /// Cuts every connection, as a crash does.
    pub fn stop(&self) {
        self.run("pg_ctl", &["stop", "-m", "immediate", "-s"]);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the database is part of the test"
    )]
    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        assert!(
            command.status().unwrap().success(),
            "{program} {arguments:?}"
        );
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.folder.path().join("data/postmaster.pid").exists() {
            self.stop();
        }
    }
}

/// Where the newest PostgreSQL has its programs.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql");
    let versions = versions.expect("PostgreSQL is not installed: run scripts/setup test");
    let folders = versions.map(|version| version.unwrap().path().join("bin"));
    folders.max().expect("a version of PostgreSQL")
}

/// The user and group that Debian runs PostgreSQL as.
fn postgres_user() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let fields: Vec<_> = line.expect("a user postgres").split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}
