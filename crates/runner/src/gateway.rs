//! The port of the model gateway inside the sandbox. It listens on the sandbox's own loopback and forwards each
//! connection to the server.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc, time::Duration};

use deskhand_core::{secret::Secret, tasks::Tasks};
use deskhand_runner_protocol::{GATEWAY_PATH, RunnerConfig};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::sleep,
};

use crate::link::{self, LinkError, Server};

/// The most connections at the same time. Further ones wait to be accepted.
const MOST_CONNECTIONS: usize = 32;
/// The most connections for which the server is dialled at the same time.
const MOST_DIALLING: usize = 4;
/// The pause after `accept` failed, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Opens the port if the configuration has one, before any other program can take it.
///
/// Returns the environment variables for programs.
pub(crate) async fn open(
    config: &RunnerConfig,
    server: &Server,
    notice: &mpsc::Sender<String>,
    tasks: &Tasks,
) -> BTreeMap<String, Secret> {
    let Some(gateway) = &config.gateway else {
        return BTreeMap::new();
    };
    match TcpListener::bind((Ipv4Addr::LOCALHOST, gateway.port)).await {
        Ok(listener) => {
            let door = take_all(listener, server.clone(), tasks.clone());
            let shutdown = tasks.shutdown().clone();
            tasks.spawn("gateway", async move {
                shutdown.run_until_cancelled(door).await;
            });
            gateway.variables.clone()
        }
        Err(error) => {
            let port = gateway.port;
            let text =
                format!("Programs cannot call models: port {port} cannot be opened ({error}).");
            if notice.try_send(text).is_err() {
                tracing::warn!(%error, "could not open the port of the model gateway");
            }
            BTreeMap::new()
        }
    }
}

async fn take_all(listener: TcpListener, server: Server, tasks: Tasks) {
    let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let dialling = Arc::new(Semaphore::new(MOST_DIALLING));
    loop {
        // The semaphores are never closed.
        let Ok(place) = Arc::clone(&free).acquire_owned().await else {
            return;
        };
        let connection = match listener.accept().await {
            Ok((connection, _)) => connection,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection to the model gateway");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (server, dialling) = (server.clone(), Arc::clone(&dialling));
        let shutdown = tasks.shutdown().clone();
        tasks.spawn("gateway connection", async move {
            let carried = carry(connection, &server, &dialling);
            if let Some(Err(error)) = shutdown.run_until_cancelled(carried).await {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "a connection to the model gateway broke");
            }
            drop(place);
        });
    }
}

/// Forwards a connection to the server until one side closes it.
async fn carry(
    connection: TcpStream,
    server: &Server,
    dialling: &Semaphore,
) -> Result<(), LinkError> {
    let socket = {
        let _turn = dialling.acquire().await;
        server.dial(GATEWAY_PATH).await?
    };
    // The parts of a model's reply are small and wanted at once. If this fails, they only arrive later.
    let _ = connection.set_nodelay(true);
    let (reader, writer) = connection.into_split();
    Ok(link::copy(socket, reader, writer).await?)
}
