//! Stand-ins: placeholder texts that programs use instead of secrets for HTTP APIs.
//!
//! The egress service replaces them by the values, only in the named headers of requests to the named hosts, and
//! refuses a stand-in anywhere else. A stand-in is made for one sandbox and is worthless outside of it.

mod certificates;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

pub use self::certificates::{CertificateIssuer, HostCertificate, IssueError, IssuedCertificates};
use crate::{
    secret::Secret,
    vault::{HttpUse, Origin, SecretHeader, SecretName},
};

/// The text that every stand-in begins with.
const BEGINNING: &str = "dhs-";
/// The number of random bytes that all stand-ins of a sandbox share.
const MARK_BYTES: usize = 16;

/// The stand-ins of one sandbox.
#[derive(Debug)]
pub struct StandIns {
    mark: String,
    all: Vec<StandIn>,
    /// Absent if all origins are unencrypted.
    pub certificates: Option<IssuedCertificates>,
}

/// The stand-in of one secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    pub name: SecretName,
    /// The text that programs use.
    pub text: String,
    /// The origins to which the value may be sent.
    pub origins: Vec<Origin>,
    pub http: HttpUse,
}

/// The origin and header of a request in which a stand-in is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsePlace {
    pub origin: Origin,
    pub header: SecretHeader,
}

/// The stand-ins of a sandbox, with access to their values.
#[derive(Debug, Clone)]
pub struct StandInAccess {
    pub stand_ins: Arc<StandIns>,
    pub values: Arc<dyn SecretValues>,
}

/// Gives out the values of secrets for requests of one sandbox.
#[async_trait]
pub trait SecretValues: Send + Sync + std::fmt::Debug {
    /// Returns the value of a secret for a request. Waits for a person if one must be asked.
    async fn reveal(&self, name: &SecretName, place: &UsePlace) -> Result<Secret, UseRefusal>;

    /// Returns the values that were given out for this sandbox, each with its stand-in.
    fn revealed(&self) -> Vec<(String, Secret)>;
}

/// The reason for not giving out a value. The program that sent the request is shown the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UseRefusal {
    #[error("its owner was asked and said no")]
    Denied,
    #[error("its owner was asked and did not answer in time")]
    NotAnswered,
    #[error("the approval policy of this session refuses it")]
    Policy,
    #[error("its owner has to be asked, and can only be asked while the agent works")]
    NobodyToAsk,
    #[error("too many questions about secrets are open: wait until some are answered")]
    TooManyQuestions,
    #[error("it was removed, or is no longer for this site and header")]
    Gone,
    #[error(
        "the server cannot decrypt it: its owner has to store it again, or an administrator to repair the key"
    )]
    Locked,
    #[error("the server could not look it up: try again")]
    Failed,
}

impl StandIns {
    /// Creates stand-ins for secrets. `random` must be fresh.
    pub fn new(
        random: [u8; MARK_BYTES],
        secrets: impl IntoIterator<Item = (SecretName, Vec<Origin>, HttpUse)>,
    ) -> Self {
        let mark = random.map(|byte| format!("{byte:02x}")).concat();
        let stand_in = |(name, origins, http): (SecretName, Vec<Origin>, HttpUse)| StandIn {
            text: format!("{BEGINNING}{name}-{mark}"),
            name,
            origins,
            http,
        };
        let all = secrets.into_iter().map(stand_in).collect();
        Self {
            mark,
            all,
            certificates: None,
        }
    }

    /// Returns the text that is part of every stand-in, and of nothing else.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    pub fn all(&self) -> &[StandIn] {
        &self.all
    }

    /// Returns the names of all hosts to which values are sent over TLS.
    pub fn encrypted_hosts(&self) -> BTreeSet<&str> {
        let origins = self.all.iter().flat_map(|one| &one.origins);
        let encrypted = origins.filter(|origin| origin.is_encrypted());
        encrypted.map(Origin::host).collect()
    }

    /// Returns true if values may be sent to this port of a host.
    pub fn are_for(&self, host: &str, port: u16) -> bool {
        [true, false]
            .iter()
            .any(|is_encrypted| self.origin_at(host, port, *is_encrypted).is_some())
    }

    /// Returns the origin at this port of a host, if values may be sent to it.
    pub fn origin_at(&self, host: &str, port: u16, is_encrypted: bool) -> Option<&Origin> {
        let mut origins = self.all.iter().flat_map(|one| &one.origins);
        origins.find(|origin| {
            origin.host() == host && origin.port() == port && origin.is_encrypted() == is_encrypted
        })
    }

    /// Returns the stand-ins whose values may be sent to this origin in this header.
    pub fn allowed_in(&self, origin: &Origin, header: &str) -> impl Iterator<Item = &StandIn> {
        self.all.iter().filter(move |one| {
            let mut headers = one.http.headers.iter();
            one.origins.contains(origin) && headers.any(|named| named.as_str() == header)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(
        name: &str,
        origins: &[&str],
        headers: &[&str],
    ) -> (SecretName, Vec<Origin>, HttpUse) {
        let http = HttpUse {
            headers: headers.iter().map(|name| name.parse().unwrap()).collect(),
            env: "TOKEN".parse().unwrap(),
        };
        let origins = origins.iter().map(|text| text.parse().unwrap()).collect();
        (name.parse().unwrap(), origins, http)
    }

    #[test]
    fn stand_ins_share_a_mark_and_know_their_places() {
        let stand_ins = StandIns::new(
            [7; 16],
            [
                secret(
                    "git",
                    &["https://git.example", "http://plain.example:81"],
                    &["authorization"],
                ),
                secret(
                    "api",
                    &["https://api.example:8443", "https://git.example"],
                    &["x-key"],
                ),
            ],
        );
        let mark = "07".repeat(16);
        assert_eq!(stand_ins.mark(), mark);
        assert_eq!(stand_ins.all()[0].text, format!("dhs-git-{mark}"));
        let hosts: Vec<_> = stand_ins.encrypted_hosts().into_iter().collect();
        assert_eq!(hosts, ["api.example", "git.example"]);
        let origin = stand_ins.origin_at("plain.example", 81, false).unwrap();
        assert_eq!(origin.as_str(), "http://plain.example:81");
        assert_eq!(stand_ins.origin_at("plain.example", 81, true), None);
        assert!(stand_ins.are_for("api.example", 8443));
        assert!(!stand_ins.are_for("api.example", 443));

        let git = "https://git.example".parse().unwrap();
        let allowed = |header: &str| -> Vec<String> {
            let allowed = stand_ins.allowed_in(&git, header);
            allowed.map(|one| one.name.to_string()).collect()
        };
        assert_eq!(allowed("authorization"), ["git"]);
        assert_eq!(allowed("x-key"), ["api"]);
        assert!(allowed("x-other").is_empty());
    }
}
