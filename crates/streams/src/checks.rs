//! Checks the settings of streams, for the people who set them up.

use deskhand_core::network::policy::NetworkMode;
use deskhand_jamie::{BotError, BotStanding, BotState, SetupCheck};

use crate::{ask::SCRIPTED, controller::Streams, settings::LastMile};

/// The surroundings of streams.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// The address at which people open links to watch.
    pub public_url: String,
    /// The bot in this process. `None` if it runs apart.
    pub bot: Option<BotStanding>,
    /// True if streams can be watched inside Discord.
    pub has_activity: bool,
}

impl Streams {
    /// Checks the settings, in the order in which they matter.
    pub(crate) async fn check_setup(&self) -> Vec<SetupCheck> {
        let health = self.0.app.health().check().await;
        vec![
            self.workers().await,
            bot(self.0.deployment.bot.as_ref()),
            public_url(&self.0.deployment.public_url),
            computers(health.sandboxes),
            network(self.0.app.network().bounds().ceiling),
            self.model(),
            self.last_mile(),
            activity(self.0.deployment.has_activity),
            self.webhooks(),
        ]
    }

    fn last_mile(&self) -> SetupCheck {
        match self.0.settings.last_mile {
            LastMile::Watch => SetupCheck::ok("last_mile", "people watch on a page of this server"),
            LastMile::Share(_) => SetupCheck::warning(
                "last_mile",
                "an account of a person shares the page, which Discord forbids and may end the account for",
                "set jamie.last_mile to \"watch\"",
            ),
        }
    }

    async fn workers(&self) -> SetupCheck {
        if let Some(warning) = self.check_places().await {
            return warning;
        }
        let (at_once, most_open) = (self.0.settings.at_once, self.0.settings.most_open());
        let message = match most_open.saturating_sub(at_once) {
            0 => "one stream at a time; a second request is refused while there is one".to_owned(),
            n_waiting => format!("{at_once} streams at a time, and {n_waiting} more may wait"),
        };
        SetupCheck::ok("streams", message)
    }

    /// Checks the model that is asked when a page does not play by itself.
    fn model(&self) -> SetupCheck {
        const NAME: &str = "model";
        let catalog = self.0.app.catalog();
        let message = match &self.0.settings.model {
            Some(model) => match catalog.check(model) {
                Ok(()) => return SetupCheck::ok(NAME, format!("{model} is asked if need be")),
                Err(unknown) => unknown.to_string(),
            },
            None => match catalog.list().default {
                model if !model.starts_with(SCRIPTED) => {
                    return SetupCheck::ok(NAME, format!("{model} is asked if need be"));
                }
                _scripted => "there is no model to ask".to_owned(),
            },
        };
        let remedy = "pages that do not play by themselves fail until a vendor has a key; \
                      jamie.model chooses the model";
        SetupCheck::warning(NAME, message, remedy)
    }

    fn webhooks(&self) -> SetupCheck {
        const NAME: &str = "webhooks";
        match (&self.0.settings.webhook_key, &self.0.deployment.bot) {
            (Some(_), _) => SetupCheck::ok(NAME, "webhooks are signed with jamie.webhook_key"),
            (None, Some(_)) => SetupCheck::ok(NAME, "off; the bot in this server needs none"),
            (None, None) => {
                SetupCheck::ok(NAME, "off; the bot asks every two seconds while it streams")
            }
        }
    }
}

fn bot(bot: Option<&BotStanding>) -> SetupCheck {
    const NAME: &str = "bot";
    let Some(bot) = bot else {
        let message = "runs apart from this server, with `deskhand jamie`";
        return SetupCheck::ok(NAME, message);
    };
    match bot.state() {
        BotState::Connected { n_servers: 1 } => {
            SetupCheck::ok(NAME, "connected to Discord, in one server")
        }
        BotState::Connected { n_servers: 0 } => SetupCheck::warning(
            NAME,
            "connected to Discord, but in no server",
            "invite it with the URL on the page OAuth2 of Discord's developer portal",
        ),
        BotState::Connected { n_servers } => SetupCheck::ok(
            NAME,
            format!("connected to Discord, in {n_servers} servers"),
        ),
        BotState::Connecting => SetupCheck::warning(
            NAME,
            "not connected to Discord; it keeps trying",
            "if this lasts, check that this machine may reach jamie.gateway_url and jamie.api_url",
        ),
        BotState::Ended(BotError::TokenRefused) => SetupCheck::failed(
            NAME,
            "Discord refused the bot's token",
            "copy the token again from the page Bot of Discord's developer portal to jamie.token, and restart",
        ),
        BotState::Ended(error) => SetupCheck::failed(
            NAME,
            format!("ended: {error}"),
            "correct the cause and restart the server",
        ),
    }
}

fn public_url(url: &str) -> SetupCheck {
    const NAME: &str = "public_url";
    if url.starts_with("https://") {
        return SetupCheck::ok(NAME, format!("people open links to watch at {url}"));
    }
    SetupCheck::warning(
        NAME,
        format!("people elsewhere cannot open links to watch: they begin with {url}"),
        "set jamie.public_url or public_url to the https:// address of this server",
    )
}

fn activity(is_on: bool) -> SetupCheck {
    let message = match is_on {
        true => "on; people in the voice channel can watch inside Discord",
        false => "off; jamie.activity turns it on",
    };
    SetupCheck::ok("activity", message)
}

fn computers(can_start: bool) -> SetupCheck {
    const NAME: &str = "computers";
    if can_start {
        return SetupCheck::ok(NAME, "computers for streams can start");
    }
    SetupCheck::failed(
        NAME,
        "computers for streams cannot start",
        "run `deskhand doctor` on the server; it names what is missing",
    )
}

fn network(ceiling: NetworkMode) -> SetupCheck {
    const NAME: &str = "network";
    match ceiling {
        NetworkMode::Open => {
            SetupCheck::ok(NAME, "streams can open every page of the public internet")
        }
        NetworkMode::Allow => SetupCheck::warning(
            NAME,
            "network.ceiling is \"allow\", so only pages whose hosts are all in network.allow can be streamed",
            "set network.ceiling to \"open\", or add the hosts to network.allow",
        ),
        NetworkMode::Closed => SetupCheck::failed(
            NAME,
            "network.ceiling is \"closed\", so every link is refused",
            "set network.ceiling to \"open\", or to \"allow\" with the hosts in network.allow",
        ),
    }
}

#[cfg(test)]
mod tests {
    use deskhand_jamie::Finding;

    use super::*;

    #[test]
    fn an_address_without_encryption_is_named() {
        assert_eq!(public_url("https://desk.example").finding, Finding::Ok);
        let found = public_url("http://localhost:7878");
        assert_eq!(found.finding, Finding::Warning);
        assert!(found.message.contains("http://localhost:7878"));
        assert!(found.remedy.is_some());
    }

    #[test]
    fn a_bot_that_is_not_connected_yet_is_named() {
        assert_eq!(bot(None).finding, Finding::Ok);
        let found = bot(Some(&BotStanding::default()));
        assert_eq!(found.finding, Finding::Warning);
        assert_eq!(computers(false).finding, Finding::Failed);
    }

    #[test]
    fn a_network_that_keeps_pages_away_is_named() {
        for (ceiling, finding) in [
            (NetworkMode::Open, Finding::Ok),
            (NetworkMode::Allow, Finding::Warning),
            (NetworkMode::Closed, Finding::Failed),
        ] {
            let found = network(ceiling);
            assert_eq!(found.finding, finding);
            assert_eq!(found.remedy.is_some(), finding != Finding::Ok);
        }
    }
}
