//! The network of a world: hosts of the test under public addresses, and runners that connect to them.

use std::{
    collections::{HashMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    id::SessionId,
    network::{
        ConnectionMaker, NetworkAnswer, NetworkConnection, NetworkEntrance, NetworkHost,
        NetworkRequest,
    },
    sandbox::ByteStream,
};
use deskhand_egress::{Dialler, NameResolver, Outgoing};
use futures::{SinkExt, StreamExt, channel::mpsc};
use tokio::net::TcpStream;

/// The hosts on a server's network. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct FakeInternet(Arc<Mutex<Hosts>>);

#[derive(Debug, Default)]
struct Hosts {
    /// The answers for each name, in order. The last one is repeated.
    names: HashMap<String, VecDeque<Vec<IpAddr>>>,
    listeners: HashMap<SocketAddr, SocketAddr>,
    looked_up: Vec<String>,
    dialled: Vec<SocketAddr>,
}

impl FakeInternet {
    /// Gives a name these addresses.
    pub fn name(&self, name: &str, addresses: &[&str]) {
        self.name_in_turn(name, &[addresses]);
    }

    /// Gives a name different addresses each time it is resolved. The last ones are repeated.
    pub fn name_in_turn(&self, name: &str, answers: &[&[&str]]) {
        let parse = |answer: &&[&str]| {
            let addresses = answer.iter();
            addresses.map(|address| address.parse().unwrap()).collect()
        };
        let answers = answers.iter().map(parse).collect();
        self.hosts().names.insert(name.to_owned(), answers);
    }

    /// Connects a public address to a listener of the test.
    pub fn host(&self, address: &str, listener: SocketAddr) {
        let address = address.parse().unwrap();
        self.hosts().listeners.insert(address, listener);
    }

    /// Returns the names that the server has resolved.
    pub fn looked_up(&self) -> Vec<String> {
        self.hosts().looked_up.clone()
    }

    /// Returns the addresses that the server has dialled.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        self.hosts().dialled.clone()
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl NameResolver for FakeInternet {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut hosts = self.hosts();
        hosts.looked_up.push(name.to_owned());
        let Some(answers) = hosts.names.get_mut(name) else {
            return Ok(Vec::new());
        };
        let answer = if answers.len() > 1 {
            answers.pop_front()
        } else {
            answers.front().cloned()
        };
        Ok(answer.unwrap_or_default())
    }
}

#[async_trait]
impl Dialler for FakeInternet {
    async fn dial(&self, address: SocketAddr) -> io::Result<Outgoing> {
        let listener = {
            let mut hosts = self.hosts();
            hosts.dialled.push(address);
            hosts.listeners.get(&address).copied()
        };
        let listener = listener.ok_or(io::ErrorKind::ConnectionRefused)?;
        Ok(Box::new(TcpStream::connect(listener).await?))
    }

    async fn is_own(&self, _address: SocketAddr) -> bool {
        false
    }
}

/// A connection of a runner, on behalf of a program in its sandbox. It is closed on drop.
#[derive(Debug)]
pub struct SandboxLine {
    to_server: mpsc::UnboundedSender<Bytes>,
    from_server: mpsc::UnboundedReceiver<Bytes>,
}

impl SandboxLine {
    pub(crate) fn open(entrance: &NetworkEntrance, session: SessionId) -> Self {
        let (to_server, incoming) = mpsc::unbounded();
        let (outgoing, from_server) = mpsc::unbounded();
        let stream = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let is_taken = entrance.bring(NetworkConnection {
            session,
            stream,
            by: ConnectionMaker::Session,
        });
        assert!(is_taken, "the server takes connections");
        Self {
            to_server,
            from_server,
        }
    }

    /// Sends a request without waiting for its answer.
    pub fn request(&self, request: &NetworkRequest) {
        self.send(&serde_json::to_vec(request).unwrap());
    }

    /// Returns the answer to the request.
    pub async fn answer(&mut self) -> NetworkAnswer {
        let message = self.from_server.next().await.expect("an answer");
        serde_json::from_slice(&message).unwrap()
    }

    /// Asks for a connection to a name or an address.
    pub async fn connect(&mut self, host: &str, port: u16) -> NetworkAnswer {
        self.request(&connect(host, port));
        self.answer().await
    }

    /// Sends bytes of the program. An empty piece closes its direction.
    pub fn send(&self, bytes: &[u8]) {
        // A server that has refused the connection may have hung up.
        let _ = self.to_server.unbounded_send(Bytes::copy_from_slice(bytes));
    }

    /// Returns the next bytes for the program. They are empty if the host has closed its direction, and `None` at the end.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.from_server.next().await
    }
}

/// Returns the request for a connection to a name or an address.
pub fn connect(host: &str, port: u16) -> NetworkRequest {
    let host = match host.parse() {
        Ok(address) => NetworkHost::Address(address),
        Err(_) => NetworkHost::Name(host.to_owned()),
    };
    NetworkRequest::Connect { host, port }
}
