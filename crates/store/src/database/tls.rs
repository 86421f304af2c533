//! Encrypted connections to PostgreSQL.
//!
//! `sslmode` means the same as for PostgreSQL's own programs: `prefer` and `require` encrypt without checking the
//! server's identity, `verify-full` also verifies it. The default is `prefer` for a server on this machine and
//! `verify-full` for any other, so passwords and conversations cross a network in plain text only if an administrator asks
//! for it.

use std::{net::IpAddr, path::PathBuf, sync::Arc};

use percent_encoding::percent_decode_str;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::SqlError;

/// The reason why a connection cannot be encrypted as requested.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("sslmode must be disable, prefer, require or verify-full, not {0:?}")]
    Mode(String),
    #[error("sslrootcert is only used with sslmode=verify-full: set that too")]
    RootWithoutVerifying,
    #[error("could not read the certificates in {}: {reason}", path.display())]
    Root { path: PathBuf, reason: String },
    #[error("this machine has no certificates to trust; name a file with sslrootcert=PATH")]
    NoRoots,
    #[error("could not set up TLS")]
    Rustls(#[from] rustls::Error),
}

/// Parses an address and its TLS options.
pub(super) fn read_address(
    url: &str,
) -> Result<(tokio_postgres::Config, MakeRustlsConnect), SqlError> {
    let (address, wish) = Wish::take_from(url);
    let mut config: tokio_postgres::Config = address.parse()?;
    let (mode, is_verified) = match wish.mode.as_deref() {
        Some("disable") => (SslMode::Disable, false),
        Some("prefer") => (SslMode::Prefer, false),
        None if is_on_this_machine(&config) => (SslMode::Prefer, false),
        None => {
            tracing::info!(
                "the database is on another machine, so its certificate is verified; set sslrootcert or sslmode in its \
                 address to change that"
            );
            (SslMode::Require, true)
        }
        Some("require") => (SslMode::Require, false),
        Some("verify-full") => (SslMode::Require, true),
        Some(other) => return Err(TlsError::Mode(other.to_owned()).into()),
    };
    config.ssl_mode(mode);
    let client = match (is_verified, wish.root) {
        (true, root) => client_that_trusts(root)?,
        (false, None) => client_that_trusts_anybody()?,
        (false, Some(_)) => return Err(TlsError::RootWithoutVerifying.into()),
    };
    Ok((config, MakeRustlsConnect::new(client)))
}

/// Returns true if no host of the address can be on another machine.
fn is_on_this_machine(config: &tokio_postgres::Config) -> bool {
    let is_local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|address: IpAddr| address.is_loopback())
        }
    };
    let addresses = config.get_hostaddrs();
    config.get_hosts().iter().all(is_local) && addresses.iter().all(IpAddr::is_loopback)
}

/// The TLS options of an address.
#[derive(Debug, Default)]
struct Wish {
    mode: Option<String>,
    root: Option<PathBuf>,
}

impl Wish {
    /// Returns the address without its TLS options, and the options.
    fn take_from(url: &str) -> (String, Self) {
        let Some((address, query)) = url.split_once('?') else {
            return (url.to_owned(), Self::default());
        };
        let mut wish = Self::default();
        let mut others = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => wish.mode = Some(value()),
                "sslrootcert" => wish.root = Some(value().into()),
                _ => others.push(pair),
            }
        }
        (format!("{address}?{}", others.join("&")), wish)
    }
}

/// Returns a client that trusts the certificates in `root`, or those that this machine trusts.
fn client_that_trusts(root: Option<PathBuf>) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = root {
        let unreadable = |reason: String| TlsError::Root {
            path: path.clone(),
            reason,
        };
        let certificates = CertificateDer::pem_file_iter(&path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unreadable(error.to_string()))?;
        if certificates.is_empty() {
            return Err(unreadable("the file contains no certificate".to_owned()));
        }
        for certificate in certificates {
            let added = roots.add(certificate);
            added.map_err(|error| unreadable(error.to_string()))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(TlsError::NoRoots);
        }
    }
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(client)
}

fn client_that_trusts_anybody() -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    Ok(client)
}

/// Accepts every certificate. The server must still have its private key.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_this_machine_may_be_unencrypted_by_default() {
        let mode = |address: &str| read_address(address).unwrap().0.get_ssl_mode();
        for address in [
            "postgres://u@localhost/d",
            "postgres://u@127.0.0.1:5433/d",
            "postgres://u@%2Fvar%2Frun%2Fpostgresql/d",
            "postgres://u@db.example/d?sslmode=prefer",
        ] {
            assert_eq!(mode(address), SslMode::Prefer, "{address}");
        }
        for address in [
            "postgres://u@db.example/d",
            "postgres://u@10.0.0.1/d",
            "postgres://u@localhost,db.example/d",
            "postgres://u@localhost/d?hostaddr=10.0.0.1",
            "postgres://u@localhost.evil.example/d",
        ] {
            assert_eq!(mode(address), SslMode::Require, "{address}");
        }
        // The certificate is verified as well, so a file of authorities is used.
        let error = read_address("postgres://u@db.example/d?sslrootcert=/nowhere.crt");
        let error = error.err().unwrap().to_string();
        assert!(error.contains("could not read the certificates"), "{error}");
    }
}
