//! A whole server in this process: builds every part, wires them together and ends them in order.

mod jamie;
mod network;
mod watch_links;

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::Context;
use deskhand_agent::{OwnLoop, TurnLimits};
use deskhand_app::{App, FileLimits, NetworkSettings, RequireLimits};
use deskhand_core::{
    audit::Requester,
    clock::SystemClock,
    gateway::{Entrance, GatewayConnection, ModelGateway},
    network::NetworkEntrance,
    sandbox::Lifecycle,
    secret::Secret,
    tasks::Tasks,
};
use deskhand_egress::SandboxIssuer;
use deskhand_mcp_client::McpClients;
use deskhand_models::VendorGateway;
use deskhand_sandbox::providers::{self, ProviderSettings};
use deskhand_store::{DatabaseClaim, FolderBlobs, KeyFile, NewServer, Store, StoreError};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

use crate::{
    config::{Config, LimitsWanted},
    data_dir::{DataDir, DataDirLock, PostedNote, ServerNote},
    descriptors,
    listen::{bind, local_url, page_url},
    local_socket::{self, BoundSocket},
    models,
};

/// The timeout for ending a server. The kernel does the rest: it ends the sandboxes with their parent.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(4_500);

/// A server that handles requests until it is ended.
#[derive(Debug)]
pub(crate) struct RunningServer {
    /// The address at which people open the page.
    pub(crate) public_url: String,
    /// The address for programs on this machine.
    pub(crate) local_url: String,
    pub(crate) admin_token: Secret,
    app: App,
    sandboxes: Arc<dyn Lifecycle>,
    /// A separate set of tasks. It outlives the app's tasks, so that clients see how their turns ended before their
    /// connections close.
    connections: Tasks,
    serving: JoinHandle<io::Result<()>>,
    /// Returns an error if another server has claimed the database. It runs as long as the connections, so that the
    /// database is released only after the app has ended.
    claim: JoinHandle<Option<StoreError>>,
    // Dropped last and in this order: the note must not point to a server that has ended, and the
    // folder must stay locked while it is in use.
    note: PostedNote,
    socket: BoundSocket,
    lock: DataDirLock,
}

impl RunningServer {
    /// Locks the data folder, builds every part and starts to serve on `listen`.
    pub(crate) async fn start(config: &Config, listen: SocketAddr) -> anyhow::Result<Self> {
        let dir = DataDir::at(&config.data_dir);
        dir.create()?;
        let lock = dir.lock()?;
        dir.tighten_files()?;
        let n_descriptors = descriptors::raise();
        let tcp = bind(listen, config).await?;
        let address = tcp.local_addr()?;
        let public_url = config
            .public_url
            .clone()
            .unwrap_or_else(|| page_url(address));

        // The parts, from the sandboxes up to the app.
        let tasks = Tasks::default();
        let gateway = gateway(config)?;
        let (entrance, asked) = gateway.clone().map(Entrance::new).unzip();
        let (network, contacted) = NetworkEntrance::new();
        let doors = (entrance, Some(network.clone()));
        let sandboxes = sandboxes(config, doors, tasks.clone())?;
        sandboxes.sweep().await;
        let (store, claim) = open_store(config, &dir).await?;
        let require_limits = require_limits(config.sandbox.require_limits, address);
        let parts = (store.clone(), Arc::clone(&sandboxes), gateway, network);
        let bounds = network::bounds(config, address, &public_url);
        let network = network::settings(config, bounds, n_descriptors);
        let settings = (require_limits, network);
        let app = start_app(config, &dir, parts, settings, tasks.clone()).await?;
        let admin_token = ensure_admin(&app, &dir).await?;

        let settings = deskhand_server::Settings {
            activity: jamie::activity(config)?,
            streams: jamie::start(config, &app, store, &public_url, tasks).await?,
            ..http_settings(config, public_url.clone(), n_descriptors)
        };
        let (listeners, socket) = with_local_socket(tcp, &dir)?;
        // The tasks that serve.
        let connections = Tasks::default();
        let end = connections.shutdown().clone();
        let serving = deskhand_server::serve(listeners, app.clone(), settings, end);
        let serving = connections.spawn("serve", serving);
        let end = connections.shutdown().clone();
        let kept = claim.keep(Arc::new(SystemClock));
        let keeping = async move { end.run_until_cancelled(kept).await };
        let claim = connections.spawn("database claim", keeping);
        serve_gateway(asked, &app, &connections);
        network::serve(contacted, config, n_descriptors, &app, &connections)?;
        // Only now other commands can find the server.
        let note = ServerNote {
            url: local_url(address),
            pid: std::process::id(),
        };
        let posted = dir
            .post_note(&note)
            .context("cannot write server.json in the data folder")?;
        Ok(Self {
            public_url,
            local_url: note.url,
            admin_token,
            app,
            sandboxes,
            connections,
            serving,
            claim,
            note: posted,
            socket,
            lock,
        })
    }

