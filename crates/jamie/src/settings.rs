//! The settings of the bot.

use std::time::Duration;

use deskhand_core::secret::Secret;
use url::Url;

use crate::bot::BotStanding;

/// Says how the bot signs in, and where Discord is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The bot's token, from Discord's developer portal.
    pub token: Secret,
    /// Discord's HTTP API, without `/api/v10`.
    pub api_url: String,
    /// Discord's gateway.
    pub gateway_url: String,
    /// The number of streams at a time. With so many, further requests are refused without asking the controller.
    pub streams_at_once: usize,
    /// The address that the controller tells about changes. A controller in the same process needs none.
    pub webhook_url: Option<String>,
    /// The interval at which the controller is asked about streams, if it does not tell by itself.
    pub ask_every: Option<Duration>,
    /// Tells others about the connection to Discord.
    pub standing: BotStanding,
}

impl Settings {
    /// Returns the settings for Discord itself, with one stream at a time.
    pub fn new(token: Secret) -> Self {
        Self {
            token,
            api_url: "https://discord.com".into(),
            gateway_url: "wss://gateway.discord.gg".into(),
            streams_at_once: 1,
            webhook_url: None,
            ask_every: None,
            standing: BotStanding::default(),
        }
    }

    /// Checks everything that would fail only later.
    pub(crate) fn check(&self) -> Result<(), BadSetting> {
        let token = self.token.expose();
        if token.trim().is_empty() || !token.chars().all(|char| char.is_ascii_graphic()) {
            return Err(BadSetting::Token);
        }
        if !is_address(&self.api_url, &["http", "https"]) {
            return Err(BadSetting::ApiUrl(self.api_url.clone()));
        }
        if !is_address(&self.gateway_url, &["ws", "wss"]) {
            return Err(BadSetting::GatewayUrl(self.gateway_url.clone()));
        }
        Ok(())
    }
}

/// Settings with which the bot cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSetting {
    #[error(
        "there is no usable bot token; copy it from the page Bot of the application in Discord's developer portal"
    )]
    Token,
    #[error(
        "{0} is not the address of Discord's API; use one such as https://discord.com, without /api/v10"
    )]
    ApiUrl(String),
    #[error("{0} is not the address of a gateway; use one such as wss://gateway.discord.gg")]
    GatewayUrl(String),
}

fn is_address(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text).is_ok_and(|url| {
        schemes.contains(&url.scheme())
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_are_found_before_the_start() {
        let good = Settings::new(Secret::new("token"));
        assert_eq!(good.check(), Ok(()));
        for token in ["", " ", "two words", "line\nbreak"] {
            let settings = Settings::new(Secret::new(token));
            assert_eq!(settings.check(), Err(BadSetting::Token));
        }
        let settings = Settings {
            api_url: "discord.com".into(),
            ..good.clone()
        };
        assert!(matches!(settings.check(), Err(BadSetting::ApiUrl(_))));
        let settings = Settings {
            gateway_url: "https://gateway.discord.gg".into(),
            ..good
        };
        assert!(matches!(settings.check(), Err(BadSetting::GatewayUrl(_))));
    }

    #[test]
    fn the_token_is_not_printed() {
        let settings = Settings::new(Secret::new("abc123"));
        assert!(!format!("{settings:?}").contains("abc123"));
    }
}
