//! TLS to the hosts of MCP servers.

use std::sync::Arc;

use deskhand_core::tool_server::{HttpWay, ToolServerError};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio_rustls::TlsConnector;

/// The only application protocol.
const PROTOCOL: &[u8] = b"http/1.1";

/// Verifies and encrypts the connections to one host.
#[derive(Clone)]
pub(crate) struct HostTls {
    pub(crate) connector: TlsConnector,
    pub(crate) name: ServerName<'static>,
}

impl HostTls {
    /// Returns `None` for a host that is reached without TLS.
    pub(crate) fn new(
        way: &HttpWay,
        roots: &RootCertStore,
    ) -> Result<Option<Self>, ToolServerError> {
        if !way.address.is_encrypted {
            return Ok(None);
        }
        let mut roots = roots.clone();
        if let Some(authority) = &way.authority {
            let added = roots.add(CertificateDer::from(authority.clone()));
            added.map_err(|error| unusable(&error))?;
        }
        let provider = Arc::new(ring::default_provider());
        let settings = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?;
        let mut settings = settings.with_root_certificates(roots).with_no_client_auth();
        settings.alpn_protocols = vec![PROTOCOL.to_vec()];
        let name = ServerName::try_from(way.address.host.to_string());
        Ok(Some(Self {
            connector: TlsConnector::from(Arc::new(settings)),
            name: name.map_err(|error| unusable(&error))?,
        }))
    }
}

fn unusable(error: &dyn std::error::Error) -> ToolServerError {
    ToolServerError::Unreachable(format!("TLS cannot be prepared: {error}"))
}

impl std::fmt::Debug for HostTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostTls")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