    /// Returns a link that signs the admin in, once.
    pub(crate) async fn sign_in_link(&self) -> anyhow::Result<String> {
        let users = self.app.users();
        let admin = users.admin().await?.context("there is no administrator")?;
        let code = users.new_sign_in_code(Requester::SERVER, admin.id);
        let (code, _expires_at) = code.await?;
        Ok(format!("{}/#code={}", self.public_url, code.expose()))
    }

    /// Waits until the server fails, and returns the error.
    pub(crate) async fn failed(&mut self) -> anyhow::Error {
        tokio::select! {
            served = &mut self.serving => match served {
                Ok(Ok(())) => anyhow::anyhow!("the server stopped by itself"),
                Ok(Err(error)) => anyhow::Error::new(error).context("the server failed"),
                Err(error) => anyhow::Error::new(error).context("the server failed"),
            },
            lost = &mut self.claim => match lost {
                Ok(Some(lost)) => lost.into(),
                Ok(None) => anyhow::anyhow!("the server stopped by itself"),
                Err(error) => anyhow::Error::new(error).context("the server failed"),
            },
        }
    }

    /// Ends the turns and logs that, stops every sandbox and releases the data folder.
    pub(crate) async fn end(self) {
        let in_order = async {
            let is_app_ended = self.app.shut_down().await;
            self.sandboxes.stop_all().await;
            self.connections.end(SHUTDOWN_TIMEOUT).await && is_app_ended
        };
        let is_ended = tokio::time::timeout(SHUTDOWN_TIMEOUT, in_order).await;
        if !matches!(is_ended, Ok(true)) {
            tracing::warn!("some tasks did not end in time and were dropped");
        }
        drop(self.note);
        drop(self.socket);
        drop(self.lock);
    }
}

/// Sets up the models that programs in sandboxes may call, if they may call any.
fn gateway(config: &Config) -> anyhow::Result<Option<Arc<dyn ModelGateway>>> {
    if !config.has_gateway {
        return Ok(None);
    }
    Ok(Some(Arc::new(VendorGateway::new(&config.models)?)))
}

/// Serves the models that programs in sandboxes may call.
fn serve_gateway(asked: Option<mpsc::Receiver<GatewayConnection>>, app: &App, connections: &Tasks) {
    if let (Some(asked), Some(gateway)) = (asked, app.gateway()) {
        let end = connections.shutdown().clone();
        let serving = deskhand_server::serve_gateway(asked, gateway.clone(), end);
        connections.spawn("gateway", serving);
    }
}

/// Adds the socket for commands to the port.
fn with_local_socket(
    tcp: TcpListener,
    dir: &DataDir,
) -> anyhow::Result<(deskhand_server::Listeners, BoundSocket)> {
    let (local, socket) =
        local_socket::listen(dir.path()).context("cannot create server.sock in the data folder")?;
    let local = Some(local);
    Ok((deskhand_server::Listeners { tcp, local }, socket))
}

