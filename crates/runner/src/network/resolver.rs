//! The DNS resolver of the sandbox. It asks the server if a name exists, and answers with a synthetic address.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::network::{NetworkAnswer, NetworkHost, NetworkRequest};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{
    connector::Connector,
    dns::{DnsAnswer, Query, QueryKind},
    names::Names,
};

/// A name that browsers look up to learn if they may use DNS over HTTPS. They may not.
const CANARY: &str = "use-application-dns.net";
/// The sandbox's own name.
const OWN_NAME: &str = "desk";
/// The most queries over one TCP connection.
const MOST_QUESTIONS: usize = 1_000;

/// Answers questions about names. Clones share the names.
#[derive(Debug, Clone)]
pub(super) struct Resolver {
    connector: Connector,
    names: Arc<Mutex<Names>>,
}

impl Resolver {
    pub(super) fn new(connector: Connector) -> Self {
        Self {
            connector,
            names: Arc::default(),
        }
    }

    /// Returns the reply to a message, or `None` if it must not be answered.
    pub(super) async fn reply_to(&self, message: &[u8]) -> Option<Vec<u8>> {
        let query = Query::of(message)?;
        let answer = match &query.kind {
            QueryKind::Address(name) => self.look_up(name).await,
            QueryKind::Other(name) if name == CANARY => DnsAnswer::NoSuchName,
            // An empty answer is valid for every name, and needs no request to the server.
            QueryKind::Other(_) => DnsAnswer::Nothing,
            QueryKind::BadName => DnsAnswer::NoSuchName,
            QueryKind::Broken => DnsAnswer::Broken,
            QueryKind::Unknown => DnsAnswer::Unknown,
        };
        Some(query.reply(answer))
    }

    /// Answers the queries of a TCP connection, each of which is prefixed with its length.
    pub(super) async fn serve(
        &self,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) -> std::io::Result<()> {
        for _ in 0..MOST_QUESTIONS {
            let Ok(length) = reader.read_u16().await else {
                break;
            };
            let mut message = vec![0; usize::from(length)];
            reader.read_exact(&mut message).await?;
            let Some(reply) = self.reply_to(&message).await else {
                break;
            };
            let length = u16::try_from(reply.len()).map_err(std::io::Error::other)?;
            writer.write_all(&length.to_be_bytes()).await?;
            writer.write_all(&reply).await?;
        }
        writer.shutdown().await
    }

    /// Returns the host at an address as the server knows it, or `None` if the address no longer represents a name.
    pub(super) fn host_at(&self, address: Ipv4Addr) -> Option<NetworkHost> {
        if !Names::covers(address) {
            return Some(NetworkHost::Address(address.into()));
        }
        let name = self.names().name_of(address)?;
        Some(NetworkHost::Name(name.to_string()))
    }

    async fn look_up(&self, name: &str) -> DnsAnswer {
        if name == CANARY {
            return DnsAnswer::NoSuchName;
        }
        if name == OWN_NAME || name == "localhost" || name.ends_with(".localhost") {
            return DnsAnswer::Address(Ipv4Addr::LOCALHOST);
        }
        let request = NetworkRequest::Resolve {
            name: name.to_owned(),
        };
        match self.connector.ask(&request).await {
            Ok((NetworkAnswer::Found, _)) => DnsAnswer::Address(self.names().address_of(name)),
            // After any other error, programs would retry and report a temporary failure.
            Ok((NetworkAnswer::NotFound | NetworkAnswer::Refused { .. }, _)) => {
                DnsAnswer::NoSuchName
            }
            Ok((NetworkAnswer::Connected | NetworkAnswer::Failed { .. }, _)) => DnsAnswer::Failure,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "could not ask the server for a name");
                DnsAnswer::Failure
            }
        }
    }

    fn names(&self) -> std::sync::MutexGuard<'_, Names> {
        // No code under this lock panics.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
