//! The tokens of services: JSON Web Tokens with HS256, which only this server issues and verifies.
//!
//! A token is for one person, one session, one service and one purpose: opening the service by a link, or staying signed in
//! with a cookie. Only our own header is accepted, so a client cannot choose the algorithm.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use deskhand_core::{
    id::{SessionId, UserId},
    secret::Secret,
    service::Service,
};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Credential;

/// The time for which a link with a token is valid.
const TOKEN_LIFE: Duration = Duration::from_hours(1);
/// The time for which a person stays signed in, counted from the request for the link. It is enough for a working day,
/// and limits the use of a link that was passed on.
const STAY_LIFE: Duration = Duration::from_hours(12);
/// The time within which the browser has to arrive at the page that it was redirected to.
const LANDING_TIME: Duration = Duration::from_secs(30);
/// `{"alg":"HS256","typ":"JWT"}`
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
/// The maximum length of a token.
const LONGEST_TOKEN_BYTES: usize = 2048;

/// The purpose of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassKind {
    /// Part of a link. It is exchanged for a cookie.
    Open,
    /// The cookie.
    Stay,
}

/// The permission of one person to use one service.
#[derive(Debug, Clone)]
pub struct AppPass {
    pub kind: PassKind,
    pub user: UserId,
    /// The credential with which the person requested the link. Access ends when it does.
    pub credential: Credential,
    pub session: SessionId,
    pub service: Service,
    pub issued_at: Timestamp,
    /// The time at which the person requested the link. The lifetime of the cookie counts from then.
    pub since: Timestamp,
    /// A hash of the path that the browser was redirected to.
    pub landing: Option<String>,
}

/// The contents of a token.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    sub: UserId,
    sid: SessionId,
    svc: String,
    iat: i64,
    exp: i64,
    /// The time at which the person requested the link. Only cookies have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    #[serde(rename = "use")]
    kind: PassKind,
    /// The hash of the credential, after a letter for its kind.
    crd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// The key that signs all tokens.
pub(crate) struct PassKey(Hmac<Sha256>);

impl PassKey {
    pub(super) fn new(key: [u8; 32]) -> Self {
        // HMAC pads a key with zeros to the length of a block.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(&key);
        Self(Hmac::new(&block.into()))
    }

    pub(super) fn seal(&self, pass: &AppPass) -> Secret {
        let claims = Claims {
            sub: pass.user,
            sid: pass.session,
            svc: pass.service.to_string(),
            iat: pass.issued_at.as_second(),
            exp: pass.expires_at().as_second(),
            since: (pass.kind == PassKind::Stay).then(|| pass.since.as_second()),
            kind: pass.kind,
            crd: written(&pass.credential),
            to: pass.landing.clone(),
        };
        // Strings and numbers can always be serialized.
        let claims = serde_json::to_vec(&claims).unwrap_or_default();
        let signed = format!("{HEADER}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = self.mac(&signed).finalize().into_bytes();
        Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Verifies a token. Returns `None` if it is invalid or has expired.
    pub(super) fn open(&self, token: &Secret, now: Timestamp) -> Option<AppPass> {
        let text = Some(token.expose()).filter(|text| text.len() <= LONGEST_TOKEN_BYTES)?;
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if header != HEADER {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        // This compares in constant time.
        self.mac(signed).verify_slice(&signature).ok()?;
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        if now.as_second() >= claims.exp {
            return None;
        }
        Some(AppPass {
            kind: claims.kind,
            user: claims.sub,
            credential: read(&claims.crd)?,
            session: claims.sid,
            service: claims.svc.parse().ok()?,
            issued_at: Timestamp::from_second(claims.iat).ok()?,
            since: Timestamp::from_second(claims.since.unwrap_or(claims.iat)).ok()?,
            landing: claims.to,
        })
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        mac
    }
}

impl std::fmt::Debug for PassKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PassKey(***)")
    }
}

impl AppPass {
    /// Returns the time at which the token expires.
    pub(super) fn expires_at(&self) -> Timestamp {
        match self.kind {
            PassKind::Open => self.issued_at + TOKEN_LIFE,
            PassKind::Stay => self.since + STAY_LIFE,
        }
    }