fn http_settings(
    config: &Config,
    public_url: String,
    n_descriptors: u64,
) -> deskhand_server::Settings {
    deskhand_server::Settings {
        public_url,
        allowed_hosts: config.port.allowed_hosts.clone(),
        apps_domain: config.apps.domain.clone(),
        requests_per_second: config.rate.requests_per_second,
        sign_ins_per_minute: config.rate.sign_ins_per_minute,
        wrong_tokens_per_minute: config.rate.wrong_tokens_per_minute,
        connections: descriptors::for_http(n_descriptors, config.port.connections),
        mcp_groups: config.port.mcp_groups.clone(),
        streams: None,
        activity: None,
    }
}

/// Returns the domain of services of sandboxes, if there is one.
pub(crate) fn apps_domain(config: &Config) -> Option<String> {
    let public_url = config.public_url.clone();
    let public_url = public_url.unwrap_or_else(|| page_url(config.listen));
    // The name does not depend on the limits of connections, so none is lowered.
    let n_descriptors = u64::MAX;
    deskhand_server::apps_domain(&http_settings(config, public_url, n_descriptors))
}

/// Builds the provider of sandboxes that the settings name.
pub(crate) fn sandboxes(
    config: &Config,
    (gateway, network): (Option<Entrance>, Option<NetworkEntrance>),
    tasks: Tasks,
) -> anyhow::Result<Arc<dyn Lifecycle>> {
    let sandbox = &config.sandbox;
    let runner = own_executable().context("cannot find this program's own file")?;
    let settings = ProviderSettings {
        settle_quiet: config.settle.quiet,
        settle_max: config.settle.max,
        shell_output_bytes: sandbox.shell_output_bytes,
        browser_scripts: sandbox.browser_scripts,
        limits: sandbox.limits,
        disk_quota: sandbox.disk_quota,
        reserve_bytes: sandbox.reserve_bytes,
        start_timeout: sandbox.start_timeout,
        bubblewrap: sandbox.bubblewrap.clone(),
        gateway,
        network,
        network_connections: config.network.connections,
        code_server: has_code(config).then(|| config.apps.code_server.clone()),
        ..ProviderSettings::new(config.data_dir.join("sandboxes"), runner)
    };
    let provider = providers::find(&sandbox.provider)?;
    Ok((provider.build)(settings, tasks))
}

/// Returns true if VS Code is installed.
pub(crate) fn has_code(config: &Config) -> bool {
    deskhand_sandbox::code_server::is_installed(&config.apps.code_server)
}

/// Returns the servers on which a sandbox must have limits, for one that listens on this address.
fn require_limits(wanted: LimitsWanted, listen: SocketAddr) -> RequireLimits {
    match wanted {
        LimitsWanted::Always => RequireLimits::Always,
        LimitsWanted::Never => RequireLimits::Never,
        LimitsWanted::Auto if listen.ip().is_loopback() => RequireLimits::WithSeveralUsers,
        LimitsWanted::Auto => RequireLimits::Always,
    }
}

/// Returns the path of this program.
///
/// If a newer build has replaced the file, the kernel reports it as deleted. Then the newer one at the same path is
/// used.
fn own_executable() -> io::Result<std::path::PathBuf> {
    let path = std::env::current_exe()?;
    let name = path.to_string_lossy();
    match name.strip_suffix(" (deleted)") {
        Some(replaced) if Path::new(replaced).exists() => Ok(replaced.into()),
        _ => Ok(path),
    }
}

/// Opens the database and claims it for this server.
async fn open_store(config: &Config, dir: &DataDir) -> anyhow::Result<(Store, DatabaseClaim)> {
    let store = match &config.database {
        Some(address) => Store::open(address.expose()).await?,
        None => {
            let file = dir.path().join("deskhand.db");
            Store::open(&format!("sqlite://{}", file.display())).await?
        }
    };
    let server = NewServer {
        host: host_name(),
        pid: std::process::id(),
        data_dir: config.data_dir.clone(),
    };
    let claim = store.claim(&server, &SystemClock).await?;
    Ok((store, claim))
}

