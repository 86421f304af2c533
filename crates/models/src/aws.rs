//! Signs requests for Amazon (Signature Version 4).

use deskhand_core::secret::Secret;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use ring::{digest, hmac};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// The characters that are not escaped in a signed path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Keys of an Amazon account.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) access_key: Secret,
    pub(crate) secret_key: Secret,
    /// The session token of temporary keys.
    pub(crate) session_token: Option<Secret>,
}

/// The scope of a signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    pub(crate) at: Timestamp,
}

impl Keys {
    /// Returns the headers that sign a request. The request may have further, unsigned headers.
    pub(crate) fn headers(
        &self,
        scope: Scope<'_>,
        method: &str,
        url: &Url,
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let at = scope.at.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = scope.at.strftime("%Y%m%d").to_string();
        // The headers to sign.
        let mut headers = vec![("host", host(url)), ("x-amz-date", at.clone())];
        let token = self.session_token.as_ref();
        headers.extend(token.map(|token| ("x-amz-security-token", token.expose().to_owned())));
        // The canonical request.
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String = headers
            .iter()
            .map(|(name, value)| format!("{name}:{}\n", value.trim()))
            .collect();
        let request = format!(
            "{method}\n{}\n{}\n{lines}\n{names}\n{}",
            utf8_percent_encode(url.path(), PATH),
            url.query().unwrap_or_default(),
            hash(body),
        );
        // The string to sign.
        let Scope {
            region, service, ..
        } = scope;
        let of = format!("{day}/{region}/{service}/aws4_request");
        let to_sign = format!("{ALGORITHM}\n{at}\n{of}\n{}", hash(request.as_bytes()));
        // The signing key.
        let secret = format!("AWS4{}", self.secret_key.expose());
        let parts = [&*day, region, service, "aws4_request"];
        let key = parts
            .iter()
            .fold(secret.into_bytes(), |key, part| mac(&key, part));
        let signature = hex(&mac(&key, &to_sign));
        let authorization = format!(
            "{ALGORITHM} Credential={}/{of}, SignedHeaders={names}, Signature={signature}",
            self.access_key.expose()
        );
        // The HTTP client sets the host itself.
        headers.retain(|(name, _)| *name != "host");
        headers.push(("authorization", authorization));
        headers
    }
}

fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authorization(session_token: Option<&str>, method: &str, url: &str) -> String {
        let keys = Keys {
            access_key: Secret::new("AKIDEXAMPLE"),
            secret_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: session_token.map(Secret::new),
        };
        let scope = Scope {
            region: "us-east-1",
            service: "service",
            at: "2015-08-30T12:36:00Z".parse().unwrap(),
        };
        let headers = keys.headers(scope, method, &Url::parse(url).unwrap(), b"");
        let (_, authorization) = headers.last().unwrap();
        authorization.clone()
    }

    /// From Amazon's published suite: `get-vanilla`, `post-vanilla` and `get-unreserved`.
    #[test]
    fn signatures_are_those_that_amazon_published() {
        let signature = |method: &str, url: &str| {
            let authorization = authorization(None, method, url);
            let (rest, signature) = authorization.split_once(", Signature=").unwrap();
            assert_eq!(
                rest,
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders=host;x-amz-date"
            );
            signature.to_owned()
        };
        assert_eq!(
            signature("GET", "https://example.amazonaws.com/"),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(
            signature("POST", "https://example.amazonaws.com/"),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        assert_eq!(
            signature(
                "GET",
                "https://example.amazonaws.com/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
            ),
            "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
        );
    }

    #[test]
    fn the_token_of_keys_for_a_while_is_signed_too() {
        let authorization = authorization(Some("token"), "POST", "https://a.b:8443/x");
        assert!(authorization.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
    }
}
