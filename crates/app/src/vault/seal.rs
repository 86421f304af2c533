//! The seals of secrets: the context that a value is encrypted with.

use deskhand_core::{
    id::UserId,
    secret::Secret,
    vault::{HttpUse, Origin, SecretName},
};
use deskhand_store::{Keys, SealVersion, SealedValue};

use super::LockedError;

/// The version with which values are sealed: their context includes the origins and the use in requests.
pub(super) const SEAL_VERSION: SealVersion = SealVersion(3);
/// The first version, without the origins.
const FIRST_SEAL_VERSION: SealVersion = SealVersion(1);
/// The version with the origins, without the use in requests.
const ORIGINS_SEAL_VERSION: SealVersion = SealVersion(2);

/// Decrypts a value, if its row has not changed since it was sealed.
pub(super) fn open(keys: &Keys, secret: &SealedValue) -> Result<Secret, LockedError> {
    let SealedValue {
        user,
        name,
        origins,
        http,
        key,
        sealed,
        seal_version,
    } = secret;
    let key = keys.find(key);
    let key = key.ok_or_else(|| LockedError::WrongKey(name.clone()))?;
    let damaged = || LockedError::Damaged(name.clone());
    if *seal_version < SEAL_VERSION && http.is_some() {
        // Earlier versions had no such use, so somebody has tampered with the row.
        return Err(damaged());
    }
    let about = if *seal_version == FIRST_SEAL_VERSION {
        about_without_origins(*user, name)
    } else if *seal_version == ORIGINS_SEAL_VERSION {
        about_without_use(*user, name, origins)
    } else {
        about(*user, name, origins, http.as_ref())
    };
    key.open(sealed, &about).ok_or_else(damaged)
}

/// Returns the context that an encrypted value belongs to: moved to another row, with other origins or with another
/// use, the value cannot be decrypted.
pub(super) fn about(
    user: UserId,
    name: &SecretName,
    origins: &[Origin],
    http: Option<&HttpUse>,
) -> Vec<u8> {
    let mut about = about_without_use(user, name, origins);
    // No origin begins like these lines.
    match http {
        None => about.extend_from_slice(b"\ntyped"),
        Some(HttpUse { headers, env }) => {
            for header in headers {
                about.extend_from_slice(format!("\nheader {header}").as_bytes());
            }
            about.extend_from_slice(format!("\nenv {env}").as_bytes());
        }
    }
    about
}

fn about_without_use(user: UserId, name: &SecretName, origins: &[Origin]) -> Vec<u8> {
    let mut about = about_without_origins(user, name);
    for origin in origins {
        // No name and no origin contains a line end.
        about.push(b'\n');
        about.extend_from_slice(origin.as_str().as_bytes());
    }
    about
}

fn about_without_origins(user: UserId, name: &SecretName) -> Vec<u8> {
    format!("{user}/{name}").into_bytes()
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