/// Returns the name of this machine, for people.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "a machine without a name".to_owned(),
        name => name.to_owned(),
    }
}

/// The parts below the app: the database, the sandboxes, the model gateway and the way to hosts.
type AppDoors = (
    Store,
    Arc<dyn Lifecycle>,
    Option<Arc<dyn ModelGateway>>,
    NetworkEntrance,
);

async fn start_app(
    config: &Config,
    dir: &DataDir,
    (store, sandboxes, gateway, entrance): AppDoors,
    (require_limits, network): (RequireLimits, NetworkSettings),
    tasks: Tasks,
) -> anyhow::Result<App> {
    let blobs = FolderBlobs::open(dir.path().join("blobs"))
        .context("cannot open the folder of pictures")?;
    let app = App::start(deskhand_app::Parts {
        store,
        key: KeyFile::at(&config.key_file),
        blobs: Arc::new(blobs),
        models: Arc::new(models::configured(config)?),
        harness: Arc::new(OwnLoop),
        gateway,
        sandboxes,
        certificates: Arc::new(SandboxIssuer),
        tool_servers: Arc::new(McpClients::of_machine(tasks.clone())),
        network: entrance,
        clock: Arc::new(SystemClock),
        tasks,
        settings: deskhand_app::Settings {
            screen: config.screen,
            viewport: config.viewport,
            turn: TurnLimits {
                max_steps: config.turn.max_steps,
                max_duration: config.turn.max_duration,
                longest_answer: config.turn.longest_answer,
                kept_images: config.turn.kept_images,
                pruned_images: config.turn.pruned_images,
            },
            limits: config.limits,
            session_budget: config.session_budget,
            fallback_model: config.fallback_model.clone(),
            effort: config.effort,
            prompt: config.prompt.clone(),
            keep_ended: config.keep_ended,
            queue_length: config.turn.queue_length,
            require_limits,
            network,
            files: FileLimits::up_to(config.sandbox.limits.file_size_bytes),
            has_code: has_code(config),
            browser_scripts: config.sandbox.browser_scripts,
            mcp_servers: config.mcp_servers.clone(),
        },
    });
    app.await.context("cannot resume earlier sessions")
}

/// Returns the admin's token. The first start creates it and stores it in the data folder.
async fn ensure_admin(app: &App, dir: &DataDir) -> anyhow::Result<Secret> {
    let kept = dir
        .admin_token()
        .context("cannot read admin-token in the data folder")?;
    let made = app.users().ensure_admin(kept.as_ref()).await?;
    match (made, kept) {
        (Some(token), _) => {
            dir.keep_admin_token(&token)
                .context("cannot write admin-token in the data folder")?;
            Ok(token)
        }
        (None, Some(token)) => Ok(token),
        (None, None) => anyhow::bail!("could not create the token of the administrator"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_others_can_reach_requires_limits() {
        let wanted = |wanted, listen: &str| require_limits(wanted, listen.parse().unwrap());
        let several = RequireLimits::WithSeveralUsers;
        assert_eq!(wanted(LimitsWanted::Auto, "127.0.0.1:80"), several);
        assert_eq!(wanted(LimitsWanted::Auto, "[::1]:80"), several);
        assert_eq!(
            wanted(LimitsWanted::Auto, "0.0.0.0:80"),
            RequireLimits::Always
        );
        assert_eq!(
            wanted(LimitsWanted::Never, "0.0.0.0:80"),
            RequireLimits::Never
        );
        assert_eq!(
            wanted(LimitsWanted::Always, "127.0.0.1:80"),
            RequireLimits::Always
        );
    }
}
