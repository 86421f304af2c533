//! Anthropic's models, by the Messages API.

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

use std::sync::Arc;

use deskhand_core::{
    model::{ModelError, Pictures},
    secret::Secret,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::Response;
use serde_json::Value;

pub(crate) use self::route::{BedrockAccess, Route};
use self::{
    generation::Generation,
    offer::{Offer, Taken},
    sizes::Sight,
    stream::Answer,
};
use crate::{
    http::{self, NoAnswer, Problem, Refusal},
    space::Space,
    sse,
    talk::Begun,
    view::View,
    wire::{Asked, Wire},
};

/// The part before the slash in the names of Anthropic's models, and what answers are noted as.
pub(crate) const VENDOR: &str = "anthropic";

/// The longest edge of a picture that is taken however many there are.
const LONGEST_EDGE: u32 = 2000;

/// An account with somebody who has Anthropic's models.
#[derive(Debug)]
pub(crate) struct Anthropic {
    client: reqwest::Client,
    route: Route,
    taken: Taken,
}

impl Anthropic {
    pub(crate) fn new(client: reqwest::Client, route: Route) -> Self {
        Self {
            client,
            route,
            taken: Taken::default(),
        }
    }

    /// Asks, with less and less on offer until it is taken.
    async fn ask(&self, asked: &Asked) -> Result<(Response, Offer), ModelError> {
        let name = &asked.name;
        let mut offer = self.taken.offer(name);
        loop {
            let body = request::body(
                name,
                offer,
                self.route.largest_body(),
                &asked.request,
                &asked.said,
            );
            let request = self
                .route
                .request(&self.client, name, body, &offer.betas())
                .await?;
            match http::send(request).await {
                Ok(response) => {
                    self.taken.note(name, offer);
                    return Ok((response, offer));
                }
                Err(NoAnswer::Failed(error)) => return Err(error),
                Err(NoAnswer::Refused(refusal)) => match offer.after(&refusal) {
                    Some(less) => offer = less,
                    None => return Err(refused(&refusal)),
                },
            }
        }
    }
}

impl Wire for Anthropic {
    type Answer = Answer;

    fn vendor(&self) -> &str {
        self.route.vendor()
    }

    fn secrets(&self) -> Vec<Secret> {
        self.route.secrets()
    }

    fn view(&self, name: &str) -> View {
        view(name)
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<Answer>> {
        let begin = async move {
            let (response, offer) = self.ask(&asked).await?;
            let space = Space::picture(asked.request.screen, asked.request.shown);
            let answer = Answer::new(space, asked.name, offer.tools, asked.said);
            Ok((sse::of(response), answer))
        };
        begin.boxed()
    }
}

/// How Anthropic's models look at a screen.
pub(crate) fn view(name: &str) -> View {
    let generation = Generation::of(name);
    View {
        pictures: if generation.binds_thinking() {
            Pictures::All
        } else {
            Pictures::Newest
        },
        ..View::sized(match generation.sight() {
            Sight::Standard => |screen| sizes::shown(screen, Sight::Standard, LONGEST_EDGE),
            Sight::Sharp => |screen| sizes::shown(screen, Sight::Sharp, LONGEST_EDGE),
        })
    }
}

fn refused(refusal: &Refusal) -> ModelError {
    let problem = Problem {
        status: Some(refusal.status),
        message: refusal.told["error"]["message"]
            .as_str()
            // Amazon and Google have a voice of their own before it is Anthropic's turn.
            .or(refusal.told["message"].as_str()),
        is_transient: None,
        retry_after: refusal.retry_after,
    };
    problem.error()
}

/// What an error in the middle of an answer means.
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
