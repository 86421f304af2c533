//! A whole server in the test's own process: the real app, HTTP server and database, with sandboxes in memory, scripted
//! models and a clock that the test moves.
//!
//! Rules of `app` and `server` are tested here, in milliseconds. `deskhand_testkit::Server` starts the program itself,
//! for what only a process, a real sandbox or a real kill can show.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a surprise here is a failed test"
)]

mod clock;
mod links;
mod log;
mod network;
mod options;
mod program;
mod server;
mod wiring;

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use deskhand_app::Settings;
use deskhand_core::{gateway::Entrance, id::SessionId, network::NetworkEntrance, tasks::Tasks};
use deskhand_models::VendorGateway;
use deskhand_streams::StreamSettings;
use deskhand_testkit::{Client, new_postgres_database, sandboxes::FakeSandboxes};

use crate::{
    clock::MovedClock,
    log::CapturedLog,
    server::ServerThread,
    wiring::{Blueprint, GatewayParts},
};
pub use crate::{
    links::FakeLinks,
    network::{FakeInternet, SandboxLine, connect},
    options::{Database, WorldOptions},
    program::{HeldRequest, Program, ProgramAnswer},
    server::Ending,
};

/// A server with its own database. It ends, and its folder is removed, on drop.
#[derive(Debug)]
pub struct World {
    /// `None` between [`World::end`] and [`World::open`].
    server: Option<ServerThread>,
    blueprint: Blueprint,
    sandboxes: FakeSandboxes,
    /// The way of programs to the model gateway of the running server.
    entrance: Option<Entrance>,
    /// The connections of sandboxes to the network.
    network: Option<NetworkEntrance>,
    internet: FakeInternet,
    client: Client,
    folder: tempfile::TempDir,
}

impl World {
    /// Starts a server on a new SQLite database that knows these scenarios, as name and YAML.
    pub async fn start(scenarios: &[(&str, &str)]) -> Self {
        Self::with(WorldOptions::default().knowing(scenarios)).await
    }

    /// Starts a server with these options.
    pub async fn with(options: WorldOptions) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deskhand-world-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(folder.path().join("scenarios")).unwrap();
        for (name, yaml) in &options.scenarios {
            write_scenario(folder.path(), name, yaml);
        }
        let database = match options.database {
            Database::Sqlite => {
                let file = folder.path().join("deskhand.db");
                format!("sqlite://{}", file.display())
            }
            Database::Postgres => {
                let id = deskhand_core::id::SessionId::new();
                let name = format!("world_{id}").replace('-', "_");
                new_postgres_database(&name).await
            }
        };
        // The server gets a copy, so that the address stays the same when it restarts.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let blueprint = Blueprint {
            folder: folder.path().to_owned(),
            database,
            listener: Arc::new(listener),
            url: url.clone(),
            options,
            clock: MovedClock::default(),
            log: CapturedLog::default(),
            links: FakeLinks::default(),
            admin_token: None,
        };
        let sandboxes = FakeSandboxes::default();
        let mut world = Self {
            server: None,
            blueprint,
            sandboxes,
            entrance: None,
            network: None,
            internet: FakeInternet::default(),
            client: Client::new(url, ""),
            folder,
        };
        world.open().await;
        world
    }

    /// Returns a client with the administrator's token. It works across restarts.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns `http://127.0.0.1:PORT`, the same after a restart.
    pub fn url(&self) -> &str {
        &self.blueprint.url
    }

    /// Returns the sandboxes of the running server.
    pub fn sandboxes(&self) -> &FakeSandboxes {
        &self.sandboxes
    }

    /// Returns a program in the sandbox of a session.
    pub fn program(&self, session: SessionId) -> Program {
        let entrance = self.entrance.clone().expect("the server was started");
        Program { entrance, session }
    }

    /// Returns the hosts on the server's network.
    pub fn internet(&self) -> &FakeInternet {
        &self.internet
    }

    /// Returns a connection of the runner in the sandbox of a session to the server's network.
    pub fn line(&self, session: SessionId) -> SandboxLine {
        let entrance = self.network.as_ref().expect("the server was started");
        SandboxLine::open(entrance, session)
    }

    /// Returns the links by which people watch streams.
    pub fn links(&self) -> &FakeLinks {
        &self.blueprint.links
    }

    /// Returns the folder of the database, the pictures and the scenarios.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the log lines of the server so far, as JSON.
    pub fn log(&self) -> String {
        self.blueprint.log.text()
    }

    /// Returns the folder of the pictures.
    pub fn pictures(&self) -> PathBuf {
        self.folder.path().join("blobs")
    }

    /// Writes a scenario, or replaces the one with this name.
    pub fn set_scenario(&self, name: &str, yaml: &str) {
        write_scenario(self.folder.path(), name, yaml);
    }

    /// Lets time pass for the server: its clock and all its timers, if it runs. The test's own timers are not moved.
    ///
    /// A client that is not read meanwhile answers no pings, so the server closes its connection after a while.
    pub async fn pass(&self, time: Duration) {
        match &self.server {
            Some(server) => server.pass(self.blueprint.clock.clone(), time).await,
            None => self.blueprint.clock.advance(time),
        }
    }

    /// Changes the settings of the server, from its next start on.
    pub fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.blueprint.options.settings);
    }

    /// Changes the settings of streams, from the next start on.
    pub fn change_streams(&mut self, change: impl FnOnce(&mut StreamSettings)) {
        let streams = self.blueprint.options.streams.as_mut();
        change(streams.expect("the server runs streams"));
    }

    /// Ends the server in order and starts it again on the same database.
    pub async fn restart(&mut self) {
        self.end(Ending::InOrder).await;
        self.open().await;
    }

    /// Drops the server, with all its tasks where they are, and starts it again on the same database.
    ///
    /// Nothing is awaited and nothing is written, but destructors run. `Server::kill` of the testkit runs none.
    pub async fn crash(&mut self) {
        self.end(Ending::Crash).await;
        self.open().await;
    }

    /// Ends the server. Time may pass before [`World::open`] starts it again.
    pub async fn end(&mut self, ending: Ending) {
        let server = self.server.take().expect("the server runs");
        server.end(ending).await;
    }

    /// Starts the server on the same database.
    pub async fn open(&mut self) {
        assert!(self.server.is_none(), "the server still runs");
        let tasks = Tasks::default();
        // The sandboxes end with their server, and their files stay.
        self.sandboxes = self.sandboxes.of_next_server(tasks.clone());
        let sandboxes = self.sandboxes.clone();
        let vendors = VendorGateway::new(&self.blueprint.options.models).unwrap();
        let vendors = Arc::new(vendors);
        let (entrance, connections) = Entrance::new(Arc::clone(&vendors) as _);
        self.entrance = Some(entrance);
        let (network, contacted) = NetworkEntrance::new();
        self.network = Some(network.clone());
        let gateway = GatewayParts {
            vendors,
            connections,
            contacted,
            entrance: network,
            internet: self.internet.clone(),
        };
        let blueprint = self.blueprint.clone();
        let (server, token) = ServerThread::start(blueprint, sandboxes, gateway, tasks).await;
        self.client = self.client.with_token(token.expose());
        self.blueprint.admin_token = Some(token);
        self.server = Some(server);
    }
}

fn write_scenario(folder: &Path, name: &str, yaml: &str) {
    let file = folder.join("scenarios").join(format!("{name}.yaml"));
    std::fs::write(file, yaml).unwrap();
}
