//! Serves the connections of runners.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use deskhand_core::{
    id::SessionId,
    network::{
        ConnectionMaker, NetworkAnswer, NetworkConnection, NetworkFailure, NetworkHost,
        NetworkRequest,
        guard::{LookupMode, NetworkGuard, Passage},
        policy::BlockReason,
        rule::host_name,
    },
    sandbox::ByteStream,
};
use futures::{SinkExt, StreamExt, stream::FuturesUnordered};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    carry::{CutOff, Destination, carry, first_bytes},
    claim::{is_http, is_tls},
    dial::{Dialler, Outgoing},
    exchange::Visit,
    lookups::Lookups,
    proxy::UpstreamProxy,
    resolve::MOST_ADDRESSES,
    tls::HostVerifier,
};

/// The longest request.
const LONGEST_REQUEST_BYTES: usize = 1024;
/// The timeout for a runner to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The most addresses of one name that are dialled, and the delay before the next one.
const MOST_DIALLED: usize = 4;
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Makes the connections of sandboxes.
#[derive(Debug)]
pub struct Egress {
    pub guard: Arc<dyn NetworkGuard>,
    pub lookups: Lookups,
    pub dialler: Arc<dyn Dialler>,
    /// The proxy for addresses of the public internet, if the server needs one.
    pub proxy: Option<UpstreamProxy>,
    /// The most connections of all sandboxes, including those that wait for a person.
    pub most_connections: usize,
    /// Verifies the hosts to which values of secrets are sent.
    pub verifier: HostVerifier,
    /// The timeout for each address that is dialled.
    pub connect_timeout: Duration,
}

/// Serves connections until `shutdown` fires.
pub async fn serve(
    mut connections: mpsc::Receiver<NetworkConnection>,
    egress: Egress,
    shutdown: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(egress.most_connections));
    let egress = Arc::new(egress);
    let mut served = JoinSet::new();
    let looking = Arc::clone(&egress);
    served.spawn(async move { looking.lookups.keep_own().await });
    let mut is_full = false;
    loop {
        let connection = tokio::select! {
            () = shutdown.cancelled() => break,
            Some(connection) = connections.recv() => connection,
            Some(_) = served.join_next() => continue,
            else => {
                shutdown.cancelled().await;
                break;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // Programs could cause this at any rate, so it is logged once.
            if !is_full {
                tracing::warn!(
                    "closed a connection of a sandbox: the limit of the server is reached"
                );
            }
            is_full = true;
            continue;
        };
        is_full = false;
        let (egress, shutdown) = (Arc::clone(&egress), shutdown.clone());
        served.spawn(async move {
            let _place = place;
            let serving = egress.serve_one(connection);
            shutdown.run_until_cancelled(serving).await;
        });
    }
    served.shutdown().await;
}

impl Egress {
    async fn serve_one(&self, connection: NetworkConnection) {
        let NetworkConnection {
            session,
            mut stream,
            by,
        } = connection;
        let first = timeout(REQUEST_TIMEOUT, stream.incoming.next()).await;
        let Ok(Some(first)) = first else {
            return;
        };
        match read(&first) {
            Some(NetworkRequest::Resolve { name }) => {
                let answer = self.look_up(session, &name).await;
                send(&mut stream, &answer).await;
            }
            Some(NetworkRequest::Connect { host, port }) => {
                self.connect((session, by), stream, Destination { host, port })
                    .await;
            }
            None => {
                tracing::debug!(session.id = %session, "a runner sent a request that cannot be read");
                let answer = refused(BlockReason::Failed);
                send(&mut stream, &answer).await;
            }
        }
        // The stream is closed on drop.
    }

    async fn look_up(&self, session: SessionId, name: &str) -> NetworkAnswer {
        match self.guard.admit_lookup(session, name).await {
            Err(reason) => refused(reason),
            Ok(LookupMode::Assume) => NetworkAnswer::Found,
            Ok(LookupMode::Resolve) => match self.lookups.resolve(session, name).await {
                Ok(found) if found.is_empty() => NetworkAnswer::NotFound,
                Ok(_) => NetworkAnswer::Found,
                Err(failure) => NetworkAnswer::Failed { failure },
            },
        }
    }

