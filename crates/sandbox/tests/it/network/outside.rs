//! Plays the server's half of the network: a few names, each with a port of this machine's loopback behind it.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use deskhand_core::{
    network::{
        NetworkAnswer, NetworkConnection, NetworkEntrance, NetworkFailure, NetworkHost,
        NetworkRequest,
    },
    sandbox::ByteStream,
    tasks::Tasks,
};
use futures::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};

/// The world outside, as the sandbox may see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outside {
    routes: Arc<HashMap<(NetworkHost, u16), Route>>,
    asked: Arc<Mutex<Vec<NetworkRequest>>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Route {
    To(SocketAddr),
    Refused,
    Failed(NetworkFailure),
}

impl Outside {
    /// Serves these routes until the tasks end.
    pub(crate) fn open(
        routes: HashMap<(NetworkHost, u16), Route>,
        tasks: &Tasks,
    ) -> (Self, NetworkEntrance) {
        let (entrance, taken) = NetworkEntrance::new();
        let outside = Self {
            routes: Arc::new(routes),
            asked: Arc::default(),
        };
        tasks.spawn("outside", outside.clone().serve(taken, tasks.clone()));
        (outside, entrance)
    }

    /// Returns all requests so far.
    pub(crate) fn asked(&self) -> Vec<NetworkRequest> {
        self.asked.lock().unwrap().clone()
    }

    async fn serve(self, mut taken: mpsc::Receiver<NetworkConnection>, tasks: Tasks) {
        let end = tasks.shutdown().clone();
        while let Some(Some(connection)) = end.run_until_cancelled(taken.recv()).await {
            let (outside, end) = (self.clone(), end.clone());
            tasks.spawn("outside connection", async move {
                end.run_until_cancelled(outside.answer(connection.stream))
                    .await;
            });
        }
    }

    async fn answer(self, mut stream: ByteStream) {
        let Some(first) = stream.incoming.next().await else {
            return;
        };
        let request: NetworkRequest = serde_json::from_slice(&first).unwrap();
        self.asked.lock().unwrap().push(request.clone());
        let (answer, made) = match request {
            NetworkRequest::Resolve { name } => (self.resolve(&name), None),
            NetworkRequest::Connect { host, port } => self.connect(host, port).await,
        };
        let answer = serde_json::to_vec(&answer).unwrap();
        if stream.outgoing.send(answer.into()).await.is_ok()
            && let Some(made) = made
        {
            carry(stream, made).await;
        }
    }

    fn resolve(&self, name: &str) -> NetworkAnswer {
        let host = NetworkHost::Name(name.to_owned());
        if name == "forbidden.test" {
            let reason = "not on the list".to_owned();
            return NetworkAnswer::Refused { reason };
        }
        if self.routes.keys().any(|(known, _)| *known == host) {
            NetworkAnswer::Found
        } else {
            NetworkAnswer::NotFound
        }
    }

    async fn connect(&self, host: NetworkHost, port: u16) -> (NetworkAnswer, Option<TcpStream>) {
        let failed = |failure| (NetworkAnswer::Failed { failure }, None);
        match self.routes.get(&(host, port)) {
            Some(Route::To(address)) => match TcpStream::connect(address).await {
                Ok(made) => (NetworkAnswer::Connected, Some(made)),
                Err(_) => failed(NetworkFailure::Refused),
            },
            Some(Route::Failed(failure)) => failed(*failure),
            Some(Route::Refused) | None => {
                let reason = "not on the list".to_owned();
                (NetworkAnswer::Refused { reason }, None)
            }
        }
    }
}

/// Carries bytes until both directions have ended. An empty piece ends one.
async fn carry(stream: ByteStream, made: TcpStream) {
    let ByteStream {
        mut incoming,
        mut outgoing,
    } = stream;
    made.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = made.into_split();
    let outward = async {
        while let Some(piece) = incoming.next().await {
            let done = if piece.is_empty() {
                writer.shutdown().await
            } else {
                writer.write_all(&piece).await
            };
            if done.is_err() {
                return;
            }
        }
    };
    let inward = async {
        loop {
            let mut piece = bytes::BytesMut::with_capacity(64 * 1024);
            match reader.read_buf(&mut piece).await {
                Ok(0) => {
                    return outgoing.send(Bytes::new()).await.is_ok();
                }
                Ok(_) if outgoing.send(piece.freeze()).await.is_ok() => {}
                Ok(_) | Err(_) => return false,
            }
        }
    };
    let mut outward = std::pin::pin!(outward);
    let is_in_order = tokio::select! {
        // The program has closed its connection, or it broke.
        () = &mut outward => return,
        is_in_order = inward => is_in_order,
    };
    if is_in_order {
        outward.await;
    }
}
