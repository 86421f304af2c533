//! Encrypted connections to a server, whose certificate is always verified.

use std::{error::Error, io, sync::Arc};

use reqwest::Url;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Trusts the certificates that this machine trusts. `SSL_CERT_FILE` names others.
pub(super) fn settings() -> Result<ClientConfig, Box<dyn Error + Send + Sync>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "this machine has no certificates to trust; name a file in SSL_CERT_FILE".into(),
        );
    }
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(client)
}

/// Encrypts a connection to the host of an address.
pub(super) async fn encrypt(
    settings: &Arc<ClientConfig>,
    address: &Url,
    socket: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let name = address.host_str().unwrap_or_default();
    let name = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let name = ServerName::try_from(name).map_err(io::Error::other)?;
    let connector = TlsConnector::from(Arc::clone(settings));
    connector.connect(name, socket).await
}
