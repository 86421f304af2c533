//! Settings of the vendors.

use std::{collections::BTreeMap, path::PathBuf};

use deskhand_core::{model::Price, secret::Secret};

/// Everything that is needed to reach models. All of it is optional.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// The folder of the scripted models' scenarios, as `NAME.yaml`.
    pub scenario_dir: Option<PathBuf>,
    /// The model of sessions that do not choose one, as `vendor/name`.
    pub default_model: Option<String>,
    pub anthropic: AccountSettings,
    pub openai: AccountSettings,
    pub gemini: AccountSettings,
    /// Vendors that speak chat completions, by the part before the slash in their models' names.
    pub compatible: BTreeMap<String, AccountSettings>,
    pub bedrock: BedrockSettings,
    pub vertex: VertexSettings,
    /// Prices by `vendor/name`. They count before those of the table.
    pub prices: BTreeMap<String, Price>,
}

/// An account with a vendor.
#[derive(Debug, Clone, Default)]
pub struct AccountSettings {
    pub key: Option<Secret>,
    /// The base URL, if it is not the vendor's usual one.
    pub base_url: Option<String>,
    /// The form in which the browser is offered. Anthropic and Google always have their own.
    pub browser_tool: BrowserTool,
    /// The unit of points, for vendors that speak chat completions.
    pub coordinates: Coordinates,
    /// The window of its models in tokens, for vendors that speak chat completions. `None` if it is not known.
    pub context_tokens: Option<u64>,
}

/// The unit in which models point at pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// The unit that a model of this name is known to use.
    #[default]
    ByName,
    /// Pixels of the picture.
    Pixels,
    /// Thousandths of the picture's width and height.
    Thousandths,
}

/// The form in which a session's browser is offered to models that get no screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BrowserTool {
    /// The vendor's own browser tool, or a function `browser` if it has none.
    #[default]
    Vendor,
    /// A function `computer` with an `action`, whose results are a picture and an address.
    ComputerFunction,
}

/// Anthropic's models at Amazon.
#[derive(Debug, Clone, Default)]
pub struct BedrockSettings {
    pub region: Option<String>,
    /// Takes precedence over the keys below.
    pub bearer_token: Option<Secret>,
    pub access_key: Option<Secret>,
    pub secret_key: Option<Secret>,
    /// The session token of temporary keys.
    pub session_token: Option<Secret>,
    pub base_url: Option<String>,
}

/// Anthropic's models at Google.
#[derive(Debug, Clone, Default)]
pub struct VertexSettings {
    pub project: Option<String>,
    pub region: Option<String>,
    /// The key file of a service account, in Google's format.
    pub service_account: Option<PathBuf>,
    /// Takes precedence over the file. It is not renewed.
    pub access_token: Option<Secret>,
    pub base_url: Option<String>,
}

/// The environment variables that vendors' own programs read.
pub(crate) mod variables {
    pub(crate) const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
    pub(crate) const OPENAI_KEY: &str = "OPENAI_API_KEY";
    pub(crate) const GEMINI_KEY: &str = "GEMINI_API_KEY";
    pub(crate) const BEDROCK_TOKEN: &str = "AWS_BEARER_TOKEN_BEDROCK";
    pub(crate) const AWS_REGION: &str = "AWS_REGION";
    pub(crate) const AWS_ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";
    pub(crate) const AWS_SECRET_KEY: &str = "AWS_SECRET_ACCESS_KEY";
    pub(crate) const VERTEX_PROJECT: &str = "ANTHROPIC_VERTEX_PROJECT_ID";
    pub(crate) const VERTEX_REGION: &str = "CLOUD_ML_REGION";
    pub(crate) const GOOGLE_CREDENTIALS: &str = "GOOGLE_APPLICATION_CREDENTIALS";
    pub(crate) const GOOGLE_TOKEN: &str = "GOOGLE_OAUTH_ACCESS_TOKEN";

    /// Returns the variable with the key of a vendor that speaks chat completions.
    pub(crate) fn key_of(vendor: &str) -> String {
        format!("{}_API_KEY", capitals(vendor))
    }

    pub(crate) fn base_url_of(vendor: &str) -> String {
        format!("{}_BASE_URL", capitals(vendor))
    }

    fn capitals(vendor: &str) -> String {
        vendor.to_ascii_uppercase().replace('-', "_")
    }
}

impl ModelSettings {
    /// Fills in missing settings from the environment variables that vendors' own programs read.
    ///
    /// Empty variables count as missing.
    #[must_use]
    pub fn or_from_environment(mut self, variable: impl Fn(&str) -> Option<String>) -> Self {
        use variables as names;

        let text = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let secret = |name: &str| text(name).map(Secret::new);
        let fill = |account: &mut AccountSettings, key: &str, base_url: &str| {
            account.key = account.key.take().or_else(|| secret(key));
            account.base_url = account.base_url.take().or_else(|| text(base_url));
        };
        // Vendors with an API of their own.
        fill(
            &mut self.anthropic,
            names::ANTHROPIC_KEY,
            "ANTHROPIC_BASE_URL",
        );
        fill(&mut self.openai, names::OPENAI_KEY, "OPENAI_BASE_URL");
        fill(&mut self.gemini, names::GEMINI_KEY, "GEMINI_BASE_URL");
        let google = || secret("GOOGLE_API_KEY");
        self.gemini.key = self.gemini.key.take().or_else(google);
        // Servers that speak chat completions.
        for vendor in crate::vendors::USUAL_COMPATIBLE {
            self.compatible.entry(vendor.name.to_owned()).or_default();
        }
        for (vendor, account) in &mut self.compatible {
            let (key, base_url) = (names::key_of(vendor), names::base_url_of(vendor));
            fill(account, &key, &base_url);
        }
        // Anthropic's models at Amazon and at Google.
        let bedrock = &mut self.bedrock;
        let region = || text(names::AWS_REGION).or_else(|| text("AWS_DEFAULT_REGION"));
        bedrock.region = bedrock.region.take().or_else(region);
        let or = |given: &mut Option<Secret>, name| *given = given.take().or_else(|| secret(name));
        or(&mut bedrock.bearer_token, names::BEDROCK_TOKEN);
        or(&mut bedrock.access_key, names::AWS_ACCESS_KEY);
        or(&mut bedrock.secret_key, names::AWS_SECRET_KEY);
        or(&mut bedrock.session_token, "AWS_SESSION_TOKEN");
        let bedrock_url = || text("ANTHROPIC_BEDROCK_BASE_URL");
        bedrock.base_url = bedrock.base_url.take().or_else(bedrock_url);
        let vertex = &mut self.vertex;
        vertex.project = vertex
            .project
            .take()
            .or_else(|| text(names::VERTEX_PROJECT));
        vertex.region = vertex.region.take().or_else(|| text(names::VERTEX_REGION));
        let file = || text(names::GOOGLE_CREDENTIALS).map(PathBuf::from);
        vertex.service_account = vertex.service_account.take().or_else(file);
        or(&mut vertex.access_token, names::GOOGLE_TOKEN);
        let vertex_url = || text("ANTHROPIC_VERTEX_BASE_URL");
        vertex.base_url = vertex.base_url.take().or_else(vertex_url);
        self
    }
}
