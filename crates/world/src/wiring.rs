//! The parts of a server and how they are put together, as `deskhand serve` does it.

use std::{net::TcpListener, path::PathBuf, sync::Arc, time::Duration};

use deskhand_agent::{OwnLoop, tools};
use deskhand_app::{App, Parts};
use deskhand_core::{
    gateway::GatewayConnection,
    network::{NetworkConnection, NetworkEntrance},
    sandbox::Lifecycle,
    secret::Secret,
    tasks::Tasks,
};
use deskhand_egress::{Egress, HostVerifier, Lookups, SandboxIssuer};
use deskhand_jamie::StreamRecords;
use deskhand_mcp_client::McpClients;
use deskhand_models::{ConfiguredModels, ModelSettings, VendorGateway};
use deskhand_store::{FolderBlobs, KeyFile, NewServer, Store};
use deskhand_streams::{Deployment, StreamParts, StreamSettings, Streams};
use deskhand_testkit::sandboxes::FakeSandboxes;

use rustls::RootCertStore;
use tokio::sync::mpsc;

use crate::{FakeInternet, FakeLinks, WorldOptions, clock::MovedClock, log::CapturedLog};

/// The timeout for ending a server in order.
const LONGEST_END: Duration = Duration::from_secs(60);

/// Everything that a server is built from, and that outlives it.
#[derive(Debug, Clone)]
pub(crate) struct Blueprint {
    pub(crate) folder: PathBuf,
    /// The database's address.
    pub(crate) database: String,
    pub(crate) listener: Arc<TcpListener>,
    pub(crate) url: String,
    pub(crate) options: WorldOptions,
    pub(crate) clock: MovedClock,
    pub(crate) log: CapturedLog,
    /// The links by which people watch streams.
    pub(crate) links: FakeLinks,
    /// The administrator's token, if a server made one.
    pub(crate) admin_token: Option<Secret>,
}

/// The model gateway of a server, and its network.
#[derive(Debug)]
pub(crate) struct GatewayParts {
    pub(crate) vendors: Arc<VendorGateway>,
    pub(crate) connections: mpsc::Receiver<GatewayConnection>,
    /// The connections of sandboxes to the network.
    pub(crate) contacted: mpsc::Receiver<NetworkConnection>,
    /// The entrance of these connections.
    pub(crate) entrance: NetworkEntrance,
    pub(crate) internet: FakeInternet,
}

/// A server that handles requests.
#[derive(Debug)]
pub(crate) struct RunningApp {
    pub(crate) admin_token: Secret,
    pub(crate) app: App,
    sandboxes: FakeSandboxes,
    connections: Tasks,
}

impl Blueprint {
    /// Opens the database, starts the app and serves.
    pub(crate) async fn build(
        self,
        sandboxes: FakeSandboxes,
        gateway: GatewayParts,
        tasks: Tasks,
    ) -> RunningApp {
        let clock = Arc::new(self.clock.clone());
        let store = Store::open(&self.database).await.unwrap();
        let server = NewServer {
            host: "test".to_owned(),
            pid: std::process::id(),
            data_dir: self.folder.clone(),
        };
        let claim = store.claim(&server, &*clock).await.unwrap();
        let app = App::start(Parts {
            store: store.clone(),
            key: KeyFile::at(self.folder.join("secrets.key")),
            blobs: Arc::new(FolderBlobs::open(self.folder.join("blobs")).unwrap()),
            models: Arc::new(self.models()),
            harness: Arc::new(OwnLoop),
            gateway: Some(gateway.vendors),
            sandboxes: Arc::new(sandboxes.clone()),
            certificates: Arc::new(SandboxIssuer),
            // No host of a test has a certificate.
            tool_servers: Arc::new(McpClients::trusting(RootCertStore::empty(), tasks.clone())),
            network: gateway.entrance,
            clock: Arc::<MovedClock>::clone(&clock),
            tasks: tasks.clone(),
            settings: self.options.settings.clone(),
        });
        let app = app.await.unwrap();
        let made = app.users().ensure_admin(self.admin_token.as_ref()).await;
        let admin_token = made.unwrap().or(self.admin_token.clone());
        let admin_token = admin_token.expect("a token");

        let connections = Tasks::default();
        let end = connections.shutdown().clone();
        let keeping = async move { end.run_until_cancelled(claim.keep(clock)).await };
        connections.spawn("database claim", keeping);
        let listener = self.listener.try_clone().unwrap();
        listener.set_nonblocking(true).unwrap();
        let listeners = deskhand_server::Listeners {
            tcp: tokio::net::TcpListener::from_std(listener).unwrap(),
            local: None,
        };
        let streams = match self.options.streams.clone() {
            Some(settings) => Some(self.streams(settings, &app, &store, tasks).await),
            None => None,
        };
        let settings = http_settings(self.options, self.url, streams);
        if let Some(served) = app.gateway() {
            let end = connections.shutdown().clone();
            let serving = deskhand_server::serve_gateway(gateway.connections, served.clone(), end);
            connections.spawn("gateway", async { serving.await.unwrap() });
        }
        let end = connections.shutdown().clone();
        let egress = egress(&app, gateway.internet);
        let serving = deskhand_egress::serve(gateway.contacted, egress, end);
        connections.spawn("network", serving);
        let end = connections.shutdown().clone();
        let serving = deskhand_server::serve(listeners, app.clone(), settings, end);
        connections.spawn("serve", async { serving.await.unwrap() });
        RunningApp {
            admin_token,
            app,
            sandboxes,
            connections,
        }
    }

