//! Anthropic's models, through the Messages API.

mod browser;
mod browser_results;
mod calls;
mod forms;
mod generation;
mod messages;
mod offer;
mod request;
#[cfg(test)]
mod request_tests;
mod route;
#[cfg(test)]
mod rules_tests;
mod sizes;
mod stream;
#[cfg(test)]
mod stream_tests;
mod tools;
mod trim;
mod usage;

use std::sync::Arc;

use deskhand_core::{
    model::{ContextWindow, ModelError, Pictures},
    secret::Secret,
    tool::NativeTool,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use self::{
    generation::Generation, offer::AnthropicOffer, sizes::Resolution, stream::AnthropicAnswer,
};
pub(crate) use self::{
    route::{BedrockAccess, Route},
    usage::AnthropicUsage,
};
use crate::{
    accepted::AcceptedOffers,
    http::{self, ErrorResponse, NoAnswer, Problem},
    sse,
    talk::Begun,
    view::{AcceptedFiles, View},
    wire::{Asked, Wire},
};

/// The part before the slash in the names of Anthropic's models, and the vendor that answers are stored under.
pub(crate) const VENDOR: &str = "anthropic";

/// The longest edge of a picture that Anthropic accepts no matter how many pictures a request has.
const LONGEST_EDGE: u32 = 2000;

/// An account with Anthropic, or with a cloud that serves Anthropic's models.
#[derive(Debug)]
pub(crate) struct Anthropic {
    client: reqwest::Client,
    route: Route,
    accepted: AcceptedOffers<AnthropicOffer>,
}

impl Anthropic {
    pub(crate) fn new(client: reqwest::Client, route: Route) -> Self {
        Self {
            client,
            route,
            accepted: AcceptedOffers::default(),
        }
    }

    /// Sends the request, and offers less after each refusal until the vendor accepts it.
    async fn ask(&self, asked: &Asked) -> Result<Accepted, ModelError> {
        let name = &asked.name;
        let most = AnthropicOffer::to(name);
        let mut offer = self.accepted.offer(name, most);
        let mut tools = asked.request.tools.iter();
        let has_browser = tools.any(|tool| tool.native == Some(NativeTool::Browser));
        let mut thinking = EarlierThinking::Kept;
        loop {
            let body = request::body(
                name,
                offer,
                thinking,
                self.route.largest_body(),
                &asked.request,
                &asked.said,
            );
            let request = self
                .route
                .request(&self.client, name, body, &offer.betas(&asked.request))
                .await?;
            match http::send(request).await {
                Ok(response) => {
                    self.accepted.note(name, offer, most);
                    return Ok(Accepted {
                        response,
                        offer,
                        thinking,
                    });
                }
                Err(NoAnswer::Failed(error)) => return Err(error),
                // The same request would be refused for ever, and without its thinking it is as good as new.
                Err(NoAnswer::Refused(response))
                    if thinking == EarlierThinking::Kept && is_bound_elsewhere(&response) =>
                {
                    tracing::warn!(
                        model = name,
                        "the vendor refused earlier thinking, so the request is repeated without it"
                    );
                    thinking = EarlierThinking::Dropped;
                }
                Err(NoAnswer::Refused(response)) => match offer.after(&response, has_browser) {
                    Some(less) => offer = less,
                    None => return Err(refused(&response)),
                },
            }
        }
    }
}

/// A request that the vendor accepted.
#[derive(Debug)]
struct Accepted {
    response: Response,
    offer: AnthropicOffer,
    thinking: EarlierThinking,
}

/// The thinking of earlier answers in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlierThinking {
    Kept,
    Dropped,
}

impl Wire for Anthropic {
    type Answer = AnthropicAnswer;

    fn vendor(&self) -> &str {
        self.route.vendor()
    }

    fn secrets(&self) -> Vec<Secret> {
        self.route.secrets()
    }

    fn view(&self, name: &str) -> View {
        let offer = self.accepted.offer(name, AnthropicOffer::to(name));
        let mut view = view(name);
        view.window.vendor_summarizes = offer.compacts;
        view
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<AnthropicAnswer>> {
        let begin = async move {
            let accepted = self.ask(&asked).await?;
            let space = request::space(&asked.request);
            let tools = accepted.offer.tools;
            let answer = AnthropicAnswer::new(space, asked.name, tools, asked.said)
                .following(accepted.thinking);
            Ok((sse::of(accepted.response), answer))
        };
        begin.boxed()
    }
}

/// Returns the view that an Anthropic model has of a screen.
pub(crate) fn view(name: &str) -> View {
    let generation = Generation::of(name);
    View {
        pictures: if generation.binds_thinking() {
            Pictures::All
        } else {
            Pictures::Newest
        },
        files: AcceptedFiles {
            pdf: true,
            gif: true,
            webp: true,
        },
        window: ContextWindow {
            tokens: Some(generation.window()),
            vendor_summarizes: AnthropicOffer::to(name).compacts,
        },
        ..View::sized(match generation.resolution() {
            Resolution::Standard => {
                |screen| sizes::shown(screen, Resolution::Standard, LONGEST_EDGE)
            }
            Resolution::Sharp => |screen| sizes::shown(screen, Resolution::Sharp, LONGEST_EDGE),
        })
    }
}

/// Returns the vendor's words.
fn told(response: &ErrorResponse) -> Option<&str> {
    let told = response.body["error"]["message"].as_str();
    // Amazon and Google have error formats of their own for requests that do not reach Anthropic.
    told.or(response.body["message"].as_str())
}

/// Returns true if the vendor found thinking that belongs to a conversation with another beginning.
fn is_bound_elsewhere(response: &ErrorResponse) -> bool {
    let is_it = |told: &str| told.contains("bound to a different conversation");
    response.status == StatusCode::BAD_REQUEST && told(response).is_some_and(is_it)
}

fn refused(response: &ErrorResponse) -> ModelError {
    let problem = Problem {
        status: Some(response.status),
        message: told(response),
        is_transient: None,
        retry_after: response.retry_after,
    };
    problem.error()
}

/// Converts an error in the middle of an answer.
fn broke_off(error: &Value) -> ModelError {
    let kind = error["type"].as_str().unwrap_or_default();
    let is_transient = matches!(
        kind,
        "overloaded_error" | "api_error" | "rate_limit_error" | "timeout_error"
    );
    let problem = Problem {
        message: error["message"].as_str().or(Some(kind)),
        is_transient: Some(is_transient),
        ..Problem::default()
    };
    problem.error()
}
