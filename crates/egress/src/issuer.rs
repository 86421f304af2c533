//! Issues the certificates with which the server poses as the hosts of secrets to the programs of one sandbox.

use std::collections::HashMap;

use deskhand_core::network::stand_in::{
    CertificateIssuer, HostCertificate, IssueError, IssuedCertificates,
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, Error, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
    PKCS_ECDSA_P256_SHA256,
};
use zeroize::Zeroizing;

/// The name of the authority in the details of a certificate.
const AUTHORITY: &str = "Deskhand, for one desktop";

/// Creates an authority for each sandbox. It is constrained to the hosts of secrets, and its key is dropped as soon as
/// it has signed their certificates.
#[derive(Debug, Clone, Copy, Default)]
pub struct SandboxIssuer;

impl CertificateIssuer for SandboxIssuer {
    fn issue(
        &self,
        hosts: &[&str],
        from: Timestamp,
        until: Timestamp,
    ) -> Result<IssuedCertificates, IssueError> {
        issue(hosts, from, until).map_err(|error| IssueError(error.to_string()))
    }
}

fn issue(hosts: &[&str], from: Timestamp, until: Timestamp) -> Result<IssuedCertificates, Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let permitted = hosts
        .iter()
        .map(|host| GeneralSubtree::DnsName((*host).to_owned()));
    let mut authority = params(Vec::new(), AUTHORITY, from, until)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    authority.name_constraints = Some(NameConstraints {
        permitted_subtrees: permitted.collect(),
        excluded_subtrees: Vec::new(),
    });
    let certificate = authority.self_signed(&key)?.der().to_vec();
    let issuer = Issuer::new(authority, key);
    let mut issued = HashMap::new();
    for host in hosts {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut leaf = params(vec![(*host).to_owned()], host, from, until)?;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        leaf.use_authority_key_identifier_extension = true;
        let certificate = HostCertificate {
            certificate: leaf.signed_by(&key, &issuer)?.der().to_vec(),
            key: Zeroizing::new(key.serialize_der()),
        };
        issued.insert((*host).to_owned(), certificate);
    }
    Ok(IssuedCertificates {
        authority: certificate,
        hosts: issued,
    })
}

/// Returns the parameters of a certificate for these names. Its validity is rounded to whole days, as the library
/// requires.
fn params(
    names: Vec<String>,
    title: &str,
    from: Timestamp,
    until: Timestamp,
) -> Result<CertificateParams, Error> {
    // An extra day at both ends allows for the rounding, and for clocks that differ.
    const DAY: SignedDuration = SignedDuration::from_hours(24);
    let day = |time: Timestamp| {
        let date = time.to_zoned(TimeZone::UTC).date();
        let part = |number: i8| u8::try_from(number).unwrap_or(1);
        rcgen::date_time_ymd(date.year().into(), part(date.month()), part(date.day()))
    };
    let mut params = CertificateParams::new(names)?;
    params.not_before = day(from - DAY);
    params.not_after = day(until + DAY + DAY);
    params.distinguished_name = DistinguishedName::new();
    // A common name has at most 64 characters. Only people read it.
    let title: String = title.chars().take(64).collect();
    params.distinguished_name.push(DnType::CommonName, title);
    Ok(params)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{
        RootCertStore,
        client::{WebPkiServerVerifier, danger::ServerCertVerifier},
        crypto::ring,
        pki_types::{CertificateDer, ServerName, UnixTime},
    };

    use super::*;

    const NOW: &str = "2026-11-17T12:00:00Z";

    fn issued(hosts: &[&str]) -> IssuedCertificates {
        let now: Timestamp = NOW.parse().unwrap();
        let until = now + SignedDuration::from_hours(24);
        SandboxIssuer.issue(hosts, now, until).unwrap()
    }

    fn is_trusted(authority: &[u8], leaf: &[u8], host: &str, at: &str) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(authority)).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier.build().unwrap();
        let at: Timestamp = at.parse().unwrap();
        let seconds = u64::try_from(at.as_second()).unwrap();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let leaf = CertificateDer::from(leaf);
        verifier
            .verify_server_cert(&leaf, &[], &name, &[], now)
            .is_ok()
    }

    #[test]
    fn a_certificate_is_trusted_for_its_host_and_its_time_only() {
        let issued = issued(&["api.example", "git.example"]);
        let leaf = &issued.hosts["api.example"].certificate;
        assert!(is_trusted(&issued.authority, leaf, "api.example", NOW));
        let later = "2026-11-18T13:00:00Z";
        assert!(is_trusted(&issued.authority, leaf, "api.example", later));
        for host in ["git.example", "example", "other.example"] {
            assert!(!is_trusted(&issued.authority, leaf, host, NOW), "{host}");
        }
        for at in ["2026-11-15T12:00:00Z", "2026-11-21T00:00:00Z"] {
            assert!(
                !is_trusted(&issued.authority, leaf, "api.example", at),
                "{at}"
            );
        }
    }

    #[test]
    fn an_authority_cannot_vouch_for_other_hosts() {
        let now: Timestamp = NOW.parse().unwrap();
        let until = now + SignedDuration::from_hours(1);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let mut authority = params(Vec::new(), AUTHORITY, now, until).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName("api.example".to_owned())],
            excluded_subtrees: Vec::new(),
        });
        let certificate = authority.self_signed(&key).unwrap();
        let issuer = Issuer::new(authority, key);
        let mut leaf = params(vec!["bank.example".to_owned()], "bank", now, until).unwrap();
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        let is_trusted = is_trusted(certificate.der(), leaf.der(), "bank.example", NOW);
        assert!(!is_trusted, "name constraints hold");
    }
}
