//! The network of the sandbox. Programs connect as on any other computer, and the server decides about each connection.
//!
//! [`stack`] turns packets of the interface into streams, [`resolver`] answers DNS queries, and [`connector`] carries
//! the streams to the server. Without an interface, programs use a [`proxy`].

mod asking;
mod connector;
mod device;
mod dns;
mod flow;
mod names;
mod packet;
mod proxy;
mod resolver;
mod stack;

use std::{collections::BTreeMap, io, os::fd::OwnedFd, sync::Arc};

use deskhand_core::{
    network::{NetworkAnswer, NetworkFailure, NetworkRequest},
    secret::Secret,
    tasks::Tasks,
};
use deskhand_runner_protocol::{RunnerConfig, RunnerNetwork};
use tokio::sync::{Semaphore, mpsc};

use self::{
    asking::Asking,
    connector::{Connector, carry},
    resolver::Resolver,
    stack::{Event, RESOLVER, Stack},
};
use crate::link::Server;

/// The most concurrent DNS queries. Programs repeat those that are dropped.
const MOST_QUERIES: usize = 128;

/// Opens the network that the configuration asks for, before any other program runs.
///
/// Returns the environment variables for programs. An interface needs none.
pub(crate) fn open(
    config: &RunnerConfig,
    interface: Option<OwnedFd>,
    server: &Server,
    notice: &mpsc::Sender<String>,
    tasks: &Tasks,
) -> BTreeMap<String, Secret> {
    let n_connections = config.network_connections;
    let opened = match (config.network, interface) {
        (None, _) => return BTreeMap::new(),
        (Some(RunnerNetwork::Interface), Some(interface)) => {
            let network = Network::new(server.clone(), interface, n_connections);
            let started = on_thread(move || network.serve(), notice, tasks);
            started.map(|()| BTreeMap::new())
        }
        (Some(RunnerNetwork::Interface), None) => Err(io::Error::other("the interface is missing")),
        (Some(RunnerNetwork::Proxies), _) => proxy::open().and_then(|(listener, variables)| {
            let connector = Connector::new(server.clone());
            let serve = move || proxy::serve(listener, connector, n_connections);
            on_thread(serve, notice, tasks).map(|()| variables)
        }),
    };
    opened.unwrap_or_else(|error| {
        say(notice, &error);
        BTreeMap::new()
    })
}

/// Runs `serve` on a separate thread, so that traffic and the desktop do not slow each other down.
fn on_thread<F>(
    serve: impl FnOnce() -> F + Send + 'static,
    notice: &mpsc::Sender<String>,
    tasks: &Tasks,
) -> io::Result<()>
where
    F: Future<Output = io::Result<()>>,
{
    let shutdown = tasks.shutdown().clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let serving = async { shutdown.run_until_cancelled(serve()).await };
        runtime.block_on(serving).unwrap_or(Ok(()))
    };
    let notice = notice.clone();
    let thread = std::thread::Builder::new().name("network".to_owned());
    thread.spawn(move || {
        if let Err(error) = run() {
            say(&notice, &error);
        }
    })?;
    Ok(())
}

fn say(notice: &mpsc::Sender<String>, error: &io::Error) {
    let text = format!("Programs cannot reach other hosts: the network ended ({error}).");
    if notice.try_send(text).is_err() {
        tracing::warn!(%error, "the network of the sandbox ended");
    }
}

/// The network behind the interface.
#[derive(Clone)]
struct Network {
    interface: Arc<OwnedFd>,
    stack: Stack,
    connector: Connector,
    resolver: Resolver,
    queries: Arc<Semaphore>,
    tasks: Tasks,
}

impl Network {
    fn new(server: Server, interface: OwnedFd, n_connections: usize) -> Self {
        let interface = Arc::new(interface);
        let connector = Connector::new(server);
        Self {
            stack: Stack::new(Arc::clone(&interface), n_connections),
            interface,
            resolver: Resolver::new(connector.clone()),
            connector,
            queries: Arc::new(Semaphore::new(MOST_QUERIES)),
            tasks: Tasks::default(),
        }
    }

    async fn serve(self) -> io::Result<()> {
        let interface = Arc::clone(&self.interface);
        let stack = self.stack.clone();
        tokio::select! {
            ended = stack.serve(interface, |event| self.handle(event)) => ended,
            () = self.connector.tidy() => Ok(()),
        }
    }

    fn handle(&self, event: Event) {
        let network = self.clone();
        match event {
            Event::Query { port, message } => {
                let Ok(place) = Arc::clone(&self.queries).try_acquire_owned() else {
                    return;
                };
                self.tasks.spawn("name", async move {
                    if let Some(reply) = network.resolver.reply_to(&message).await {
                        network.stack.send_datagram(RESOLVER, port, &reply);
                    }
                    drop(place);
                });
            }
            Event::Connect(asking) if asking.target() == RESOLVER => {
                self.tasks.spawn("names", async move {
                    let (reader, writer) = asking.accept().into_split();
                    // The program sees the error itself.
                    let _ = network.resolver.serve(reader, writer).await;
                });
            }
            Event::Connect(asking) => {
                self.tasks.spawn("connection", async move {
                    network.connect(asking).await;
                });
            }
        }
    }

    /// Asks the server for a connection, and carries it if it is made.
    async fn connect(&self, asking: Asking) {
        let target = asking.target();
        if target.ip() == RESOLVER.ip() {
            asking.reset();
            return;
        }
        let Some(host) = self.resolver.host_at(*target.ip()) else {
            asking.unreachable();
            return;
        };
        let port = target.port();
        let request = NetworkRequest::Connect { host, port };
        match self.connector.ask(&request).await {
            Ok((NetworkAnswer::Connected, socket)) => {
                let (reader, writer) = asking.accept().into_split();
                if let Err(error) = carry(socket, reader, writer).await {
                    tracing::debug!(%error, "a connection of a program broke");
                }
            }
            Ok((answer, _)) if is_refusal(&answer) => asking.reset(),
            Ok(_) => asking.unreachable(),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "could not ask the server for a connection");
                asking.unreachable();
            }
        }
    }
}

/// Returns true for an answer that the program should see as a refused connection.
fn is_refusal(answer: &NetworkAnswer) -> bool {
    let failure = NetworkFailure::Refused;
    matches!(answer, NetworkAnswer::Refused { .. }) || *answer == NetworkAnswer::Failed { failure }
}
