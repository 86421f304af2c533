//! The model gateway's door in the sandbox: a port on the sandbox's own loopback whose connections are
//! carried to the server.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc, time::Duration};

use deskhand_core::{secret::Secret, tasks::Tasks};
use deskhand_runner_protocol::{GATEWAY_PATH, RunnerConfig};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::sleep,
};

use crate::link::{self, LinkError};

/// Connections at the same time. Further ones wait to be taken.
const MOST_CONNECTIONS: usize = 32;
/// Connections for which the server is being dialled. It takes only so many at a time.
const MOST_DIALLING: usize = 4;
/// How long to wait when there is no descriptor left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Opens the door, if there is to be one, before any other program could take its port. Gives what
/// programs are to find in their environment.
pub(crate) async fn open(
    config: &RunnerConfig,
    notice: &mpsc::Sender<String>,
    tasks: &Tasks,
) -> BTreeMap<String, Secret> {
    let Some(gateway) = &config.gateway else {
        return BTreeMap::new();
    };
    match TcpListener::bind((Ipv4Addr::LOCALHOST, gateway.port)).await {
        Ok(listener) => {
            let door = take_all(listener, Arc::new(config.clone()), tasks.clone());
            let shutdown = tasks.shutdown().clone();
            tasks.spawn("gateway", async move {
                shutdown.run_until_cancelled(door).await;
            });
            gateway.variables.clone()
        }
        Err(error) => {
            let port = gateway.port;
            let text =
                format!("Programs cannot ask models: port {port} cannot be opened ({error}).");
            if notice.try_send(text).is_err() {
                tracing::warn!(%error, "the model gateway's port cannot be opened");
            }
            BTreeMap::new()
        }
    }
}

async fn take_all(listener: TcpListener, config: Arc<RunnerConfig>, tasks: Tasks) {
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
                tracing::warn!(%error, "a connection to the model gateway was not taken");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (config, dialling) = (Arc::clone(&config), Arc::clone(&dialling));
        let shutdown = tasks.shutdown().clone();
        tasks.spawn("gateway connection", async move {
            let carried = carry(connection, &config, &dialling);
            if let Some(Err(error)) = shutdown.run_until_cancelled(carried).await {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "a connection to the model gateway broke");
            }
            drop(place);
        });
    }
}

/// Carries a connection until one side ends.
async fn carry(
    connection: TcpStream,
    config: &RunnerConfig,
    dialling: &Semaphore,
) -> Result<(), LinkError> {
    let socket = {
        let _turn = dialling.acquire().await;
        link::dial(config, GATEWAY_PATH).await?
    };
    // Pieces of an answer are small, and each is wanted at once. A failure only makes them later.
    let _ = connection.set_nodelay(true);
    let (reader, writer) = connection.into_split();
    Ok(link::copy(socket, reader, writer).await?)
}
