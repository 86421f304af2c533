//! TLS on both sides: the server poses as the host to a program, and verifies the real host.

use std::{
    io,
    sync::{Arc, OnceLock},
};

use deskhand_core::network::stand_in::IssuedCertificates;
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
    server::NoServerSessionStorage,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::dial::Outgoing;

/// The only application protocol.
const PROTOCOL: &[u8] = b"http/1.1";

/// Verifies the hosts to which values of secrets are sent.
#[derive(Debug, Clone)]
pub struct HostVerifier {
    /// Unset until the machine's authorities are needed, because reading them takes a moment.
    settings: Arc<OnceLock<Arc<ClientConfig>>>,
}

/// The reason why a host could not be verified.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error("its name cannot be verified")]
    Name,
    #[error("{0}")]
    Handshake(io::Error),
    #[error("it did not answer in time")]
    Late,
    #[error("the server cannot prepare TLS: {0}")]
    Settings(rustls::Error),
}

impl HostVerifier {
    /// Trusts the authorities that this machine trusts, or those in `SSL_CERT_FILE`.
    pub fn of_machine() -> Self {
        Self {
            settings: Arc::default(),
        }
    }

    /// Trusts these authorities only.
    pub fn trusting(roots: RootCertStore) -> Result<Self, rustls::Error> {
        let settings = Arc::new(settings(roots)?);
        Ok(Self {
            settings: Arc::new(OnceLock::from(settings)),
        })
    }

    fn settings(&self) -> Result<&Arc<ClientConfig>, rustls::Error> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            tracing::warn!(
                "this machine has no certificates to trust, so secrets cannot be sent over https; name a file in \
                 SSL_CERT_FILE"
            );
        }
        let settings = Arc::new(settings(roots)?);
        Ok(self.settings.get_or_init(|| settings))
    }

    /// Encrypts a connection, if the host at its other end has a certificate for this name.
    pub(crate) async fn connect(
        &self,
        name: &str,
        connection: Outgoing,
    ) -> Result<Outgoing, VerifyError> {
        // The error of the conversion adds nothing.
        let name = ServerName::try_from(name.to_owned()).map_err(|_name| VerifyError::Name)?;
        let connector =
            TlsConnector::from(Arc::clone(self.settings().map_err(VerifyError::Settings)?));
        let connected = connector.connect(name, connection).await;
        Ok(Box::new(connected.map_err(VerifyError::Handshake)?))
    }
}

fn settings(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let mut settings = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    settings.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(settings)
}

/// Returns an acceptor that poses as this host, if there is a certificate for it.
pub(crate) fn acceptor(certificates: &IssuedCertificates, name: &str) -> Option<TlsAcceptor> {
    let host = certificates.hosts.get(name)?;
    let certificate = CertificateDer::from(host.certificate.clone());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(host.key.to_vec()));
    let settings = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key)
        });
    let mut settings = settings
        .inspect_err(|error| tracing::error!(%error, "a certificate of a sandbox cannot be used"))
        .ok()?;
    settings.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Every connection has its own configuration, so sessions cannot be resumed.
    settings.session_storage = Arc::new(NoServerSessionStorage {});
    settings.send_tls13_tickets = 0;
    Some(TlsAcceptor::from(Arc::new(settings)))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
