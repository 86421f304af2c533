//! Passes a request on, and its answer back.

use std::{io, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    gateway::{GatewayAnswer, GatewayCall, GatewayRefusal, GatewayRefusalKind, Passing},
    model::Price,
    secret::Secret,
};
use futures::{FutureExt, Stream, StreamExt, future::BoxFuture, stream};
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
};

use super::{
    GatewayAccount, headers,
    meter::Meter,
    paths::{Api, Dialect},
    refuse,
};
use crate::{http, redact};

/// The timeout for a silent vendor. An answer that is not streamed arrives only after the model has finished.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(600);

/// A request on its way to a vendor.
pub(super) struct Passage {
    pub(super) account: GatewayAccount,
    pub(super) api: Api,
    pub(super) url: String,
    /// The headers, including the key.
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The model as `vendor/name`.
    pub(super) model: String,
    pub(super) price: Option<Price>,
    /// The estimated tokens of the prompt.
    pub(super) n_prompt_tokens: u64,
    /// The model costs money and nobody knows how much.
    pub(super) has_unknown_price: bool,
}

impl GatewayCall for Passage {
    fn model(&self) -> &str {
        &self.model
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn has_unknown_price(&self) -> bool {
        self.has_unknown_price
    }

    fn prompt_tokens(&self) -> u64 {
        self.n_prompt_tokens
    }

    fn is_free(&self) -> bool {
        self.api.is_free()
    }

    fn send(self: Box<Self>) -> BoxFuture<'static, Result<GatewayAnswer, GatewayRefusal>> {
        async move {
            let request = self.account.client.post(&self.url);
            let sent = request.headers(self.headers).body(self.body).send();
            let secrets: Vec<Secret> = self.account.key.iter().cloned().collect();
            let dialect = self.api.dialect();
            match sent.await {
                Ok(response) if response.status().is_success() => {
                    Ok(passing(response, dialect, self.n_prompt_tokens))
                }
                Ok(response) => {
                    let vendor = &self.account.vendor;
                    Ok(refused(response, dialect, vendor, &secrets).await)
                }
                Err(error) => {
                    let told = format!("{}: {}", self.account.vendor, http::no_answer(&error));
                    let told = redact::without(told, &secrets);
                    Err(GatewayRefusal::new(GatewayRefusalKind::Vendor, told))
                }
            }
        }
        .boxed()
    }
}

/// Omits the URL, which may contain a password, and the headers, which contain the key.
impl std::fmt::Debug for Passage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passage")
            .field("api", &self.api)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Passes an answer on as it arrives, and counts its usage on the way.
fn passing(response: Response, dialect: Dialect, n_prompt_tokens: u64) -> GatewayAnswer {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_stream = kind.starts_with("text/event-stream");
    let meter = Meter::new(dialect, is_stream, n_prompt_tokens);
    GatewayAnswer {
        status: response.status().as_u16(),
        headers: headers::back(response.headers()),
        body: counted(response.bytes_stream(), meter).boxed(),
    }
}

fn counted<E: std::error::Error + Send + Sync + 'static>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    meter: Meter,
) -> impl Stream<Item = io::Result<Passing>> + Send {
    // The end of the stream counts as a piece, because the usage may be known only then.
    let pieces = pieces.map(Some).chain(stream::iter([None]));
    let heard = pieces.scan(meter, |meter, piece| {
        let passed = match piece {
            Some(Ok(bytes)) => match meter.hear(&bytes) {
                Ok(usage) => [usage.map(Passing::Usage), Some(Passing::Bytes(bytes))]
                    .into_iter()
                    .flatten()
                    .map(Ok)
                    .collect(),
                Err(error) => vec![Err(io::Error::other(error))],
            },
            // The vendor is named elsewhere.
            Some(Err(_)) => vec![Err(io::Error::other("the vendor's answer ended early"))],
            None => meter
                .end()
                .map(Passing::Usage)
                .into_iter()
                .map(Ok)
                .collect(),
        };
        futures::future::ready(Some(stream::iter(passed)))
    });
    heard.flatten()
}

/// Passes on a vendor's refusal with the key removed.
async fn refused(
    mut response: Response,
    dialect: Dialect,
    vendor: &str,
    secrets: &[Secret],
) -> GatewayAnswer {
    let status = response.status();
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        // Vendors repeat parts of the key here.
        let word = match dialect {
            Dialect::Messages => "permission_error",
            Dialect::Responses | Dialect::Chat => "permission_denied",
            Dialect::Gemini => "PERMISSION_DENIED",
        };
        let told = format!(
            "{vendor} does not accept this server's key for this: tell an administrator of the server"
        );
        return refuse::said(dialect, status.as_u16(), word, &told);
    }
    let headers = headers::back(response.headers());
    let mut body = Vec::new();
    // A refusal that is cut off is still a refusal.
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > http::LARGEST_ERROR_BYTES {
            break;
        }
    }
    let told = redact::without(String::from_utf8_lossy(&body).into_owned(), secrets);
    let body = Passing::Bytes(Bytes::from(told));
    GatewayAnswer {
        status: status.as_u16(),
        headers,
        body: stream::iter([Ok(body)]).boxed(),
    }
}
