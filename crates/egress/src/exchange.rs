//! Proxies the HTTP requests of programs to the hosts of secrets.
//!
//! The server terminates the program's connection and makes its own to the host. It fills the values of secrets into
//! the named headers of each request, refuses a request with a stand-in anywhere else, and masks values in responses.

mod bodies;
mod fill;
mod handler;
mod upgraded;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    network::{
        guard::Passage,
        policy::BlockReason,
        stand_in::{StandInAccess, UseRefusal},
    },
    sandbox::ByteStream,
    secret::Secret,
    vault::{Origin, SecretName},
};
use hyper::{client::conn::http1 as client, server::conn::http1 as server, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use self::handler::Handler;
use crate::{
    dial::Outgoing,
    mask::ValueMask,
    program::ProgramIo,
    tls::{self, HostVerifier, VerifyError},
    watch::StandInWatch,
};

/// The timeout for the TLS handshake of a program.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest head of a request or a response.
const LONGEST_HEAD_BYTES: usize = 256 * 1024;

/// A connection of a program to a host of secrets.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) origin: Origin,
    pub(crate) access: StandInAccess,
    pub(crate) passage: Passage,
    pub(crate) verifier: HostVerifier,
    /// The timeout for the handshake with the host.
    pub(crate) connect_timeout: Duration,
}

/// The reason for refusing a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("it is not for {0}, the site that this connection was made to")]
    OtherSite(Origin),
    #[error(
        "it has the stand-in of a secret in a place that the secret is not for; send a stand-in only in its headers, and \
         only to its sites"
    )]
    StandIn,
    #[error("the secret {name} was not used: {reason}")]
    Use {
        name: SecretName,
        reason: UseRefusal,
    },
}

impl Refused {
    fn reason(&self) -> BlockReason {
        match self {
            Self::OtherSite(_) => BlockReason::OtherName,
            Self::StandIn => BlockReason::StandIn,
            Self::Use { .. } => BlockReason::SecretUse,
        }
    }
}

impl Visit {
    /// Serves requests until the connection ends. `first` holds the bytes that were already read from the program.
    pub(crate) async fn serve(self, first: Bytes, program: ByteStream, host: Outgoing) {
        let ended = self.passage.ended.clone();
        // The future is boxed because it holds the state of both connections.
        let serving = Box::pin(self.serve_all(first, program, host));
        ended.run_until_cancelled(serving).await;
    }

    async fn serve_all(self, first: Bytes, program: ByteStream, host: Outgoing) {
        let Ok(program) = ProgramIo::new(first, program, &self.passage) else {
            return;
        };
        if !self.origin.is_encrypted() {
            return requests(program, Ok(host), Arc::new(self)).await;
        }
        let certificates = self.access.stand_ins.certificates.as_ref();
        let acceptor = certificates.and_then(|all| tls::acceptor(all, self.origin.host()));
        let Some(acceptor) = acceptor else {
            tracing::error!(
                host = self.origin.host(),
                "a host of secrets has no certificate"
            );
            return;
        };
        let accepting = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(program));
        let verifying = self.verifier.connect(self.origin.host(), host);
        let verifying = timeout(self.connect_timeout, verifying);
        let (accepted, verified) = tokio::join!(accepting, verifying);
        let Ok(Ok(program)) = accepted else {
            // It does not trust the certificate, or does not speak HTTP/1.
            tracing::debug!(
                host = self.origin.host(),
                "a program ended the handshake for a host of secrets"
            );
            return;
        };
        let verified = verified.unwrap_or(Err(VerifyError::Late));
        requests(program, verified, Arc::new(self)).await;
    }

    fn watch(&self) -> StandInWatch {
        StandInWatch::new(self.access.stand_ins.mark())
    }

    /// Returns the mask for responses: all values that this sandbox has used so far.
    fn mask(&self) -> ValueMask {
        ValueMask::new(&self.access.values.revealed())
    }

    /// Reports a refused request to people and to the log, without its content.
    fn report(&self, refused: &Refused) {
        tracing::info!(
            host = self.origin.host(),
            reason = refused.reason().name(),
            "refused a request of a sandbox"
        );
        self.passage.meter.blocked(refused.reason());
    }

    async fn reveal(
        &self,
        name: &SecretName,
        header: &deskhand_core::vault::SecretHeader,
    ) -> Result<Secret, Refused> {
        let place = deskhand_core::network::stand_in::UsePlace {
            origin: self.origin.clone(),
            header: header.clone(),
        };
        let revealed = self.access.values.reveal(name, &place).await;
        revealed.map_err(|reason| Refused::Use {
            name: name.clone(),
            reason,
        })
    }
}

/// Passes requests from the program to the host, one after the other.
async fn requests<P>(program: P, host: Result<Outgoing, VerifyError>, visit: Arc<Visit>)
where
    P: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let made = match host {
        Ok(host) => client::Builder::new()
            .max_buf_size(LONGEST_HEAD_BYTES)
            .preserve_header_case(true)
            .handshake(TokioIo::new(host))
            .await
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let (sender, to_host) = match made {
        Ok((sender, to_host)) => (Ok(sender), Some(to_host)),
        Err(problem) => (Err(problem), None),
    };
    let handler = Arc::new(Handler::new(Arc::clone(&visit), sender));
    let service = service_fn(|request| {
        let handler = Arc::clone(&handler);
        async move { handler.answer(request).await }
    });
    let from_program = server::Builder::new()
        .max_buf_size(LONGEST_HEAD_BYTES)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(program), service)
        .with_upgrades();
    let to_host = async move {
        match to_host {
            Some(to_host) => to_host.with_upgrades().await,
            None => std::future::pending().await,
        }
    };
    let (mut from_program, mut to_host) = (std::pin::pin!(from_program), std::pin::pin!(to_host));
    let mut is_host_gone = false;
    let served = loop {
        tokio::select! {
            served = &mut from_program => break served,
            _ended = &mut to_host, if !is_host_gone => {
                is_host_gone = true;
                // The current response is still completed. An upgraded connection is handled below.
                if !handler.is_upgraded() {
                    from_program.as_mut().graceful_shutdown();
                }
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, host = visit.origin.host(), "a connection to a host of secrets ended early");
        return;
    }
    if let Some(pair) = handler.take_upgrade() {
        // The client connection must be polled to completion before it hands over the upgraded stream.
        let finishing = async {
            if !is_host_gone {
                let _ended = to_host.await;
            }
        };
        let ((), upgraded) = tokio::join!(finishing, pair.ready());
        if let Some((program, host)) = upgraded {
            upgraded::carry(program, host, &visit).await;
        }
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
