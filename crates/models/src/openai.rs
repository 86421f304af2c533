//! OpenAI's models, through the Responses API.

mod calls;
#[cfg(test)]
mod calls_tests;
mod compaction;
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

use std::sync::Arc;

use deskhand_core::{
    action::ScreenSize,
    model::{ContextWindow, ModelError, Pictures},
    secret::Secret,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::Response;
use serde_json::Value;

use self::{offer::OpenAiOffer, stream::OpenAiAnswer};
use crate::{
    accepted::AcceptedOffers,
    http::{self, BaseUrl, ErrorResponse, NoAnswer, Problem},
    settings::BrowserTool,
    space, sse,
    surface::Surface,
    talk::Begun,
    view::{AcceptedFiles, View},
    windows,
    wire::{Asked, Wire},
};

/// The part before the slash in the names of OpenAI's models.
pub(crate) const VENDOR: &str = "openai";

/// The largest picture that the models see without scaling.
const LARGEST_SIZE: ScreenSize = ScreenSize {
    width: 2560,
    height: 1600,
};
/// The largest picture on which the first model points accurately.
const PREVIEW_SIZE: ScreenSize = ScreenSize {
    width: 1440,
    height: 900,
};

/// An account with OpenAI.
#[derive(Debug)]
pub(crate) struct OpenAi {
    client: reqwest::Client,
    /// The base URL, including the API version.
    base_url: BaseUrl,
    key: Secret,
    /// The form in which the browser is offered.
    browser_tool: BrowserTool,
    accepted: AcceptedOffers<OpenAiOffer>,
}

impl OpenAi {
    pub(crate) fn new(
        client: reqwest::Client,
        base_url: BaseUrl,
        key: Secret,
        browser_tool: BrowserTool,
    ) -> Self {
        Self {
            client,
            base_url,
            key,
            browser_tool,
            accepted: AcceptedOffers::default(),
        }
    }

    fn surface(&self, asked: &Asked) -> Surface {
        Surface::of(&asked.request.tools, self.browser_tool)
    }

    /// Sends the request, and asks for less after each refusal until OpenAI accepts it.
    async fn ask(&self, asked: &Asked) -> Result<Response, ModelError> {
        let most = OpenAiOffer::to(&asked.name);
        let mut offer = self.accepted.offer(&asked.name, most);
        let surface = self.surface(asked);
        loop {
            let request = self
                .client
                .post(self.base_url.at("/responses"))
                .bearer_auth(self.key.expose())
                .json(&request::body(&asked.name, offer, surface, &asked.request));
            match http::send(request).await {
                Ok(response) => {
                    self.accepted.note(&asked.name, offer, most);
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

impl Wire for OpenAi {
    type Answer = OpenAiAnswer;

    fn vendor(&self) -> &str {
        VENDOR
    }

    fn secrets(&self) -> Vec<Secret> {
        vec![self.key.clone()]
    }

    fn view(&self, name: &str) -> View {
        let offer = self.accepted.offer(name, OpenAiOffer::to(name));
        let mut view = view(name);
        view.pictures = pictures(offer);
        view.window.vendor_summarizes = summarizes(name, offer);
        view
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<OpenAiAnswer>> {
        let begin = async move {
            let response = self.ask(&asked).await?;
            let space = request::space(&asked.request);
            let answer = OpenAiAnswer::new(space, self.surface(&asked), asked.name);
            Ok((sse::of(response), answer))
        };
        begin.boxed()
    }
}

/// Returns the view that an OpenAI model has of a screen.
pub(crate) fn view(name: &str) -> View {
    let is_preview = request::is_preview(name);
    let offer = OpenAiOffer::to(name);
    View {
        pictures: pictures(offer),
        files: AcceptedFiles {
            pdf: !is_preview,
            gif: false,
            webp: true,
        },
        window: ContextWindow {
            tokens: windows::tokens(VENDOR, name),
            vendor_summarizes: summarizes(name, offer),
        },
        ..View::sized(if is_preview {
            |screen| space::fitting(screen, PREVIEW_SIZE)
        } else {
            |screen| space::fitting(screen, LARGEST_SIZE)
        })
    }
}

/// Returns true if OpenAI shortens a long conversation. The first model is told to leave out its middle.
fn summarizes(name: &str, offer: OpenAiOffer) -> bool {
    offer.compaction || request::is_preview(name)
}

/// Returns the pictures to send. Where OpenAI summarizes the conversation, nothing before that changes, so that its cache
/// can be used.
fn pictures(offer: OpenAiOffer) -> Pictures {
    if offer.compaction {
        Pictures::All
    } else {
        Pictures::Newest
    }
}

fn refused(response: &ErrorResponse) -> ModelError {
    let error = &response.body["error"];
    let problem = Problem {
        status: Some(response.status),
        message: error["message"].as_str(),
        // Waiting does not refill an account that is out of money.
        is_transient: (code(error) == "insufficient_quota").then_some(false),
        retry_after: response.retry_after,
    };
    problem.error()
}

/// Converts an error in the middle of an answer.
fn broke_off(error: &Value) -> ModelError {
    let is_transient = matches!(
        code(error),
        "server_error"
            | "rate_limit_exceeded"
            | "slow_down"
            | "overloaded"
            | "vector_store_timeout"
    );
    let problem = Problem {
        message: error["message"].as_str().or(Some(code(error))),
        is_transient: Some(is_transient),
        ..Problem::default()
    };
    problem.error()
}

fn code(error: &Value) -> &str {
    let code = error["code"].as_str().or(error["type"].as_str());
    code.unwrap_or_default()
}
