//! Models behind chat completions: Ollama, vLLM, LiteLLM, OpenRouter and others that speak as OpenAI once did.

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

/// What answers are noted as, whoever gave them.
const VENDOR: &str = "chat";

/// Somebody who answers chat completions.
#[derive(Debug)]
pub(crate) struct Chat {
    client: reqwest::Client,
    /// With its version, without a slash at its end.
    base_url: String,
    /// A server of one's own may need none.
    key: Option<Secret>,
}

impl Chat {
    pub(crate) fn new(client: reqwest::Client, base_url: &str, key: Option<Secret>) -> Self {
        Self {
            client,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
        }
    }

    pub(crate) fn model(self: &Arc<Self>, name: &str) -> Arc<dyn Model> {
        Arc::new(ChatModel {
            account: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    async fn ask(
        &self,
        name: &str,
        request: &ModelRequest,
    ) -> Result<reqwest::Response, ModelError> {
        let mut asked = self
            .client
            .post(format!("{}/chat/completions", self.base_url))
            .json(&request::body(name, request));
        if let Some(key) = &self.key {
            asked = asked.bearer_auth(key.expose());
        }
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
struct ChatModel {
    account: Arc<Chat>,
    name: String,
}

impl Model for ChatModel {
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

/// What an error means. Some tell it as text alone.
fn problem(status: Option<StatusCode>, error: &Value, retry_after: Option<Duration>) -> ModelError {
    let told = error["message"].as_str().or(error.as_str());
    let told = told.filter(|told| !told.is_empty()).map(str::to_owned);
    let message = told.or(status.map(|status| status.to_string()));
    let message = message.unwrap_or_else(|| "it failed".to_owned());
    let code = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let status = status.or_else(|| StatusCode::from_u16(code?).ok());
    if status.is_none_or(http::is_transient) {
        ModelError::Unavailable {
            message,
            retry_after,
        }
    } else {
        ModelError::Rejected(message)
    }
}
