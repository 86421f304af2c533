//! Anthropic's models at Amazon and Google.

use std::sync::Arc;

use deskhand_core::clock::SystemClock;

use super::{BadModelSettings, Vendor, base_url};
use crate::{
    anthropic::{Anthropic, BedrockAccess, Route},
    aws::Keys,
    google::{Credentials, ServiceAccount},
    http,
    settings::{BedrockSettings, VertexSettings, variables},
    wire::VendorAccount,
};

pub(super) fn bedrock(settings: &BedrockSettings) -> Result<Vendor, BadModelSettings> {
    let access = match settings {
        BedrockSettings {
            bearer_token: Some(token),
            ..
        } => Some(BedrockAccess::Token(token.clone())),
        BedrockSettings {
            access_key: Some(access_key),
            secret_key: Some(secret_key),
            session_token,
            ..
        } => Some(BedrockAccess::Keys(Keys {
            access_key: access_key.clone(),
            secret_key: secret_key.clone(),
            session_token: session_token.clone(),
        })),
        BedrockSettings { .. } => None,
    };
    let account = match (access, &settings.region) {
        (None, _) => Err(format!(
            "set {}, or {} and {}, to use it",
            variables::BEDROCK_TOKEN,
            variables::AWS_ACCESS_KEY,
            variables::AWS_SECRET_KEY
        )),
        (Some(_), None) => Err(format!("set {} to use it", variables::AWS_REGION)),
        (Some(access), Some(region)) => {
            let usual = format!("https://bedrock-mantle.{region}.api.aws/anthropic");
            let base_url = base_url("bedrock", settings.base_url.as_deref().unwrap_or(&usual))?;
            let client = http::client(&base_url)?;
            let route = Route::Bedrock {
                base_url,
                region: region.clone(),
                access,
                clock: Arc::new(SystemClock),
            };
            Ok(Arc::new(Anthropic::new(client, route)) as Arc<dyn VendorAccount>)
        }
    };
    Ok(Vendor {
        name: "bedrock".to_owned(),
        account,
        // Keys for Amazon are often set for other reasons.
        is_meant: settings.bearer_token.is_some(),
    })
}

pub(super) fn vertex(settings: &VertexSettings) -> Result<Vendor, BadModelSettings> {
    let account = match (&settings.project, &settings.region, credentials(settings)) {
        (None, ..) => Err(format!("set {} to use it", variables::VERTEX_PROJECT)),
        (_, None, _) => Err(format!("set {} to use it", variables::VERTEX_REGION)),
        (_, _, Err(problem)) => Err(problem),
        (Some(project), Some(region), Ok(credentials)) => {
            let usual = vertex_url(region);
            let base_url = base_url("vertex", settings.base_url.as_deref().unwrap_or(&usual))?;
            let client = http::client(&base_url)?;
            let route = Route::Vertex {
                base_url,
                project: project.clone(),
                region: region.clone(),
                credentials,
            };
            Ok(Arc::new(Anthropic::new(client, route)) as Arc<dyn VendorAccount>)
        }
    };
    Ok(Vendor {
        name: "vertex".to_owned(),
        account,
        is_meant: true,
    })
}

/// Returns Google's base URL for a region, a group of regions, or all of them.
fn vertex_url(region: &str) -> String {
    match region {
        "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
        "us" | "eu" => format!("https://aiplatform.{region}.rep.googleapis.com/v1"),
        region => format!("https://{region}-aiplatform.googleapis.com/v1"),
    }
}

fn credentials(settings: &VertexSettings) -> Result<Credentials, String> {
    if let Some(token) = &settings.access_token {
        return Ok(Credentials::Token(token.clone()));
    }
    let Some(path) = &settings.service_account else {
        return Err(format!(
            "set {} to the file of a service account's key to use it",
            variables::GOOGLE_CREDENTIALS
        ));
    };
    let account = ServiceAccount::read(path, Arc::new(SystemClock));
    account
        .map(|account| Credentials::Account(Box::new(account)))
        .map_err(|problem| format!("{} is needed to use it, but {problem}", path.display()))
}
