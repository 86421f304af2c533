//! The settings of streams.

use std::{path::PathBuf, time::Duration};

use deskhand_core::{network::rule::NetworkRule, vault::SecretName};

use crate::webhook::WebhookKey;

/// The number of streams that may wait per worker, if there are several.
const WAITING_PER_WORKER: usize = 4;

/// The owner and the limits of streams.
#[derive(Debug, Clone)]
pub struct StreamSettings {
    /// The name of the user who owns the sessions. Without it, the first administrator does.
    pub owner: Option<String>,
    /// The number of streams at a time.
    pub at_once: usize,
    /// The model that is asked when a player does not start. Without it, the server's default.
    pub model: Option<String>,
    /// The most that models may cost for one stream, in US dollars.
    pub budget_usd: f64,
    /// The most answers of models for one stream.
    pub most_steps: u64,
    /// Hosts that streams neither begin with nor contact.
    pub block: Vec<NetworkRule>,
    /// The longest time until people can watch.
    pub start_timeout: Duration,
    /// The time after which a stream ends, and its link with it.
    pub longest: Duration,
    /// Signs webhooks. Without it, requests with a webhook are refused.
    pub webhook_key: Option<WebhookKey>,
    /// True if webhooks may go to addresses that are not on the public internet.
    pub private_webhooks: bool,
    pub last_mile: LastMile,
}

/// The way from the computer to the people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LastMile {
    /// People open a link to watch.
    #[default]
    Watch,
    /// A person's account shares the page in the voice channel, which Discord forbids.
    Share(ShareSettings),
}

/// Says with which account a page is shared, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareSettings {
    /// The address of the web client, without a slash at its end.
    pub client_url: String,
    /// The names of the owner's secrets that are typed to sign in.
    pub email: SecretName,
    pub password: SecretName,
    /// The file that keeps the account signed in from one stream to the next.
    pub profile: PathBuf,
}

impl StreamSettings {
    /// Returns the maximum number of open streams, waiting ones included. With one worker, none waits.
    pub fn most_open(&self) -> usize {
        match self.at_once {
            0 | 1 => 1,
            several => several * (1 + WAITING_PER_WORKER),
        }
    }
}
