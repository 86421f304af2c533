//! The services that Anthropic's models can be reached through.

use std::sync::Arc;

use deskhand_core::{clock::Clock, model::ModelError, secret::Secret};
use reqwest::{RequestBuilder, Url, header};
use serde_json::Value;

use super::VENDOR;
use crate::{
    aws::{Keys, Scope},
    google::Credentials,
    http::{self, BaseUrl},
};

/// The version of the API.
const API_VERSION: &str = "2023-06-01";
/// The version at Google, where it is part of the body.
const VERTEX_VERSION: &str = "vertex-2023-10-16";
/// Amazon's name of the service that speaks Anthropic's API.
const BEDROCK_SERVICE: &str = "bedrock-mantle";

/// The service to call, and the credentials for it.
#[derive(Debug)]
pub(crate) enum Route {
    /// Anthropic itself, or another server that speaks its API.
    Direct { base_url: BaseUrl, key: Secret },
    /// Amazon Bedrock.
    Bedrock {
        base_url: BaseUrl,
        region: String,
        access: BedrockAccess,
        clock: Arc<dyn Clock>,
    },
    /// Google Vertex AI.
    Vertex {
        base_url: BaseUrl,
        project: String,
        region: String,
        credentials: Credentials,
    },
}

/// Credentials for Amazon.
#[derive(Debug)]
pub(crate) enum BedrockAccess {
    Token(Secret),
    Keys(Keys),
}

impl Route {
    /// Returns the part before the slash in the names of this service's models.
    pub(super) fn vendor(&self) -> &'static str {
        match self {
            Self::Direct { .. } => VENDOR,
            Self::Bedrock { .. } => "bedrock",
            Self::Vertex { .. } => "vertex",
        }
    }

    /// Returns the secrets that must not appear in any message.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Direct { key, .. } => vec![key.clone()],
            Self::Bedrock { access, .. } => match access {
                BedrockAccess::Token(token) => vec![token.clone()],
                BedrockAccess::Keys(keys) => {
                    let Keys {
                        access_key,
                        secret_key,
                        session_token,
                    } = keys.clone();
                    let token = session_token.into_iter();
                    [access_key, secret_key].into_iter().chain(token).collect()
                }
            },
            Self::Vertex { credentials, .. } => credentials.secrets(),
        }
    }

    /// Returns the maximum size of a request, in bytes.
    pub(super) fn largest_body(&self) -> usize {
        match self {
            Self::Direct { .. } => 30_000_000,
            Self::Bedrock { .. } => 11_000_000,
            Self::Vertex { .. } => 18_000_000,
        }
    }

    /// Builds a request that is ready to be sent.
    pub(super) async fn request(
        &self,
        client: &reqwest::Client,
        model: &str,
        mut body: Value,
        betas: &[&str],
    ) -> Result<RequestBuilder, ModelError> {
        let request = match self {
            Self::Direct { base_url, key } => {
                body["model"] = model.into();
                client
                    .post(base_url.at("/v1/messages"))
                    .header("x-api-key", key.expose())
                    .header("anthropic-version", API_VERSION)
                    .body(body.to_string())
            }
            Self::Bedrock {
                base_url,
                region,
                access,
                clock,
            } => {
                body["model"] = model.into();
                let (url, body) = (base_url.at("/v1/messages"), body.to_string());
                let request = client.post(&url).header("anthropic-version", API_VERSION);
                let request = match access {
                    BedrockAccess::Token(token) => request.bearer_auth(token.expose()),
                    BedrockAccess::Keys(keys) => {
                        let scope = Scope {
                            region,
                            service: BEDROCK_SERVICE,
                            at: clock.now(),
                        };
                        signed(request, keys, scope, &url, &body)?
                    }
                };
                request.body(body)
            }
            Self::Vertex {
                base_url,
                project,
                region,
                credentials,
            } => {
                body["anthropic_version"] = VERTEX_VERSION.into();
                let path = format!(
                    "/projects/{}/locations/{}/publishers/anthropic/models/{}:streamRawPredict",
                    http::segment(project),
                    http::segment(region),
                    http::segment(model),
                );
                let token = credentials.token(client).await?;
                client
                    .post(base_url.at(&path))
                    .bearer_auth(token.expose())
                    .body(body.to_string())
            }
        };
        let request = if betas.is_empty() {
            request
        } else {
            request.header("anthropic-beta", betas.join(","))
        };
        Ok(request.header(header::CONTENT_TYPE, "application/json"))
    }
}

fn signed(
    request: RequestBuilder,
    keys: &Keys,
    scope: Scope<'_>,
    url: &str,
    body: &str,
) -> Result<RequestBuilder, ModelError> {
    let url = Url::parse(url).map_err(|error| ModelError::Rejected(error.to_string()))?;
    let headers = keys.headers(scope, "POST", &url, body.as_bytes());
    let add = |request: RequestBuilder, (name, value)| request.header(name, value);
    Ok(headers.into_iter().fold(request, add))
}
