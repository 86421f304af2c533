//! Signed webhooks: a POST to the bot for every change of a stream.
//!
//! The header `Deskhand-Signature` is `t=SECONDS,v1=HEX`, where `HEX` is HMAC-SHA256 over the seconds, a full stop and
//! the body. A receiver refuses signatures that are older than five minutes, so that none can be used again later.

use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

use deskhand_core::{network::address::is_public, secret::Secret};
use deskhand_jamie::contract::StatusUpdate;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use reqwest::{
    Client, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::CONTENT_TYPE,
    redirect,
};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "deskhand-signature";

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The times before the tries after the first.
const BACKOFF: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// The greatest difference between the clocks of sender and receiver, and the greatest age of a signature.
const LONGEST_AGE: Duration = Duration::from_mins(5);

/// The key that server and bot share.
#[derive(Debug, Clone)]
pub struct WebhookKey(pub Secret);

impl WebhookKey {
    /// Signs a body.
    pub fn sign(&self, body: &[u8], at: Timestamp) -> String {
        let seconds = at.as_second();
        format!("t={seconds},v1={}", self.code(seconds, body))
    }

    /// Returns true if the signature is one of this body, and made lately.
    pub fn accepts(&self, signature: &str, body: &[u8], now: Timestamp) -> bool {
        let parts = signature.split(',').map(str::trim);
        let (mut seconds, mut code) = (None, None);
        for part in parts {
            match part.split_once('=') {
                Some(("t", text)) => seconds = text.parse::<i64>().ok(),
                Some(("v1", text)) => code = Some(text),
                Some(_) | None => {}
            }
        }
        let (Some(seconds), Some(code)) = (seconds, code) else {
            return false;
        };
        let is_recent = now.as_second().abs_diff(seconds) <= LONGEST_AGE.as_secs();
        let expected = self.code(seconds, body);
        is_recent && bool::from(expected.as_bytes().ct_eq(code.as_bytes()))
    }

    fn code(&self, seconds: i64, body: &[u8]) -> String {
        // Keys of every length are accepted, so there is no error.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.expose().as_bytes()) else {
            return String::new();
        };
        mac.update(format!("{seconds}.").as_bytes());
        mac.update(body);
        let code = mac.finalize().into_bytes();
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Sends webhooks.
#[derive(Debug, Clone)]
pub(crate) struct Courier {
    http: Client,
    key: WebhookKey,
    allows_private: bool,
}

impl Courier {
    pub(crate) fn new(key: WebhookKey, allows_private: bool) -> Result<Self, reqwest::Error> {
        let http = Client::builder()
            .redirect(redirect::Policy::none())
            // A proxy would dial addresses that were not judged here.
            .no_proxy()
            .timeout(REQUEST_TIMEOUT)
            .dns_resolver(Arc::new(JudgingResolver { allows_private }))
            .build()?;
        Ok(Self {
            http,
            key,
            allows_private,
        })
    }

    /// Sends an update until it arrives, or the tries are used up. Returns true if it arrived.
    pub(crate) async fn deliver(
        &self,
        url: &str,
        update: &StatusUpdate,
        now: impl Fn() -> Timestamp,
    ) -> bool {
        let (Ok(url), Ok(body)) = (Url::parse(url), serde_json::to_vec(update)) else {
            return false;
        };
        if !self.may_reach(&url) {
            note_refusal(&url);
            return false;
        }
        for wait in BACKOFF.into_iter().map(Some).chain([None]) {
            let sent = self
                .http
                .post(url.clone())
                .header(CONTENT_TYPE, "application/json")
                .header(SIGNATURE_HEADER, self.key.sign(&body, now()))
                .body(body.clone())
                .send()
                .await;
            match sent {
                Ok(response) if response.status().as_u16() < 400 => return true,
                Ok(response) => tracing::warn!(
                    webhook.host = url.host_str(),
                    http.status = response.status().as_u16(),
                    "a webhook was refused"
                ),
                Err(error) if is_not_public(&error) => {
                    note_refusal(&url);
                    return false;
                }
                Err(error) => {
                    // The path may have a secret in it.
                    let error = error.without_url();
                    tracing::warn!(
                        webhook.host = url.host_str(),
                        error = &error as &dyn Error,
                        "a webhook could not be sent"
                    );
                }
            }
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return false,
            }
        }
        false
    }

    /// Judges an address that is not a name. Names are judged by their addresses.
    fn may_reach(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse() {
            Ok(address) => self.allows_private || is_public(address),
            Err(_) => true,
        }
    }
}

/// The name of a webhook has only addresses that may not be contacted.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the name has no address on the public internet")]
struct NotPublic;

/// Returns true if a name was resolved, and none of its addresses may be contacted.
fn is_not_public(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<NotPublic>() {
            return true;
        }
        cause = error.source();
    }
    false
}

fn note_refusal(url: &Url) {
    tracing::warn!(
        webhook.host = url.host_str(),
        "a webhook was not sent, since its address is not on the public internet; jamie.private_webhooks allows it"
    );
}

/// Resolves names to the addresses that may be contacted. The client dials exactly these.
#[derive(Debug, Clone, Copy)]
struct JudgingResolver {
    allows_private: bool,
}

impl Resolve for JudgingResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| allows_private || is_public(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(NotPublic.into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_for_one_body_one_key_and_a_short_time() {
        let key = WebhookKey(Secret::new("shared"));
        let at: Timestamp = "2026-02-07T12:34:56Z".parse().unwrap();
        let signature = key.sign(b"body", at);
        assert!(signature.starts_with("t=1770467696,v1="), "{signature}");
        assert!(key.accepts(&signature, b"body", at + Duration::from_secs(299)));
        assert!(!key.accepts(&signature, b"other", at));
        assert!(!key.accepts(&signature, b"body", at + Duration::from_secs(301)));
        assert!(!WebhookKey(Secret::new("another")).accepts(&signature, b"body", at));
        for wrong in ["", "v1=", "t=1770467696", "t=x,v1=y", "t=1770467696,v1="] {
            assert!(!key.accepts(wrong, b"body", at), "{wrong}");
        }
    }

    #[test]
    fn private_addresses_are_not_contacted_unless_a_setting_allows_it() {
        // This fails only if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let reach = |url: &str, allows_private| {
            let key = WebhookKey(Secret::new("shared"));
            let courier = Courier::new(key, allows_private).unwrap();
            courier.may_reach(&Url::parse(url).unwrap())
        };
        for private in ["http://127.0.0.1:1/x", "http://10.0.0.1/", "http://[::1]/"] {
            assert!(!reach(private, false), "{private}");
            assert!(reach(private, true), "{private}");
        }
        assert!(reach("https://bot.example/jamie/status", false));
        assert!(reach("https://9.9.9.9/", false));
    }

    #[tokio::test]
    async fn a_name_with_private_addresses_only_is_recognized() {
        // This fails only if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let key = WebhookKey(Secret::new("shared"));
        let courier = Courier::new(key, false).unwrap();
        let error = courier.http.post("http://localhost:9/").send().await;
        assert!(is_not_public(&error.unwrap_err()));
    }
}
