//! The HTTP client and error handling that all vendors share.

use std::{
    error::Error,
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use deskhand_core::model::ModelError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{RequestBuilder, Response, StatusCode, Url, header};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde_json::Value;

use crate::windows;

/// The timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for a silent vendor, before an answer and in the middle of it.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(180);
/// The timeout for a vendor whose models may reason for long without a word.
pub(crate) const REASONING_TIMEOUT: Duration = Duration::from_secs(600);
/// The timeout for a server on this machine, which may have to load its model first.
const LOCAL_READ_TIMEOUT: Duration = Duration::from_secs(600);
/// The name and version of this program, which every vendor is told.
const USER_AGENT: &str = concat!("deskhand/", env!("CARGO_PKG_VERSION"));
/// The number of bytes after which the rest of an error response is not read.
pub(crate) const LARGEST_ERROR_BYTES: usize = 64 * 1024;

/// The base URL of a vendor, without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl(String);

impl BaseUrl {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text.trim()).ok()?;
        let is_good = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none();
        is_good.then(|| Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    /// Returns the URL of `path`, which starts with a slash.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }

    fn is_local(&self) -> bool {
        let host = self.host();
        host == "localhost"
            || host
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback())
    }

    /// Returns true if the address is on this machine or in a private network.
    pub(crate) fn is_near(&self) -> bool {
        let host = self.host();
        match host.parse() {
            Ok(IpAddr::V4(address)) => {
                address.is_loopback() || address.is_private() || address.is_link_local()
            }
            Ok(IpAddr::V6(address)) => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
            // A name that the public name service does not know.
            Err(_) => {
                let is_private = |end: &&str| host.ends_with(*end);
                let ends = [".local", ".internal", ".lan", ".home.arpa"];
                !host.contains('.') || ends.iter().any(is_private)
            }
        }
    }

    /// Returns the host without the brackets of an IPv6 address.
    fn host(&self) -> String {
        let url = Url::parse(&self.0).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        host.trim_matches(['[', ']']).to_owned()
    }
}

/// The characters that are not escaped in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@')
    .remove(b':');

/// Escapes a name so that it is a single path segment.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// Creates a client for a vendor. Requests to this machine bypass the proxy.
pub(crate) fn client(base_url: &BaseUrl) -> Result<reqwest::Client, reqwest::Error> {
    client_with_timeout(base_url, READ_TIMEOUT)
}

/// Creates a client for a vendor that may be silent for `read_timeout`.
pub(crate) fn client_with_timeout(
    base_url: &BaseUrl,
    read_timeout: Duration,
) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    // We always have a provider of our own. If that fails, reqwest reports the missing one.
    let builder = match tls(base_url.is_encrypted()) {
        Ok(tls) => builder.tls_backend_preconfigured(tls),
        Err(_) => builder,
    };
    if base_url.is_local() {
        let read_timeout = read_timeout.max(LOCAL_READ_TIMEOUT);
        builder.read_timeout(read_timeout).no_proxy().build()
    } else {
        builder.read_timeout(read_timeout).build()
    }
}

/// The root certificates that this machine trusts. They are read once because that takes a moment.
static ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
});

/// Trusts the machine's root certificates, or none if the connection is not encrypted.
fn tls(is_encrypted: bool) -> Result<ClientConfig, rustls::Error> {
    let roots = if is_encrypted {
        Arc::clone(&ROOTS)
    } else {
        Arc::new(RootCertStore::empty())
    };
    let provider = Arc::new(ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// The error response of a vendor.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    /// The body, if it was JSON.
    pub(crate) body: Value,
    pub(crate) retry_after: Option<Duration>,
}

/// The reason why a request got no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    Refused(ErrorResponse),
    Failed(ModelError),
}

