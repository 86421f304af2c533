//! Anthropic's models, by the Messages API.

mod calls;
mod generation;
mod request;
#[cfg(test)]
mod request_tests;
mod sizes;
mod stream;
#[cfg(test)]
mod stream_tests;
mod tools;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::{
    action::ScreenSize,
    model::{ModelError, Pictures},
    secret::Secret,
};
use futures::{FutureExt, future::BoxFuture};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use self::{
    generation::{Generation, ToolVersion},
    stream::Answer,
};
use crate::{
    http::{self, BaseUrl, NoAnswer, Problem, Refusal},
    space::Space,
    sse,
    talk::Begun,
    wire::{Asked, Wire},
};

/// The part before the slash in the names of Anthropic's models.
pub(crate) const VENDOR: &str = "anthropic";

/// The version of the API.
const API_VERSION: &str = "2023-06-01";
/// The longest edge of a picture that is taken however many there are.
const LONGEST_EDGE: u32 = 2000;

/// An account with Anthropic, or with somebody who speaks like them.
#[derive(Debug)]
pub(crate) struct Anthropic {
    client: reqwest::Client,
    base_url: BaseUrl,
    key: Secret,
    /// The form of the computer that each model has taken last.
    taken: Mutex<HashMap<String, ToolVersion>>,
}

impl Anthropic {
    pub(crate) fn new(client: reqwest::Client, base_url: BaseUrl, key: Secret) -> Self {
        Self {
            client,
            base_url,
            key,
            taken: Mutex::default(),
        }
    }

    /// Asks, with older and older forms of the computer until one is taken.
    async fn ask(&self, asked: &Asked) -> Result<(Response, ToolVersion), ModelError> {
        let name = &asked.name;
        let mut version = self.version_for(name);
        loop {
            let body = request::body(name, version, &asked.request, &asked.said);
            let mut request = self
                .client
                .post(self.base_url.at("/v1/messages"))
                .header("anthropic-version", API_VERSION)
                .header("x-api-key", self.key.expose())
                .json(&body);
            if let Some(beta) = version.beta() {
                request = request.header("anthropic-beta", beta);
            }
            match http::send(request).await {
                Ok(response) => {
                    self.note(name, version);
                    return Ok((response, version));
                }
                Err(NoAnswer::Failed(error)) => return Err(error),
                Err(NoAnswer::Refused(refusal)) => match version.older() {
                    Some(older) if is_about_tools(&refusal) => version = older,
                    _ => return Err(refused(&refusal)),
                },
            }
        }
    }

    fn version_for(&self, name: &str) -> ToolVersion {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let known = taken.get(name).copied();
        known.unwrap_or_else(|| Generation::of(name).newest_tools())
    }

    fn note(&self, name: &str, version: ToolVersion) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(name.to_owned(), version);
    }
}

impl Wire for Anthropic {
    type Answer = Answer;

    fn vendor(&self) -> &str {
        VENDOR
    }

    fn secrets(&self) -> Vec<Secret> {
        vec![self.key.clone()]
    }

    fn shown(&self, name: &str, screen: ScreenSize) -> ScreenSize {
        sizes::shown(screen, Generation::of(name).sight(), LONGEST_EDGE)
    }

    fn pictures(&self, name: &str) -> Pictures {
        if Generation::of(name).binds_thinking() {
            Pictures::All
        } else {
            Pictures::Newest
        }
    }

    fn begin(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Begun<Answer>> {
        let begin = async move {
            let (response, version) = self.ask(&asked).await?;
            let space = Space::picture(asked.request.screen, asked.request.shown);
            let answer = Answer::new(space, version, asked.said);
            Ok((sse::events(response.bytes_stream()), answer))
        };
        begin.boxed()
    }
}

/// Whether a refusal is about the form of a tool, so that another may be taken.
fn is_about_tools(refusal: &Refusal) -> bool {
    let told = refusal.told["error"]["message"].as_str();
    let told = told.unwrap_or_default();
    refusal.status == StatusCode::BAD_REQUEST
        && (told.contains("tool type") || told.contains("computer_") || told.contains("tools."))
}

fn refused(refusal: &Refusal) -> ModelError {
    let problem = Problem {
        status: Some(refusal.status),
        message: refusal.told["error"]["message"].as_str(),
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
