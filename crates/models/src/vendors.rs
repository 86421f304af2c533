//! The vendors that a server is set up for, and the settings that the others lack.

mod clouds;

use std::{sync::Arc, time::Duration};

use deskhand_core::secret::Secret;

use crate::{
    anthropic::{Anthropic, Route},
    chat::Chat,
    gemini::Gemini,
    http::{self, BaseUrl},
    openai::OpenAi,
    scripted,
    settings::{AccountSettings, ModelSettings, variables},
    wire::VendorAccount,
};

/// A vendor with its account, or with a message about the missing setting.
#[derive(Debug)]
pub(crate) struct Vendor {
    /// The part before the slash in the names of its models.
    pub(crate) name: String,
    pub(crate) account: Result<Arc<dyn VendorAccount>, String>,
    /// True if its settings have no other use than to reach its models.
    pub(crate) is_meant: bool,
}

/// An error in the settings.
#[derive(Debug, thiserror::Error)]
pub enum BadModelSettings {
    #[error("{vendor} cannot be at {url:?}: write http:// or https://, a host and a path")]
    BaseUrl { vendor: String, url: String },
    #[error(
        "a vendor cannot be named {0:?}: use a-z, 0-9 and -, beginning with a letter, and a name that is not taken"
    )]
    VendorName(String),
    #[error("the vendor {0} has no address: set its base URL")]
    NoBaseUrl(String),
    #[error("could not create an HTTP client")]
    Client(#[from] reqwest::Error),
}

pub(crate) const ANTHROPIC_URL: &str = "https://api.anthropic.com";
/// The base URL, including the API version.
pub(crate) const OPENAI_URL: &str = "https://api.openai.com/v1";
pub(crate) const GEMINI_URL: &str = "https://generativelanguage.googleapis.com";

/// A widely used vendor that speaks chat completions.
#[derive(Debug)]
pub(crate) struct UsualCompatible {
    pub(crate) name: &'static str,
    /// The base URL to use if none is configured.
    pub(crate) base_url: Option<&'static str>,
    needs_key: bool,
}

pub(crate) const USUAL_COMPATIBLE: &[UsualCompatible] = &[
    UsualCompatible {
        name: "openrouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        needs_key: true,
    },
    UsualCompatible {
        name: "ollama",
        base_url: Some("http://127.0.0.1:11434/v1"),
        needs_key: false,
    },
    UsualCompatible {
        name: "vllm",
        base_url: None,
        needs_key: false,
    },
    UsualCompatible {
        name: "litellm",
        base_url: None,
        needs_key: false,
    },
];

/// Returns all vendors, in the order in which the default model is chosen.
pub(crate) fn all(settings: &ModelSettings) -> Result<Vec<Vendor>, BadModelSettings> {
    let anthropic = keyed(
        "anthropic",
        &settings.anthropic,
        ANTHROPIC_URL,
        variables::ANTHROPIC_KEY,
        http::READ_TIMEOUT,
        |client, base_url, key| Arc::new(Anthropic::new(client, Route::Direct { base_url, key })),
    )?;
    let openai = keyed(
        "openai",
        &settings.openai,
        OPENAI_URL,
        variables::OPENAI_KEY,
        http::REASONING_TIMEOUT,
        |client, base_url, key| {
            let browser_tool = settings.openai.browser_tool;
            Arc::new(OpenAi::new(client, base_url, key, browser_tool))
        },
    )?;
    let gemini = keyed(
        "gemini",
        &settings.gemini,
        GEMINI_URL,
        variables::GEMINI_KEY,
        http::READ_TIMEOUT,
        |client, base_url, key| Arc::new(Gemini::new(client, base_url, key)),
    )?;
    let (bedrock, vertex) = (
        clouds::bedrock(&settings.bedrock)?,
        clouds::vertex(&settings.vertex)?,
    );
    let mut vendors = vec![anthropic, openai, gemini, bedrock, vertex];
    let taken: Vec<String> = vendors.iter().map(|vendor| vendor.name.clone()).collect();
    // Widely used servers are listed even if they are not configured.
    for usual in USUAL_COMPATIBLE {
        let nothing = AccountSettings::default();
        let account = settings.compatible.get(usual.name).unwrap_or(&nothing);
        vendors.push(usual_compatible(usual, account)?);
    }
    // Any other server needs a name of its own and a base URL.
    for (name, account) in &settings.compatible {
        let is_usual = USUAL_COMPATIBLE.iter().any(|usual| usual.name == name);
        if is_usual {
            continue;
        }
        if !is_name(name) || taken.contains(name) || name == scripted::VENDOR {
            return Err(BadModelSettings::VendorName(name.clone()));
        }
        let url = account.base_url.as_deref();
        let url = url.ok_or_else(|| BadModelSettings::NoBaseUrl(name.clone()))?;
        vendors.push(compatible(name, account, url)?);
    }
    Ok(vendors)
}

/// Returns a vendor that needs a key.
fn keyed(
    name: &str,
    settings: &AccountSettings,
    usual_url: &str,
    variable: &str,
    read_timeout: Duration,
    account: impl FnOnce(reqwest::Client, BaseUrl, Secret) -> Arc<dyn VendorAccount>,
) -> Result<Vendor, BadModelSettings> {
    let base_url = base_url(name, settings.base_url.as_deref().unwrap_or(usual_url))?;
    let account = match &settings.key {
        Some(key) => {
            let client = http::client_with_timeout(&base_url, read_timeout)?;
            Ok(account(client, base_url, key.clone()))
        }
        None => Err(format!("set {variable} to use it")),
    };
    Ok(Vendor {
        name: name.to_owned(),
        account,
        is_meant: true,
    })
}

fn usual_compatible(
    usual: &UsualCompatible,
    settings: &AccountSettings,
) -> Result<Vendor, BadModelSettings> {
    let url = settings.base_url.as_deref().or(usual.base_url);
    let is_elsewhere = settings.base_url.is_some();
    let missing = match url {
        None => Some(variables::base_url_of(usual.name)),
        Some(_) if usual.needs_key && settings.key.is_none() && !is_elsewhere => {
            Some(variables::key_of(usual.name))
        }
        Some(_) => None,
    };
    match (missing, url) {
        (Some(variable), _) => Ok(Vendor {
            name: usual.name.to_owned(),
            account: Err(format!("set {variable} to use it")),
            is_meant: true,
        }),
        (None, url) => compatible(usual.name, settings, url.unwrap_or_default()),
    }
}

fn compatible(
    name: &str,
    settings: &AccountSettings,
    url: &str,
) -> Result<Vendor, BadModelSettings> {
    let base_url = base_url(name, url)?;
    let client = http::client(&base_url)?;
    Ok(Vendor {
        name: name.to_owned(),
        account: Ok(Arc::new(Chat::new(name, client, base_url, settings))),
        is_meant: true,
    })
}

pub(crate) fn base_url(vendor: &str, url: &str) -> Result<BaseUrl, BadModelSettings> {
    BaseUrl::parse(url).ok_or_else(|| BadModelSettings::BaseUrl {
        vendor: vendor.to_owned(),
        url: url.to_owned(),
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.len() <= 40
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}
