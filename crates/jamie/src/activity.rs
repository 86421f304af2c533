//! The Discord Activity: lets people into the stream of the voice channel that they are in, and nobody else.
//!
//! Whoever opens the Activity brings a code of Discord's sign-in. Discord itself says whose code it is, and in which voice
//! channel that person is. Ids that the browser sends choose nothing but the server to look in.

use std::time::Duration;

use deskhand_core::secret::Secret;
use reqwest::{
    Client, RequestBuilder, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
    redirect,
};
use serde::{Deserialize, de::DeserializeOwned};
use url::{Url, form_urlencoded};

use crate::settings::BadSetting;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// The places where Discord shows Activities.
const DISCORD: [&str; 3] = [
    "https://discord.com",
    "https://ptb.discord.com",
    "https://canary.discord.com",
];

/// The application whose Activity this is.
#[derive(Debug, Clone)]
pub struct ActivitySettings {
    pub client_id: String,
    pub client_secret: Secret,
    pub bot_token: Secret,
    /// Discord's HTTP API, without `/api/v10`.
    pub api_url: String,
}

/// Asks Discord who somebody is, and where.
#[derive(Debug)]
pub struct ActivityDoor {
    settings: ActivitySettings,
    http: Client,
    api: Url,
}

/// The reason why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLetIn {
    #[error("Discord does not know this code; open the Activity again")]
    BadCode,
    #[error("you are not in a voice channel of this server; join one and open the Activity again")]
    NotInVoice,
    #[error("Discord does not answer as expected; try again")]
    Discord,
}

impl ActivityDoor {
    pub fn new(settings: ActivitySettings) -> Result<Self, BadSetting> {
        let bad = || BadSetting::ApiUrl(settings.api_url.clone());
        let api = format!("{}/api/v10/", settings.api_url.trim_end_matches('/'));
        let api = Url::parse(&api)
            .ok()
            .filter(Url::has_host)
            .ok_or_else(bad)?;
        let http = Client::builder()
            // Secrets are for this address only.
            .redirect(redirect::Policy::none())
            .timeout(REQUEST_TIMEOUT)
            .build()
            .map_err(|_unusable| bad())?;
        Ok(Self {
            settings,
            http,
            api,
        })
    }

    /// Returns the id of the application.
    pub fn client_id(&self) -> &str {
        &self.settings.client_id
    }

    /// Returns the origins of the pages that may show the Activity.
    pub fn hosts(&self) -> Vec<String> {
        let own = self.api.origin().ascii_serialization();
        if own == DISCORD[0] {
            return DISCORD.map(str::to_owned).into();
        }
        vec![own]
    }

    /// Returns the voice channel of a server that somebody is in, by the code of their sign-in.
    pub async fn voice_channel(&self, code: &Secret, guild_id: u64) -> Result<u64, NotLetIn> {
        let token = self.exchange(code).await?;
        let me = self.request("users/@me")?;
        let me = me.bearer_auth(token.access_token.expose());
        let (_, me): (_, Option<DiscordUser>) = ask(me).await?;
        let me = me.ok_or(NotLetIn::BadCode)?;
        let me: u64 = me.id.parse().map_err(|_no_id| NotLetIn::Discord)?;
        let place = self.request(&format!("guilds/{guild_id}/voice-states/{me}"))?;
        let as_bot = format!("Bot {}", self.settings.bot_token.expose());
        let (_, place): (_, Option<MemberVoice>) = ask(place.header(AUTHORIZATION, as_bot)).await?;
        let channel = place.and_then(|place| place.channel_id);
        let channel = channel.ok_or(NotLetIn::NotInVoice)?;
        channel.parse().map_err(|_no_id| NotLetIn::Discord)
    }

    /// Exchanges a code for a token, which is forgotten when the person is known.
    async fn exchange(&self, code: &Secret) -> Result<AccessToken, NotLetIn> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("client_secret", self.settings.client_secret.expose())
            .append_pair("grant_type", "authorization_code")
            .append_pair("code", code.expose())
            .finish();
        let url = self.url("oauth2/token")?;
        let request = self.http.post(url).body(form);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        match ask(request).await? {
            (_, Some(token)) => Ok(token),
            (StatusCode::UNAUTHORIZED, None) => {
                tracing::error!(
                    "Discord refused jamie.client_id or jamie.client_secret; copy them again from the page OAuth2"
                );
                Err(NotLetIn::Discord)
            }
            (_, None) => Err(NotLetIn::BadCode),
        }
    }

    fn request(&self, path: &str) -> Result<RequestBuilder, NotLetIn> {
        Ok(self.http.get(self.url(path)?))
    }

    fn url(&self, path: &str) -> Result<Url, NotLetIn> {
        self.api.join(path).map_err(|_unusable| NotLetIn::Discord)
    }
}

#[derive(Deserialize)]
struct AccessToken {
    access_token: Secret,
}

#[derive(Deserialize)]
struct DiscordUser {
    id: String,
}

#[derive(Deserialize)]
struct MemberVoice {
    channel_id: Option<String>,
}

/// Sends a request. Returns the status, and the answer if it is a good one.
async fn ask<T: DeserializeOwned>(
    request: RequestBuilder,
) -> Result<(StatusCode, Option<T>), NotLetIn> {
    let mut response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
        return Ok((status, None));
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(unreachable)? {
        body.extend_from_slice(&piece);
        if body.len() > MAX_BODY_BYTES {
            return Err(NotLetIn::Discord);
        }
    }
    match serde_json::from_slice(&body) {
        Ok(answer) if status.is_success() => Ok((status, Some(answer))),
        _ => {
            tracing::warn!(%status, "Discord did not answer a question of the Activity");
            Err(NotLetIn::Discord)
        }
    }
}

fn unreachable(error: reqwest::Error) -> NotLetIn {
    tracing::warn!(
        error = &error.without_url() as &dyn std::error::Error,
        "could not reach Discord for the Activity"
    );
    NotLetIn::Discord
}
