//! Gives programs in sandboxes access to the vendors: each behind the paths of its own API, with our key.
//!
//! The gateway reads a request completely before it passes it on, because it checks and counts requests. An answer
//! passes through as it arrives.

mod fields;
mod headers;
mod json;
mod meter;
mod pass;
mod paths;
mod place;
mod read;
mod refuse;

use std::sync::LazyLock;

use bytes::Bytes;
use deskhand_core::{
    gateway::{
        GatewayAnswer, GatewayCall, GatewayRefusal, GatewayRefusalKind, GatewayRequest,
        ModelGateway,
    },
    secret::Secret,
};

use self::{
    json::Fields,
    pass::Passage,
    paths::{Api, Dialect},
    read::CheckedRequest,
};
use crate::{
    anthropic, gemini,
    http::{self, BaseUrl},
    openai,
    price_table::PRICE_TABLE,
    prices::{self, Prices},
    settings::{AccountSettings, ModelSettings},
    vendors::{self, BadModelSettings, USUAL_COMPATIBLE},
};

/// The maximum length of a model's name, in bytes.
const LONGEST_NAME: usize = 200;

/// The vendors that programs in sandboxes may call.
#[derive(Debug)]
pub struct VendorGateway {
    accounts: Vec<GatewayAccount>,
    prices: Prices,
}

/// An account with a vendor.
#[derive(Debug, Clone)]
struct GatewayAccount {
    /// The part before the slash in the names of its models.
    vendor: String,
    client: reqwest::Client,
    base_url: BaseUrl,
    key: Option<Secret>,
}

impl VendorGateway {
    /// Uses all vendors that have a key, and self-hosted servers that were configured explicitly.
    pub fn new(settings: &ModelSettings) -> Result<Self, BadModelSettings> {
        // The table is read now, not while the first request is.
        LazyLock::force(&PRICE_TABLE);
        let mut accounts = Vec::new();
        for (vendor, account, usual_url) in [
            (
                anthropic::VENDOR,
                &settings.anthropic,
                vendors::ANTHROPIC_URL,
            ),
            (openai::VENDOR, &settings.openai, vendors::OPENAI_URL),
            (gemini::VENDOR, &settings.gemini, vendors::GEMINI_URL),
        ] {
            if account.key.is_some() {
                accounts.push(GatewayAccount::new(vendor, account, usual_url)?);
            }
        }
        for (vendor, account) in &settings.compatible {
            let usual = USUAL_COMPATIBLE.iter().find(|usual| usual.name == vendor);
            let url = account.base_url.as_deref();
            let url = url.or_else(|| usual?.base_url.filter(|_| account.key.is_some()));
            if let Some(url) = url {
                accounts.push(GatewayAccount::new(vendor, account, url)?);
            }
        }
        Ok(Self {
            accounts,
            prices: Prices::new(settings.prices.clone()),
        })
    }

    fn account(&self, vendor: &str) -> Option<&GatewayAccount> {
        let mut accounts = self.accounts.iter();
        accounts.find(|account| account.vendor == vendor)
    }

    /// Returns the account that a model belongs to, and the model's name there.
    ///
    /// The part before the slash tells the servers that speak chat completions apart.
    fn find<'a>(
        &self,
        api: &Api,
        name: &'a str,
    ) -> Result<(&GatewayAccount, &'a str), GatewayRefusal> {
        let dialect = api.dialect();
        if dialect == Dialect::Chat
            && let Some((vendor, name)) = name.split_once('/')
            && ![anthropic::VENDOR, openai::VENDOR, gemini::VENDOR].contains(&vendor)
            && let Some(account) = self.account(vendor)
        {
            return Ok((account, name));
        }
        let vendor = dialect.vendor();
        let account = self.account(vendor).ok_or_else(|| {
            let problem = format!("there is no key for {vendor} on this server");
            GatewayRefusal::new(GatewayRefusalKind::Request, problem)
        })?;
        Ok((account, name))
    }
}

impl GatewayAccount {
    fn new(vendor: &str, settings: &AccountSettings, url: &str) -> Result<Self, BadModelSettings> {
        let url = settings.base_url.as_deref().unwrap_or(url);
        let base_url = vendors::base_url(vendor, url)?;
        Ok(Self {
            vendor: vendor.to_owned(),
            client: http::client_with_timeout(&base_url, pass::READ_TIMEOUT)?,
            base_url,
            key: settings.key.clone(),
        })
    }