    pub(super) fn has_just_landed(&self, path: &str, now: Timestamp) -> bool {
        now <= self.issued_at + LANDING_TIME && self.landing == Some(landing_of(path))
    }
}

/// Returns a short hash of a path with its query.
pub(super) fn landing_of(path: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(path)[..12])
}

fn written(credential: &Credential) -> String {
    match credential {
        Credential::Token(hash) => format!("t{hash}"),
        Credential::Cookie(hash) => format!("c{hash}"),
    }
}

fn read(text: &str) -> Option<Credential> {
    if let Some(hash) = text.strip_prefix('t') {
        return Some(Credential::Token(hash.to_owned()));
    }
    text.strip_prefix('c')
        .map(|hash| Credential::Cookie(hash.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass() -> AppPass {
        AppPass {
            kind: PassKind::Open,
            user: UserId::new(),
            credential: Credential::token(&Secret::new("dh_x")),
            session: SessionId::new(),
            service: "port-3000".parse().unwrap(),
            issued_at: Timestamp::from_second(1_000_000).unwrap(),
            since: Timestamp::from_second(1_000_000).unwrap(),
            landing: None,
        }
    }

    #[test]
    fn a_token_is_valid_until_it_expires() {
        let (key, pass) = (PassKey::new([1; 32]), pass());
        let token = key.seal(&pass);
        let at = |seconds: i64| Timestamp::from_second(1_000_000 + seconds).unwrap();
        let read = key.open(&token, at(3599)).unwrap();
        assert_eq!(
            (read.user, read.session, read.service),
            (pass.user, pass.session, pass.service)
        );
        assert!(matches!(read.credential, Credential::Token(_)));
        assert!(key.open(&token, at(3600)).is_none());
        assert!(PassKey::new([2; 32]).open(&token, at(0)).is_none());
    }

    #[test]
    fn the_lifetime_of_a_cookie_counts_from_the_request_for_the_link() {
        let key = PassKey::new([1; 32]);
        let mut pass = pass();
        pass.kind = PassKind::Stay;
        pass.issued_at = pass.since + Duration::from_mins(50);
        let token = key.seal(&pass);
        let at = |hours: u64| pass.since + Duration::from_hours(hours);
        let read = key.open(&token, at(11)).unwrap();
        assert_eq!((read.issued_at, read.since), (pass.issued_at, pass.since));
        assert!(key.open(&token, at(12)).is_none());
    }

    #[test]
    fn a_changed_token_is_rejected() {
        let (key, pass) = (PassKey::new([1; 32]), pass());
        let token = key.seal(&pass);
        let token = token.expose();
        let [_, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else {
            panic!("a token has three parts");
        };
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        let mut other = pass.clone();
        other.session = SessionId::new();
        let other = key.seal(&other);
        let other_claims = other.expose().split('.').nth(1).unwrap();
        for wrong in [
            format!("{none}.{claims}."),
            format!("{none}.{claims}.{signature}"),
            format!("{HEADER}.{claims}."),
            format!("{HEADER}.{claims}"),
            format!("{HEADER}.{other_claims}.{signature}"),
            format!("{HEADER}.{claims}.{}", &signature[..20]),
            format!("{token}{}", "A".repeat(LONGEST_TOKEN_BYTES)),
            "a.b.c".to_owned(),
            String::new(),
        ] {
            let now = pass.issued_at;
            assert!(
                key.open(&Secret::new(wrong.as_str()), now).is_none(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_browser_has_just_landed_only_on_the_right_path_and_in_time() {
        let mut pass = pass();
        pass.landing = Some(landing_of("/a?b=c"));
        let soon = pass.issued_at + Duration::from_secs(5);
        assert!(pass.has_just_landed("/a?b=c", soon));
        assert!(!pass.has_just_landed("/delete", soon));
        assert!(!pass.has_just_landed("/a?b=c", soon + LANDING_TIME));
    }
}
