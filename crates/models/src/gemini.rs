//! Google's Gemini models, through `generateContent`.

mod calls;
#[cfg(test)]
mod calls_tests;
mod offer;
mod page;
#[cfg(test)]
mod page_tests;
mod request;
#[cfg(test)]
mod rules_tests;
mod stream;
#[cfg(test)]
mod stream_tests;

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    action::ScreenSize,
    model::{ContextWindow, ModelError},
    secret::Secret,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use self::{offer::GeminiOffer, stream::GeminiAnswer};
use crate::{
    accepted::AcceptedOffers,
    http::{self, BaseUrl, ErrorResponse, NoAnswer, Problem},
    space::{self, Space},
    sse,
    talk::Begun,
    view::{AcceptedFiles, View},
    windows,
    wire::{Asked, Wire},
};

/// The part before the slash in the names of Google's models.
pub(crate) const VENDOR: &str = "gemini";

/// The size that Google recommends. A larger picture shows no more detail, since every picture costs the same.
const LARGEST_SIZE: ScreenSize = ScreenSize {
    width: 1440,
    height: 900,
};

/// An account with Google.
#[derive(Debug)]
pub(crate) struct Gemini {
    client: reqwest::Client,
    base_url: BaseUrl,
    key: Secret,
    accepted: AcceptedOffers<GeminiOffer>,
}

impl Gemini {
    pub(crate) fn new(client: reqwest::Client, base_url: BaseUrl, key: Secret) -> Self {
        Self {
            client,
            base_url,
            key,
            accepted: AcceptedOffers::default(),
        }
    }

    /// Sends the request, and asks for less after each refusal until Google accepts it.
    async fn ask(&self, asked: &Asked) -> Result<Response, ModelError> {
        let path = format!(
            "/v1beta/models/{}:streamGenerateContent?alt=sse",
            http::segment(&asked.name)
        );
        let mut offer = self.accepted.offer(&asked.name, offer::MOST);
        loop {
            let request = self
                .client
                .post(self.base_url.at(&path))
                .header("x-goog-api-key", self.key.expose())
                .json(&request::body(&asked.name, offer, &asked.request));
            match http::send(request).await {
                Ok(response) => {
                    self.accepted.note(&asked.name, offer, offer::MOST);
                    return Ok(response);
                }
                Err(NoAnswer::Failed(error)) => return Err(error),
                Err(NoAnswer::Refused(response)) => match offer.after(&response) {
                    Some(less) => offer = less,
                    None => return Err(refused(&response)),
                },
            }
        }
    }
}

impl Wire for Gemini {
    type Answer = GeminiAnswer;

    fn vendor(&self) -> &str {
        VENDOR
    }

    fn secrets(&self) -> Vec<Secret> {
        vec![self.key.clone()]
    }

    fn view(&self, name: &str) -> View {
        View {
            window: ContextWindow {
                tokens: windows::tokens(VENDOR, name),
                vendor_summarizes: false,
            },
            ..view()
        }
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<GeminiAnswer>> {
        let begin = async move {
            let response = self.ask(&asked).await?;
            let space = request::space(&asked.request);
            let surface = request::surface(&asked.request);
            let answer = GeminiAnswer::new(space, surface, asked.name);
            Ok((sse::of(response), answer))
        };
        begin.boxed()
    }
}

/// Returns the view that Google's models have of a screen.
pub(crate) fn view() -> View {
    View {
        space: |screen, _| Space::thousandths(screen),
        files: AcceptedFiles {
            pdf: true,
            gif: false,
            webp: true,
        },
        ..View::sized(|screen| space::fitting(screen, LARGEST_SIZE))
    }
}

fn refused(response: &ErrorResponse) -> ModelError {
    let message = response.body["error"]["message"].as_str();
    // Google answers a wrong key with 400.
    let is_about_key = message.is_some_and(|message| message.contains("API key not valid"));
    let problem = Problem {
        status: Some(if is_about_key {
            StatusCode::UNAUTHORIZED
        } else {
            response.status
        }),
        message,
        is_transient: None,
        retry_after: response
            .retry_after
            .or_else(|| retry_delay(&response.body["error"])),
    };
    problem.error()
}

/// Returns the time after which Google wants a retry. The error's details contain it, as `"34s"`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error["details"].as_array()?;
    let mut delays = details
        .iter()
        .filter_map(|detail| detail["retryDelay"].as_str());
    let seconds = delays.next()?.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Converts an error in the middle of an answer.
fn broke_off(error: &Value) -> ModelError {
    let code = error["code"].as_u64();
    let code = code.and_then(|code| u16::try_from(code).ok());
    let problem = Problem {
        status: code.and_then(|code| StatusCode::from_u16(code).ok()),
        message: error["message"].as_str(),
        ..Problem::default()
    };
    problem.error()
}
