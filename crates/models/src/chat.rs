//! Models behind chat completions: Ollama, vLLM, `LiteLLM`, `OpenRouter` and others that speak OpenAI's older API.

mod offer;
mod request;
#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod rules_tests;
mod stream;
#[cfg(test)]
mod stream_tests;
mod unit;

use std::sync::Arc;

use deskhand_core::{
    action::ScreenSize,
    model::{ContextWindow, ModelError},
    secret::Secret,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::{Response, StatusCode};
use serde_json::Value;

pub(crate) use self::unit::PointUnit;
use self::{offer::ChatOffer, request::ChatForm, stream::ChatAnswer};
use crate::{
    accepted::AcceptedOffers,
    http::{self, BaseUrl, ErrorResponse, NoAnswer, Problem},
    prices,
    settings::{AccountSettings, BrowserTool, Coordinates},
    space, sse,
    surface::Surface,
    talk::Begun,
    view::View,
    wire::{Asked, Wire},
};

/// The vendor that answers are stored under, no matter which server gave them.
const VENDOR: &str = "chat";

/// The largest picture for models about which nothing more is known.
const LARGEST_SIZE: ScreenSize = ScreenSize {
    width: 1440,
    height: 900,
};

/// A server that offers chat completions.
#[derive(Debug)]
pub(crate) struct Chat {
    /// The part before the slash in the names of its models.
    vendor: String,
    client: reqwest::Client,
    /// The base URL, including the API version.
    base_url: BaseUrl,
    /// The key. A self-hosted server may need none.
    key: Option<Secret>,
    /// The form in which the browser is offered.
    browser_tool: BrowserTool,
    coordinates: Coordinates,
    accepted: AcceptedOffers<ChatOffer>,
    /// The window of its models in tokens, if it is known.
    context_tokens: Option<u64>,
}

impl Chat {
    pub(crate) fn new(
        vendor: &str,
        client: reqwest::Client,
        base_url: BaseUrl,
        account: &AccountSettings,
    ) -> Self {
        Self {
            vendor: vendor.to_owned(),
            client,
            base_url,
            key: account.key.clone(),
            browser_tool: account.browser_tool,
            coordinates: account.coordinates,
            accepted: AcceptedOffers::default(),
            context_tokens: account.context_tokens,
        }
    }

    fn surface(&self, asked: &Asked) -> Surface {
        Surface::of(&asked.request.tools, self.browser_tool)
    }

    fn unit(&self, name: &str) -> PointUnit {
        PointUnit::of(name, self.coordinates)
    }

    /// Sends the request, and asks for less after each refusal until the server accepts it.
    async fn ask(&self, asked: &Asked) -> Result<Response, ModelError> {
        let name = &asked.name;
        let mut offer = self.accepted.offer(name, offer::MOST);
        loop {
            let form = ChatForm {
                offer,
                surface: self.surface(asked),
                unit: self.unit(name),
            };
            let mut request = self
                .client
                .post(self.base_url.at("/chat/completions"))
                .json(&request::body(name, form, &asked.request));
            if let Some(key) = &self.key {
                request = request.bearer_auth(key.expose());
            }
            match http::send(request).await {
                Ok(response) => {
                    self.accepted.note(name, offer, offer::MOST);
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

impl Wire for Chat {
    type Answer = ChatAnswer;

    fn vendor(&self) -> &str {
        &self.vendor
    }

    fn secrets(&self) -> Vec<Secret> {
        self.key.iter().cloned().collect()
    }

    fn is_self_hosted(&self) -> bool {
        prices::is_self_hosted(&self.vendor, &self.base_url)
    }

    fn view(&self, name: &str) -> View {
        View {
            window: ContextWindow {
                tokens: self.context_tokens,
                vendor_summarizes: false,
            },
            ..view(self.unit(name))
        }
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<ChatAnswer>> {
        let begin = async move {
            let response = self.ask(&asked).await?;
            let space = self.unit(&asked.name).space_of(&asked.request);
            let answer = ChatAnswer::new(space, self.surface(&asked), asked.name);
            Ok((sse::of(response), answer))
        };
        begin.boxed()
    }
}

/// Returns the view of models about which nothing more is known.
pub(crate) fn view(unit: PointUnit) -> View {
    View {
        space: match unit {
            PointUnit::Pixels => |screen, shown| PointUnit::Pixels.space(screen, shown),
            PointUnit::Thousandths => |screen, shown| PointUnit::Thousandths.space(screen, shown),
        },
        ..View::sized(|screen| space::fitting(screen, LARGEST_SIZE))
    }
}

fn refused(response: &ErrorResponse) -> ModelError {
    let problem = Problem {
        status: Some(response.status),
        message: message(&response.body["error"]),
        is_transient: None,
        retry_after: response.retry_after,
    };
    problem.error()
}

/// Converts an error in the middle of an answer.
fn broke_off(error: &Value) -> ModelError {
    let code = error["code"].as_u64();
    let status = code.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok());
    let problem = Problem {
        status,
        message: message(error),
        // An error without a status may mean anything, so a retry may help.
        is_transient: status.is_none().then_some(true),
        retry_after: None,
    };
    problem.error()
}

/// Returns the message of an error. Some servers send the error as plain text.
fn message(error: &Value) -> Option<&str> {
    error["message"].as_str().or(error.as_str())
}
