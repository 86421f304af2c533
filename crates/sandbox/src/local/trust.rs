//! The certificate authority that the programs of one sandbox trust in addition to those of the machine.
//!
//! The files exist in every sandbox, and are replaced in a sandbox with such an authority.

use std::{collections::BTreeMap, fs, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::secret::Secret;
use serde_json::json;

use super::process::CoveredFile;

/// The machine's own authorities. Programs that use OpenSSL, `GnuTLS` or Go look here.
const MACHINE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// The file that [`VARIABLES`] point to.
pub(crate) const AUTHORITIES: &str = "/etc/deskhand/authorities.crt";
/// A policy file of the browser, besides ours.
pub(crate) const POLICY: &str = "/etc/chromium/policies/managed/authority.json";

/// Variables with the path of the authorities: for OpenSSL without the machine's file, and for Node.js and Python's
/// `requests`, which bundle their own authorities.
const VARIABLES: [&str; 3] = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"];

/// The length of a line of base64 in PEM.
const PEM_COLUMNS: usize = 64;

/// Returns the files that make programs trust an authority, which is given in DER.
pub(crate) fn files(authority: &[u8]) -> Vec<CoveredFile> {
    let machine = fs::read(MACHINE);
    let has_machine = machine.is_ok();
    let mut all = machine.unwrap_or_default();
    if !all.is_empty() && !all.ends_with(b"\n") {
        all.push(b'\n');
    }
    all.extend_from_slice(pem(authority).as_bytes());
    let policy = json!({"CACertificates": [STANDARD.encode(authority)]});
    let mut files = vec![CoveredFile {
        path: POLICY,
        content: policy.to_string().into_bytes(),
    }];
    // Other machines have no such file to replace.
    if has_machine && Path::new(MACHINE).is_file() {
        files.push(CoveredFile {
            path: MACHINE,
            content: all.clone(),
        });
    }
    files.push(CoveredFile {
        path: AUTHORITIES,
        content: all,
    });
    files
}

/// Returns the environment variables that make programs trust the authority.
pub(crate) fn variables() -> BTreeMap<String, Secret> {
    let variable = |name: &str| (name.to_owned(), Secret::new(AUTHORITIES));
    VARIABLES.map(variable).into()
}

fn pem(der: &[u8]) -> String {
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in STANDARD.encode(der).as_bytes().chunks(PEM_COLUMNS) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_follows_those_of_the_machine() {
        let files = files(&[7; 100]);
        let policy: serde_json::Value = serde_json::from_slice(&files[0].content).unwrap();
        let encoded = STANDARD.encode([7; 100]);
        assert_eq!(policy, json!({"CACertificates": [encoded]}));
        let last = files.last().unwrap();
        assert_eq!(last.path, AUTHORITIES);
        let text = String::from_utf8_lossy(&last.content);
        let (before, ours) = text.rsplit_once("-----BEGIN CERTIFICATE-----\n").unwrap();
        assert!(before.is_empty() || before.ends_with('\n'));
        let (body, end) = ours.split_once("-----END").unwrap();
        assert_eq!(body.replace('\n', ""), encoded);
        assert_eq!(end, " CERTIFICATE-----\n");
        assert!(body.lines().all(|line| line.len() <= PEM_COLUMNS));
    }
}
