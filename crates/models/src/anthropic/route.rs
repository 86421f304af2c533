//! The ways on which Anthropic's models are reached.

use deskhand_core::{model::ModelError, secret::Secret};
use reqwest::{RequestBuilder, header};
use serde_json::Value;

use super::VENDOR;
use crate::http::BaseUrl;

/// The version of the API.
const API_VERSION: &str = "2023-06-01";

/// Who is asked, and how it is told who asks.
#[derive(Debug)]
pub(crate) enum Route {
    /// Anthropic itself, or somebody who speaks like them.
    Direct { base_url: BaseUrl, key: Secret },
}

impl Route {
    /// The part before the slash in the names of the models there.
    pub(super) fn vendor(&self) -> &'static str {
        match self {
            Self::Direct { .. } => VENDOR,
        }
    }

    pub(super) fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Direct { key, .. } => vec![key.clone()],
        }
    }

    /// How big a request may be.
    pub(super) fn largest_body(&self) -> usize {
        match self {
            Self::Direct { .. } => 30_000_000,
        }
    }

    /// A request, ready to be sent.
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
            }
        };
        let request = if betas.is_empty() {
            request
        } else {
            request.header("anthropic-beta", betas.join(","))
        };
        Ok(request
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.to_string()))
    }
}