/// Sends a request and waits for the beginning of its answer.
pub(crate) async fn send(request: RequestBuilder) -> Result<Response, NoAnswer> {
    let failed = |error: reqwest::Error| NoAnswer::Failed(no_answer(&error));
    let mut response = request.send().await.map_err(failed)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let (status, retry_after) = (response.status(), retry_after(&response));
    let mut body = Vec::new();
    // A body that is cut off is still an error.
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > LARGEST_ERROR_BYTES {
            break;
        }
    }
    Err(NoAnswer::Refused(ErrorResponse {
        status,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        retry_after,
    }))
}

/// An error that a vendor reports.
#[derive(Debug, Default)]
pub(crate) struct Problem<'a> {
    pub(crate) status: Option<StatusCode>,
    pub(crate) message: Option<&'a str>,
    /// True if the same request may succeed later. `None` if the status decides.
    pub(crate) is_transient: Option<bool>,
    pub(crate) retry_after: Option<Duration>,
}

impl Problem<'_> {
    pub(crate) fn error(self) -> ModelError {
        let reported = self.message.filter(|reported| !reported.trim().is_empty());
        let message = match (reported, self.status) {
            (Some(reported), Some(StatusCode::UNAUTHORIZED)) => {
                format!("{reported} (is the key right?)")
            }
            (Some(reported), Some(StatusCode::NOT_FOUND)) => {
                format!("{reported} (is the model's name right?)")
            }
            (Some(reported), _) => reported.to_owned(),
            (None, Some(StatusCode::NOT_FOUND)) => {
                "it answered 404 Not Found (is the model's name right?)".to_owned()
            }
            (None, Some(status)) => format!("it answered {status}"),
            (None, None) => "it failed".to_owned(),
        };
        let is_transient = self
            .is_transient
            .unwrap_or_else(|| self.status.is_some_and(is_transient));
        if reported.is_some_and(windows::is_too_long) {
            ModelError::TooLong(message)
        } else if is_transient {
            ModelError::Unavailable {
                message,
                retry_after: self.retry_after,
            }
        } else {
            ModelError::Rejected(message)
        }
    }
}

/// Returns true if the same request may succeed later.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status.is_server_error()
}

/// Returns the retry delay from the vendor's header, in seconds. Dates are not supported; then the caller decides.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?;
    let seconds: f64 = seconds.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Describes a request that got no response. The URL is left out.
pub(crate) fn no_answer(error: &reqwest::Error) -> ModelError {
    let what = if error.is_timeout() {
        "it did not answer in time"
    } else if error.is_connect() {
        "it could not be reached"
    } else {
        "the request failed"
    };
    let mut cause: &dyn Error = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    let has_cause = error.source().is_some() && !error.is_timeout();
    ModelError::unavailable(if has_cause {
        format!("{what}: {cause}")
    } else {
        what.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_and_slashes_do_not_matter() {
        let at = |text: &str| BaseUrl::parse(text).map(|url| url.at("/v1"));
        assert_eq!(at("https://a.b/").as_deref(), Some("https://a.b/v1"));
        assert_eq!(
            at(" http://[::1]:1/x ").as_deref(),
            Some("http://[::1]:1/x/v1")
        );
        for bad in [
            "",
            "a.b",
            "ftp://a.b",
            "https://",
            "https://a.b?x=1",
            "https://a.b#x",
        ] {
            assert_eq!(at(bad), None, "{bad}");
        }
        let is_local = |text: &str| BaseUrl::parse(text).unwrap().is_local();
        assert!(is_local("http://127.0.0.1:11434/v1") && is_local("http://[::1]"));
        assert!(is_local("http://localhost:1") && !is_local("http://10.0.0.1"));
        let is_near = |text: &str| BaseUrl::parse(text).unwrap().is_near();
        for near in [
            "http://[::1]",
            "http://10.0.0.7:8000/v1",
            "http://gpu:1",
            "http://gpu.lan",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in [
            "https://api.together.xyz/v1",
            "http://8.8.8.8",
            "http://a.notlan",
        ] {
            assert!(!is_near(far), "{far}");
        }
    }
}