    async fn connect(
        &self,
        (session, by): (SessionId, ConnectionMaker),
        mut stream: ByteStream,
        wanted: Destination,
    ) {
        // A program that hangs up while a person is asked is noticed only when the answer is sent. Reading its stream
        // here would consume its first bytes.
        let Destination { host, port } = &wanted;
        let admitted = self.guard.admit(session, by, host, *port).await;
        let passage = match admitted {
            Ok(passage) => passage,
            Err(reason) => {
                send(&mut stream, &refused(reason)).await;
                return;
            }
        };
        let made = passage
            .ended
            .run_until_cancelled(self.reach(session, &wanted, &passage))
            .await;
        match made {
            Some(Ok(host)) => {
                passage.meter.connected();
                if send(&mut stream, &NetworkAnswer::Connected).await {
                    self.join(stream, host, &wanted, passage).await;
                }
            }
            Some(Err(answer)) => {
                send(&mut stream, &answer).await;
            }
            None => {
                send(&mut stream, &refused(passage.meter.end_reason())).await;
            }
        }
    }

    /// Connects a program to its host. Requests to a host of secrets are proxied one by one.
    async fn join(
        &self,
        mut stream: ByteStream,
        host: Outgoing,
        wanted: &Destination,
        passage: Passage,
    ) {
        let access = passage.stand_ins.clone();
        let (Some(access), NetworkHost::Name(name)) = (access, &wanted.host) else {
            return carry((None, stream), host, wanted, &passage).await;
        };
        if !access.stand_ins.are_for(name, wanted.port) {
            return carry((None, stream), host, wanted, &passage).await;
        }
        let first = first_bytes(&mut stream.incoming, None, wanted, &passage);
        let first = match passage.ended.run_until_cancelled(first).await {
            Some(Ok(first)) => first,
            Some(Err(CutOff::Blocked(reason))) => return passage.meter.blocked(reason),
            Some(Err(CutOff::Gone)) | None => return,
        };
        let is_encrypted = is_tls(&first);
        let origin = access.stand_ins.origin_at(name, wanted.port, is_encrypted);
        match origin.filter(|_| is_encrypted || is_http(&first)).cloned() {
            Some(origin) => {
                let visit = Visit {
                    origin,
                    access,
                    passage,
                    verifier: self.verifier.clone(),
                    connect_timeout: self.connect_timeout,
                };
                visit.serve(first, stream, host).await;
            }
            // The program speaks another protocol than the origin does.
            None => carry((Some(first), stream), host, wanted, &passage).await,
        }
    }

    /// Resolves a destination, judges its addresses, and dials the first that is allowed and answers.
    async fn reach(
        &self,
        session: SessionId,
        wanted: &Destination,
        passage: &Passage,
    ) -> Result<Outgoing, NetworkAnswer> {
        let found = match &wanted.host {
            // Names with these addresses stay allowed: a reverse proxy may serve other sites there.
            NetworkHost::Address(address)
                if self.lookups.is_own(*address) && !passage.rules.is_vouched() =>
            {
                passage.meter.blocked(BlockReason::Own);
                return Err(refused(BlockReason::Own));
            }
            NetworkHost::Address(address) => vec![*address],
            NetworkHost::Name(name) => {
                let found = self.lookups.resolve(session, name).await;
                found.map_err(|failure| NetworkAnswer::Failed { failure })?
            }
        };
        if found.is_empty() {
            return Err(NetworkAnswer::NotFound);
        }
        let allowed = self.allowed(found, wanted.port, passage).await;
        let allowed = allowed.map_err(|reason| {
            passage.meter.blocked(reason);
            refused(reason)
        })?;
        let made = self.dial_first(allowed, wanted, passage).await;
        made.map_err(|failure| {
            passage.meter.failed();
            NetworkAnswer::Failed { failure }
        })
    }

