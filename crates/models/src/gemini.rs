//! Google's Gemini models, by generateContent.

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

/// The part before the slash in the names of Google's models.
pub(crate) const VENDOR: &str = "gemini";

/// An account with Google.
#[derive(Debug)]
pub(crate) struct Gemini {
    client: reqwest::Client,
    /// Without a slash at its end.
    base_url: String,
    key: Secret,
}

impl Gemini {
    pub(crate) fn new(client: reqwest::Client, base_url: &str, key: Secret) -> Self {
        Self {
            client,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
        }
    }

    pub(crate) fn model(self: &Arc<Self>, name: &str) -> Arc<dyn Model> {
        Arc::new(GeminiModel {
            account: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    async fn ask(
        &self,
        name: &str,
        request: &ModelRequest,
    ) -> Result<reqwest::Response, ModelError> {
        let url = format!(
            "{}/v1beta/models/{name}:streamGenerateContent?alt=sse",
            self.base_url
        );
        let asked = self
            .client
            .post(url)
            .header("x-goog-api-key", self.key.expose())
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
struct GeminiModel {
    account: Arc<Gemini>,
    name: String,
}

impl Model for GeminiModel {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let (account, name) = (Arc::clone(&self.account), self.name.clone());
        let request = Arc::new(request);
        talk::chunks(move |_| {
            let (account, name) = (Arc::clone(&account), name.clone());
            let request = Arc::clone(&request);
            let begin = async move {
                let response = account.ask(&name, &request).await?;
                let answer = Answer::new(Space::thousandths(request.screen));
                Ok((sse::events(response.bytes_stream()), answer))
            };
            begin.boxed()
        })
    }
}

/// What an error of Google's means.
fn problem(status: Option<StatusCode>, error: &Value, retry_after: Option<Duration>) -> ModelError {
    let code = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let status = status.or_else(|| StatusCode::from_u16(code?).ok());
    let told = error["message"].as_str().filter(|told| !told.is_empty());
    let message = told
        .map(str::to_owned)
        .or(status.map(|status| status.to_string()));
    let message = message.unwrap_or_else(|| "it failed".to_owned());
    if status.is_some_and(http::is_transient) {
        ModelError::Unavailable {
            message,
            retry_after,
        }
    } else {
        ModelError::Rejected(message)
    }
}
