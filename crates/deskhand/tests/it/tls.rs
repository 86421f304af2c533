//! TLS for hosts of tests, with an authority of their own.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    clock::{Clock, SystemClock},
    network::stand_in::CertificateIssuer,
};
use deskhand_egress::SandboxIssuer;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio_rustls::TlsAcceptor;

/// The TLS of one host.
pub(crate) struct HostTls {
    pub(crate) acceptor: TlsAcceptor,
    /// The certificate of its authority, in PEM.
    pub(crate) authority: String,
}

impl HostTls {
    /// Makes the certificate of a host for an hour.
    pub(crate) fn of(name: &str) -> Self {
        let now = SystemClock.now();
        let until = now + std::time::Duration::from_hours(1);
        let issued = SandboxIssuer.issue(&[name], now, until).unwrap();
        let own = &issued.hosts[name];
        let certificate = CertificateDer::from(own.certificate.clone());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.key.to_vec()));
        let settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Self {
            acceptor: TlsAcceptor::from(Arc::new(settings)),
            authority: pem(&issued.authority),
        }
    }
}

fn pem(der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let lines: Vec<_> = encoded
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        lines.join("\n")
    )
}