    /// Dials addresses and returns the first connection. The next address is tried when one fails or is slow, so a
    /// broken address family costs little time (RFC 8305).
    async fn dial_first(
        &self,
        addresses: Vec<IpAddr>,
        wanted: &Destination,
        passage: &Passage,
    ) -> Result<Outgoing, NetworkFailure> {
        let mut failure = NetworkFailure::Unreachable;
        let mut untried = addresses.into_iter().take(MOST_DIALLED);
        let mut dialling = FuturesUnordered::new();
        loop {
            if let Some(address) = untried.next() {
                let address = SocketAddr::new(address, wanted.port);
                let dial = self.dial(wanted, address, passage);
                dialling.push(timeout(self.connect_timeout, dial));
            }
            let has_more = untried.len() > 0;
            tokio::select! {
                dialled = dialling.next() => match dialled {
                    None => return Err(failure),
                    Some(Ok(Ok(host))) => return Ok(host),
                    Some(Ok(Err(error))) => {
                        tracing::debug!(%error, "could not connect for a sandbox");
                        failure = kind(&error);
                    }
                    Some(Err(_late)) => failure = NetworkFailure::TimedOut,
                },
                () = sleep(NEXT_ADDRESS_AFTER), if has_more => {}
            }
        }
    }

    /// Returns the addresses that may be dialled, or the reason if there are none.
    async fn allowed(
        &self,
        found: Vec<IpAddr>,
        port: u16,
        passage: &Passage,
    ) -> Result<Vec<IpAddr>, BlockReason> {
        let mut allowed = Vec::new();
        let mut reason = BlockReason::Private;
        for address in found.into_iter().take(MOST_ADDRESSES) {
            match passage.rules.judge_address(address, port) {
                Err(blocked) => reason = blocked,
                // A range that an administrator opens may include this machine, but not the server on it.
                Ok(()) => {
                    let is_own = self.dialler.is_own(SocketAddr::new(address, port)).await;
                    let rules = &passage.rules;
                    let is_opened = (rules.is_internal(address, port) || rules.is_vouched())
                        && !rules.is_own_port(port);
                    if is_own && !is_opened {
                        reason = BlockReason::Own;
                    } else {
                        allowed.push(address);
                    }
                }
            }
        }
        if allowed.is_empty() {
            return Err(reason);
        }
        Ok(allowed)
    }

    /// Dials an address that was judged. Internal ones are never behind the proxy.
    async fn dial(
        &self,
        wanted: &Destination,
        address: SocketAddr,
        passage: &Passage,
    ) -> io::Result<Outgoing> {
        let is_internal = passage.rules.is_internal(address.ip(), address.port());
        match &self.proxy {
            Some(proxy) if !is_internal && proxy.is_for(&wanted.host, address.ip()) => {
                proxy.dial(&*self.dialler, address).await
            }
            Some(_) | None => self.dialler.dial(address).await,
        }
    }
}

/// Parses a request. Names must be normalized, since rules are compared with them.
fn read(message: &[u8]) -> Option<NetworkRequest> {
    if message.len() > LONGEST_REQUEST_BYTES {
        return None;
    }
    let request: NetworkRequest = serde_json::from_slice(message).ok()?;
    let is_name = |name: &String| host_name(name).as_ref() == Some(name);
    let is_good = match &request {
        NetworkRequest::Resolve { name } => is_name(name),
        NetworkRequest::Connect { host, port } => {
            let is_host = match host {
                NetworkHost::Name(name) => is_name(name),
                NetworkHost::Address(_) => true,
            };
            is_host && *port > 0
        }
    };
    is_good.then_some(request)
}

/// Sends an answer. Returns `false` if the runner is gone.
async fn send(stream: &mut ByteStream, answer: &NetworkAnswer) -> bool {
    let Ok(json) = serde_json::to_vec(answer) else {
        return false;
    };
    stream.outgoing.send(Bytes::from(json)).await.is_ok()
}

fn refused(reason: BlockReason) -> NetworkAnswer {
    NetworkAnswer::Refused {
        reason: reason.sentence().to_owned(),
    }
}

fn kind(error: &io::Error) -> NetworkFailure {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        NetworkFailure::Refused
    } else if error.kind() == io::ErrorKind::TimedOut {
        NetworkFailure::TimedOut
    } else {
        NetworkFailure::Unreachable
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
