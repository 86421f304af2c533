//! The settings of the Discord bot and of its streams.

use std::{path::Path, time::Duration};

use deskhand_core::{secret::Secret, vault::SecretName};
use deskhand_streams::{LastMile, ShareSettings, StreamSettings, WebhookKey};

use super::{network::rules, reader::Reader};

/// The setting by which an operator says that they know Discord's rules.
const ACCEPTED: &str = "jamie.share.although_discord_forbids_it";

#[derive(Debug, Clone)]
pub(crate) struct JamieConfig {
    /// The bot's token. Without it, `serve` starts no bot.
    pub(crate) token: Option<Secret>,
    /// True if streams are run for a bot that runs apart.
    pub(crate) controller: bool,
    /// The address of links to watch, if it is not that of the page. Without a slash at its end.
    pub(crate) public_url: Option<String>,
    pub(crate) streams: StreamSettings,
    /// The Discord Activity, if it is on.
    pub(crate) activity: Option<ActivityConfig>,
    pub(crate) api_url: String,
    pub(crate) gateway_url: String,
}

/// The application whose Activity shows streams inside Discord.
#[derive(Debug, Clone)]
pub(crate) struct ActivityConfig {
    pub(crate) client_id: String,
    pub(crate) client_secret: Secret,
}

impl JamieConfig {
    /// Returns true if this server runs streams.
    pub(crate) fn runs_streams(&self) -> bool {
        self.controller || self.token.is_some()
    }

    /// Returns the settings of the bot.
    pub(crate) fn bot(&self, token: Secret) -> deskhand_jamie::Settings {
        deskhand_jamie::Settings {
            api_url: self.api_url.clone(),
            gateway_url: self.gateway_url.clone(),
            streams_at_once: self.streams.most_open(),
            ..deskhand_jamie::Settings::new(token)
        }
    }
}

pub(super) fn jamie(reader: &mut Reader<'_>, data_dir: &Path) -> JamieConfig {
    let hours: u64 = reader.integer("jamie.max_hours", 1..=168);
    JamieConfig {
        token: reader.secret("jamie.token"),
        controller: reader.yes_or_no("jamie.controller"),
        public_url: reader.url("jamie.public_url"),
        streams: StreamSettings {
            owner: reader.text_or_nothing("jamie.owner"),
            at_once: reader.integer("jamie.streams", 1..=100),
            model: reader.text_or_nothing("jamie.model"),
            budget_usd: reader.number("jamie.budget_usd", 0.01..=1_000.0),
            most_steps: reader.integer("jamie.max_steps", 1..=1_000),
            block: rules(reader, "jamie.block"),
            start_timeout: Duration::from_secs(reader.integer("jamie.start_seconds", 10..=600)),
            longest: Duration::from_hours(hours),
            webhook_key: reader.secret("jamie.webhook_key").map(WebhookKey),
            private_webhooks: reader.yes_or_no("jamie.private_webhooks"),
            last_mile: last_mile(reader, data_dir),
        },
        activity: activity(reader),
        api_url: reader.text("jamie.api_url"),
        gateway_url: reader.text("jamie.gateway_url"),
    }
}

fn activity(reader: &mut Reader<'_>) -> Option<ActivityConfig> {
    let client_id = reader.text_or_nothing("jamie.client_id");
    let client_secret = reader.secret("jamie.client_secret");
    if !reader.yes_or_no("jamie.activity") {
        return None;
    }
    let is_id = |id: &String| id.len() <= 20 && id.bytes().all(|byte| byte.is_ascii_digit());
    let client_id = client_id.filter(is_id);
    if client_id.is_none() {
        let problem = "the Activity needs the number of the application, from its page OAuth2";
        reader.mistake("jamie.client_id", problem);
    }
    if client_secret.is_none() {
        let problem = "the Activity needs the secret of the application, from its page OAuth2";
        reader.mistake("jamie.client_secret", problem);
    }
    Some(ActivityConfig {
        client_id: client_id?,
        client_secret: client_secret?,
    })
}

/// Reads the way to the people. Sharing with the account of a person has to be accepted in so many words.
fn last_mile(reader: &mut Reader<'_>, data_dir: &Path) -> LastMile {
    let is_shared = reader.one_of("jamie.last_mile", &[("watch", false), ("share", true)]);
    let client_url = reader.url("jamie.share.client_url");
    if !is_shared {
        return LastMile::Watch;
    }
    if !reader.yes_or_no(ACCEPTED) {
        let problem = format!(
            "\"share\" automates the account of a person, which Discord forbids and may end the account for; use \
             \"watch\", or set {ACCEPTED} to true if you accept that"
        );
        reader.mistake("jamie.last_mile", &problem);
    }
    if reader.integer::<u32>("jamie.streams", 1..=100) > 1 {
        let problem = "must be 1 with jamie.last_mile = \"share\": one account shares one page";
        reader.mistake("jamie.streams", problem);
    }
    let (Some(email), Some(password)) = (
        secret_name(reader, "jamie.share.email_secret"),
        secret_name(reader, "jamie.share.password_secret"),
    ) else {
        return LastMile::Watch;
    };
    LastMile::Share(ShareSettings {
        client_url: client_url.unwrap_or_else(|| "https://discord.com".to_owned()),
        profile: data_dir.join("jamie").join(format!("{email}.json")),
        email,
        password,
    })
}

/// Reads the name of a stored secret. A value in its place would be in the log of mistakes, so it is not repeated.
fn secret_name(reader: &mut Reader<'_>, key: &str) -> Option<SecretName> {
    let name = reader.text(key).parse().ok();
    if name.is_none() {
        let problem = "must be the name of a stored secret, not its value; store one with `deskhand secret set`";
        reader.mistake(key, problem);
    }
    name
}
