//! OpenAI's models, by the Responses API.

mod calls;
mod request;
mod stream;

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    model::{Chunk, Model, ModelError, ModelRequest},
    secret::Secret,
};
use futures::{FutureExt, stream::BoxStream};
use reqwest::StatusCode;
use serde_json::Value;

use self::stream::Answer;
use crate::{http, space::Space, sse, talk};

/// The part before the slash in the names of OpenAI's models.
pub(crate) const VENDOR: &str = "openai";

/// An account with OpenAI.
#[derive(Debug)]
pub(crate) struct OpenAi {
    client: reqwest::Client,
    /// With its version, without a slash at its end.
    base_url: String,
    key: Secret,
}

impl OpenAi {
    pub(crate) fn new(client: reqwest::Client, base_url: &str, key: Secret) -> Self {
        Self {
            client,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
        }
    }

    pub(crate) fn model(self: &Arc<Self>, name: &str) -> Arc<dyn Model> {
        Arc::new(OpenAiModel {
            account: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    async fn ask(
        &self,
        name: &str,
        request: &ModelRequest,
    ) -> Result<reqwest::Response, ModelError> {
        let asked = self
            .client
            .post(format!("{}/responses", self.base_url))
            .bearer_auth(self.key.expose())
            .json(&request::body(name, request));
        let response = asked
            .send()
            .await
            .map_err(|error| http::no_answer(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = http::retry_after(&response);
        let told: Value = response.json().await.unwrap_or_default();
        Err(problem(Some(status), &told["error"], retry_after))
    }
}

#[derive(Debug)]
struct OpenAiModel {
    account: Arc<OpenAi>,
    name: String,
}

impl Model for OpenAiModel {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let (account, name) = (Arc::clone(&self.account), self.name.clone());
        let request = Arc::new(request);
        talk::chunks(move |_| {
            let (account, name) = (Arc::clone(&account), name.clone());
            let request = Arc::clone(&request);
            let begin = async move {
                let response = account.ask(&name, &request).await?;
                let answer = Answer::new(Space::picture(request.screen, request.shown));
                Ok((sse::events(response.bytes_stream()), answer))
            };
            begin.boxed()
        })
    }
}

/// What an error of OpenAI's means.
fn problem(status: Option<StatusCode>, error: &Value, retry_after: Option<Duration>) -> ModelError {
    let code = error["code"]
        .as_str()
        .or(error["type"].as_str())
        .unwrap_or_default();
    let told = error["message"].as_str().filter(|told| !told.is_empty());
    let status_text = status.map(|status| status.to_string());
    let message = told
        .map(str::to_owned)
        .or(status_text)
        .unwrap_or_else(|| code.to_owned());
    let is_transient = match status {
        // An account without money does not get better by waiting.
        Some(_) if code == "insufficient_quota" => false,
        Some(status) => http::is_transient(status),
        None => matches!(
            code,
            "server_error"
                | "rate_limit_exceeded"
                | "slow_down"
                | "overloaded"
                | "vector_store_timeout"
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
