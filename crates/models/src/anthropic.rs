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
    time::Duration,
};

use deskhand_core::{
    action::ScreenSize,
    model::{Chunk, Model, ModelError, ModelRequest},
    secret::Secret,
};
use futures::{FutureExt, stream::BoxStream};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use self::{
    generation::{Generation, ToolVersion},
    stream::Answer,
};
use crate::{http, space::Space, sse, talk};

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
    /// Without a slash at its end.
    base_url: String,
    key: Secret,
    /// The form of the computer that each model has taken last.
    taken: Mutex<HashMap<String, ToolVersion>>,
}

impl Anthropic {
    pub(crate) fn new(client: reqwest::Client, base_url: &str, key: Secret) -> Self {
        Self {
            client,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
            taken: Mutex::default(),
        }
    }

    pub(crate) fn model(self: &Arc<Self>, name: &str) -> Arc<dyn Model> {
        Arc::new(AnthropicModel {
            account: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    /// Asks, with older and older forms of the computer until one is taken.
    async fn ask(
        &self,
        name: &str,
        request: &ModelRequest,
        said: &[Value],
    ) -> Result<(Response, ToolVersion), ModelError> {
        let mut version = self.version_for(name);
        loop {
            let body = request::body(name, version, request, said);
            let mut asked = self
                .client
                .post(format!("{}/v1/messages", self.base_url))
                .header("anthropic-version", API_VERSION)
                .header("x-api-key", self.key.expose())
                .json(&body);
            if let Some(beta) = version.beta() {
                asked = asked.header("anthropic-beta", beta);
            }
            let response = asked
                .send()
                .await
                .map_err(|error| http::no_answer(&error))?;
            let status = response.status();
            if status.is_success() {
                self.note(name, version);
                return Ok((response, version));
            }
            let retry_after = http::retry_after(&response);
            let told: Value = response.json().await.unwrap_or_default();
            match version.older() {
                Some(older) if is_about_tools(status, &told["error"]) => version = older,
                _ => return Err(problem(Some(status), &told["error"], retry_after)),
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

#[derive(Debug)]
struct AnthropicModel {
    account: Arc<Anthropic>,
    name: String,
}

impl Model for AnthropicModel {
    fn shown(&self, native: ScreenSize) -> ScreenSize {
        sizes::shown(native, Generation::of(&self.name).sight(), LONGEST_EDGE)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let (account, name) = (Arc::clone(&self.account), self.name.clone());
        let request = Arc::new(request);
        talk::chunks(move |said| {
            let (account, name) = (Arc::clone(&account), name.clone());
            let request = Arc::clone(&request);
            let begin = async move {
                let (response, version) = account.ask(&name, &request, &said).await?;
                let space = Space::picture(request.screen, request.shown);
                let answer = Answer::new(space, version, said);
                Ok((sse::events(response.bytes_stream()), answer))
            };
            begin.boxed()
        })
    }
}

/// Whether a refusal is about the form of a tool, so that another may be taken.
fn is_about_tools(status: StatusCode, error: &Value) -> bool {
    let told = error["message"].as_str().unwrap_or_default();
    status == StatusCode::BAD_REQUEST
        && (told.contains("tool type") || told.contains("computer_") || told.contains("tools."))
}

/// What an error of Anthropic's means.
fn problem(status: Option<StatusCode>, error: &Value, retry_after: Option<Duration>) -> ModelError {
    let kind = error["type"].as_str().unwrap_or_default();
    let told = error["message"].as_str().filter(|told| !told.is_empty());
    let status_text = status.map(|status| status.to_string());
    let message = told
        .map(str::to_owned)
        .or(status_text)
        .unwrap_or_else(|| kind.to_owned());
    let is_transient = match status {
        Some(status) => http::is_transient(status),
        None => matches!(
            kind,
            "overloaded_error" | "api_error" | "rate_limit_error" | "timeout_error"
        ),
    };
    if is_transient {
        ModelError::Unavailable {
            message,
            retry_after,
        }
    } else {
        ModelError::Rejected(message)
    }
}