    /// Checks the tools for a server that is compatible with OpenAI's. Such servers know tools of their own that reach
    /// the network, so only functions are passed on.
    fn check_tools(&self, asked: &CheckedRequest) -> Result<(), String> {
        let is_compatible =
            ![anthropic::VENDOR, openai::VENDOR, gemini::VENDOR].contains(&&*self.vendor);
        match &asked.other_tool {
            Some(kind) if is_compatible => Err(format!(
                "the gateway passes on only functions to {}, not the tool {kind:?}",
                self.vendor
            )),
            _ => Ok(()),
        }
    }
}

impl ModelGateway for VendorGateway {
    fn variables(&self, address: &str, token: &Secret) -> Vec<(String, Secret)> {
        let mut variables = Vec::new();
        let mut add = |names: &[&str], value: &str| {
            let value = |name: &&str| ((*name).to_owned(), Secret::new(value));
            variables.extend(names.iter().map(value));
        };
        let is_chat = |account: &GatewayAccount| {
            account.vendor != anthropic::VENDOR && account.vendor != gemini::VENDOR
        };
        if self.account(anthropic::VENDOR).is_some() {
            add(&["ANTHROPIC_BASE_URL"], address);
            add(&["ANTHROPIC_API_KEY"], token.expose());
        }
        if self.accounts.iter().any(is_chat) {
            add(&["OPENAI_BASE_URL"], &format!("{address}/v1"));
            add(&["OPENAI_API_KEY"], token.expose());
        }
        if self.account(gemini::VENDOR).is_some() {
            add(&["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"], address);
            add(&["GEMINI_API_KEY"], token.expose());
        }
        variables
    }

    fn serves(&self, method: &str, path: &str) -> bool {
        method == "POST" && Api::at(path).is_some()
    }

    fn read(&self, request: GatewayRequest) -> Result<Box<dyn GatewayCall>, GatewayRefusal> {
        let refuse = |problem: String| GatewayRefusal::new(GatewayRefusalKind::Request, problem);
        let api = Api::at(&request.path).ok_or_else(|| {
            GatewayRefusal::new(
                GatewayRefusalKind::Path,
                "the gateway does not serve this path",
            )
        })?;
        let asked = read::read(api.dialect(), &request.body).map_err(refuse)?;
        let name = api.model().or(asked.model.as_deref());
        let name = name
            .filter(|name| is_name(name))
            .ok_or_else(|| refuse("the request has no valid name of a model".to_owned()))?;
        read::check_model(name).map_err(refuse)?;
        let (account, name) = self.find(&api, name)?;
        account.check_tools(&asked).map_err(refuse)?;
        let body = written(&api, &asked, name, request.body).map_err(refuse)?;
        let price = self.prices.of(&account.vendor, name);
        // Programs choose any name, so a guess is not good enough.
        let is_sure = price.is_some_and(|price| !price.is_guessed());
        let is_free = prices::is_self_hosted(&account.vendor, &account.base_url);
        Ok(Box::new(Passage {
            url: account.base_url.at(&api.target(&request.query)),
            headers: headers::outward(&request.headers, api.dialect(), account.key.as_ref()),
            body,
            model: format!("{}/{name}", account.vendor),
            price,
            n_prompt_tokens: asked.n_prompt_tokens,
            has_unknown_price: !is_sure && !is_free,
            account: account.clone(),
            api,
        }))
    }

    fn refuse(&self, path: &str, refusal: &GatewayRefusal) -> GatewayAnswer {
        let dialect = Api::at(path).map(|api| api.dialect());
        refuse::answer(dialect, refusal)
    }
}

/// Returns the body for the vendor: unchanged, unless it needs more fields.
///
/// Streams of chat completions report usage only on request.
fn written(api: &Api, asked: &CheckedRequest, name: &str, body: Bytes) -> Result<Bytes, String> {
    let has_other_name = api.model().is_none() && asked.model.as_deref() != Some(name);
    let must_report = api.dialect() == Dialect::Chat && asked.is_streamed;
    if !has_other_name && !must_report {
        return Ok(body);
    }
    let fields = Fields::of(&body)?;
    let mut changes = Vec::new();
    if has_other_name {
        changes.push(("model", name.into()));
    }
    if must_report {
        let mut options = fields.stream_options()?;
        options["include_usage"] = true.into();
        changes.push(("stream_options", options));
    }
    fields.with(&changes)
}

/// Returns true if this can be the name of a model.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
#[path = "gateway/tests.rs"]
mod tests;
