//! The service under load: Deskhand, or the FastAPI service in `bench/peer/`.

use std::{
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Instant,
};

use deskhand_testkit::{Client, Server, ServerOptions, Session};

/// The peer's token.
const TOKEN: &str = "dh_peer";

/// A model that thinks for an hour, so that its session is busy and messages wait.
const BUSY: &str = "steps: [{delay_ms: 3600000, text: done}]";

/// A service with sessions, messages and streams. It ends when this is dropped.
pub(crate) struct Service {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) pid: i32,
    pub(crate) start_ms: f64,
    _process: Process,
    _folder: tempfile::TempDir,
}

enum Process {
    Ours { _server: Box<Server> },
    Peer(Child),
}

impl Service {
    /// Starts Deskhand with its default settings, except for room for many waiting messages.
    ///
    /// Its sandboxes never get ready, since a program that only waits replaces bubblewrap. So many sessions can be
    /// busy on a small machine, and no desktop takes part in the measurement. Everything between the socket and the
    /// database is as usual.
    pub(crate) fn ours(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // If root runs the server, a separate user starts the sandboxes.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let waits = folder.path().join("waits");
        std::fs::write(&waits, "#!/bin/sh\nexec cat >/dev/null\n").unwrap();
        std::fs::set_permissions(&waits, PermissionsExt::from_mode(0o755)).unwrap();
        let variables = [
            ("DESKHAND_TURN_QUEUE_LENGTH", "1000"),
            ("DESKHAND_SANDBOX_START_TIMEOUT_MS", "600000"),
            ("DESKHAND_SANDBOX_BUBBLEWRAP", waits.to_str().unwrap()),
        ];
        let options = ServerOptions {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            scenarios: vec![("busy".to_owned(), BUSY.to_owned())],
            ..ServerOptions::default()
        };
        let started = Instant::now();
        let server = Server::start(program, options);
        Self {
            start_ms: started.elapsed().as_secs_f64() * 1_000.0,
            url: server.url(),
            token: server.token(),
            pid: server.pid(),
            _process: Process::Ours {
                _server: Box::new(server),
            },
            _folder: folder,
        }
    }

    /// Starts the peer with this interpreter, whose environment has its libraries.
    #[expect(clippy::disallowed_methods, reason = "the peer is a program")]
    pub(crate) async fn peer(python: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peer/service.py");
        let port = free_port();
        let started = Instant::now();
        let child = Command::new(python)
            .arg(script)
            .arg(folder.path().join("peer.db"))
            .args([&port.to_string(), TOKEN])
            .stdin(Stdio::null())
            .spawn()
            .expect("the peer starts");
        let pid = i32::try_from(child.id()).unwrap();
        // From here on the process is ended, whatever happens.
        let process = Process::Peer(child);
        while tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
        {
            assert!(started.elapsed().as_secs() < 60, "the peer does not answer");
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        Self {
            start_ms: started.elapsed().as_secs_f64() * 1_000.0,
            url: format!("http://127.0.0.1:{port}"),
            token: TOKEN.to_owned(),
            pid,
            _process: process,
            _folder: folder,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, &self.token)
    }

    /// Creates sessions whose agent is busy, so that all further messages wait.
    pub(crate) async fn busy_sessions(&self, n_sessions: usize) -> Vec<Session> {
        let client = self.client();
        let mut sessions = Vec::new();
        for _ in 0..n_sessions {
            let session = client.new_session("scripted/busy").await;
            session.prompt("Take your time.").await;
            sessions.push(session);
        }
        sessions
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Self::Peer(child) = self {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns a port that is not in use.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