    /// Runs streams, with links that the test can see.
    async fn streams(
        &self,
        settings: StreamSettings,
        app: &App,
        store: &Store,
        tasks: Tasks,
    ) -> Arc<dyn StreamRecords> {
        let parts = StreamParts {
            app: app.clone(),
            store: store.clone(),
            links: Some(Arc::new(self.links.clone())),
            settings,
            deployment: Deployment {
                public_url: self.url.clone(),
                bot: None,
                has_activity: self.options.activity.is_some(),
            },
            bot: None,
            clock: Arc::new(self.clock.clone()),
            tasks,
        };
        Arc::new(Streams::begin(parts).await.unwrap())
    }

    /// Sets up the scripted models and the vendors of the options. They check scenarios against the tools when they read them.
    fn models(&self) -> ConfiguredModels {
        let settings = ModelSettings {
            scenario_dir: Some(self.folder.join("scenarios")),
            ..self.options.models.clone()
        };
        let tools = tools::all();
        let models = ConfiguredModels::new(settings).unwrap();
        models.checking_calls(Arc::new(move |tool, input| tools.check(tool, input)))
    }
}

fn http_settings(
    options: WorldOptions,
    url: String,
    streams: Option<Arc<dyn StreamRecords>>,
) -> deskhand_server::Settings {
    deskhand_server::Settings {
        public_url: options.public_url.unwrap_or(url),
        allowed_hosts: options.allowed_hosts,
        apps_domain: options.apps_domain,
        requests_per_second: options.requests_per_second,
        sign_ins_per_minute: options.sign_ins_per_minute,
        wrong_tokens_per_minute: options.wrong_tokens_per_minute,
        connections: options.connections,
        mcp_groups: deskhand_mcp::Groups::default(),
        streams,
        activity: options.activity,
    }
}

/// Builds the way of sandboxes to the hosts of the test.
fn egress(app: &App, internet: FakeInternet) -> Egress {
    Egress {
        guard: Arc::new(app.network().clone()),
        lookups: Lookups::new(
            Arc::new(internet.clone()),
            app.network().bounds().own_names.clone(),
        ),
        // No host of a test has a certificate. Those of secrets are reached without TLS.
        verifier: HostVerifier::trusting(RootCertStore::empty()).unwrap(),
        dialler: Arc::new(internet),
        proxy: None,
        most_connections: 4096,
        connect_timeout: Duration::from_secs(5),
    }
}

impl RunningApp {
    /// Ends the turns and logs that, stops every sandbox and closes every connection.
    pub(crate) async fn end(self) {
        let is_app_ended = self.app.shut_down().await;
        self.sandboxes.stop_all().await;
        let is_served = self.connections.end(LONGEST_END).await;
        assert!(is_app_ended && is_served, "all tasks end in time");
    }
}
