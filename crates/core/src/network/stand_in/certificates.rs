//! Certificates for the hosts of secrets, which the programs of one sandbox trust.

use std::{collections::HashMap, fmt};

use jiff::Timestamp;
use zeroize::Zeroizing;

/// The certificates of one sandbox.
#[derive(Debug)]
pub struct IssuedCertificates {
    /// The certificate authority that programs trust, in DER. Its key no longer exists.
    pub authority: Vec<u8>,
    /// A certificate for each host.
    pub hosts: HashMap<String, HostCertificate>,
}

/// A certificate with its key, both in DER. `Debug` does not print the key.
pub struct HostCertificate {
    pub certificate: Vec<u8>,
    pub key: Zeroizing<Vec<u8>>,
}

/// The error for certificates that could not be issued.
#[derive(Debug, thiserror::Error)]
#[error("could not make certificates for the hosts of secrets: {0}")]
pub struct IssueError(pub String);

/// Issues certificates.
pub trait CertificateIssuer: Send + Sync + fmt::Debug {
    /// Issues an authority for exactly these hosts, and a certificate for each. They are valid at least from `from`
    /// until `until`.
    fn issue(
        &self,
        hosts: &[&str],
        from: Timestamp,
        until: Timestamp,
    ) -> Result<IssuedCertificates, IssueError>;
}

impl fmt::Debug for HostCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCertificate").finish_non_exhaustive()
    }
}
