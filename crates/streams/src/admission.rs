//! The rules for the links and webhooks of requests.

use std::sync::Arc;

use deskhand_core::network::{
    NetworkHost,
    policy::{
        BlockReason, NetworkBounds, NetworkMode, NetworkPolicy, NetworkRules, NetworkVerdict,
    },
};
use deskhand_jamie::{
    ControllerError, ErrorCode,
    contract::{InvalidRequest, StreamRequest},
};
use url::{Host, Url};

use crate::{
    settings::{LastMile, StreamSettings},
    share::is_of_client,
};

/// Returns the network of a stream's session: the public internet without the blocked hosts.
pub(crate) fn network_of(settings: &StreamSettings, bounds: &NetworkBounds) -> NetworkPolicy {
    NetworkPolicy {
        mode: NetworkMode::Open.min(bounds.ceiling),
        allow: Vec::new(),
        block: settings.block.clone(),
    }
}

/// Checks a request before it is stored.
pub(crate) fn check(
    request: &StreamRequest,
    settings: &StreamSettings,
    bounds: &NetworkBounds,
) -> Result<(), ControllerError> {
    request.check().map_err(|error| invalid(&error))?;
    if let Some(webhook_url) = &request.webhook_url {
        check_webhook(webhook_url, settings, bounds)?;
    }
    let (host, port) = destination("url", &request.url)?;
    if let LastMile::Share(share) = &settings.last_mile
        && is_of_client(&request.url, share)
    {
        return Err(refused(
            "pages of Discord itself are not shared: the account is signed in there",
        ));
    }
    let policy = network_of(settings, bounds);
    let rules = NetworkRules::new(Arc::new(bounds.clone()), policy, Vec::new());
    let reason = match rules.judge(&host, port) {
        NetworkVerdict::Allowed => return Ok(()),
        // Nobody is there to be asked.
        NetworkVerdict::Asks => BlockReason::NotListed,
        NetworkVerdict::Blocked(reason) => reason,
    };
    Err(not_allowed(&host, reason))
}

/// Checks the address of a webhook. The network of sessions does not matter to it.
fn check_webhook(
    webhook_url: &str,
    settings: &StreamSettings,
    bounds: &NetworkBounds,
) -> Result<(), ControllerError> {
    if settings.webhook_key.is_none() {
        return Err(refused(
            "webhook_url needs a key: set jamie.webhook_key on the server and on the bot",
        ));
    }
    let (host, port) = destination("webhook_url", webhook_url)?;
    let bounds = NetworkBounds {
        ceiling: NetworkMode::Open,
        ..bounds.clone()
    };
    let policy = network_of(settings, &bounds);
    match NetworkRules::new(Arc::new(bounds), policy, Vec::new()).judge(&host, port) {
        NetworkVerdict::Blocked(reason @ BlockReason::Denied) => Err(not_allowed(&host, reason)),
        // A bot beside the server may have an address of the same machine.
        NetworkVerdict::Blocked(BlockReason::Own) if !settings.private_webhooks => {
            Err(refused(format!(
                "webhook_url: {host} is not allowed: it leads to this server; jamie.private_webhooks allows it"
            )))
        }
        // Private addresses are judged when the webhook is sent, as those of names are.
        NetworkVerdict::Blocked(_) | NetworkVerdict::Allowed | NetworkVerdict::Asks => Ok(()),
    }
}

/// Returns the host and port of an address in a field.
fn destination(field: &str, address: &str) -> Result<(NetworkHost, u16), ControllerError> {
    let url = Url::parse(address).map_err(|_bad| refused(format!("{field} is not an address")))?;
    let host = match url.host() {
        Some(Host::Domain(name)) => {
            NetworkHost::Name(name.trim_end_matches('.').to_ascii_lowercase())
        }
        Some(Host::Ipv4(address)) => NetworkHost::Address(address.into()),
        Some(Host::Ipv6(address)) => NetworkHost::Address(address.into()),
        None => return Err(refused(format!("{field} has no host"))),
    };
    Ok((host, url.port_or_known_default().unwrap_or(443)))
}

fn refused(message: impl Into<String>) -> ControllerError {
    ControllerError::new(ErrorCode::InvalidUrl, message)
}

fn not_allowed(host: &NetworkHost, reason: BlockReason) -> ControllerError {
    refused(format!("{host} is not allowed: {}", reason_of(reason)))
}

/// Returns the reason for blocking a host, with the setting that decides it.
fn reason_of(reason: BlockReason) -> &'static str {
    match reason {
        BlockReason::Closed => "network.ceiling closes the network of all sessions",
        BlockReason::NotListed => "network.allow does not list it",
        BlockReason::Denied => "jamie.block lists it",
        BlockReason::Own => "it leads to this server",
        BlockReason::Private => "it is not on the public internet",
        BlockReason::Resolver
        | BlockReason::OtherName
        | BlockReason::StandIn
        | BlockReason::SecretUse
        | BlockReason::Idle
        | BlockReason::Busy
        | BlockReason::Bytes
        | BlockReason::Failed => reason.sentence(),
    }
}

fn invalid(error: &InvalidRequest) -> ControllerError {
    ControllerError::new(
        error.code().unwrap_or(ErrorCode::Unknown),
        error.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deskhand_core::secret::Secret;

    use super::*;
    use crate::webhook::WebhookKey;

    fn settings() -> StreamSettings {
        StreamSettings {
            owner: None,
            at_once: 1,
            model: None,
            budget_usd: 2.0,
            most_steps: 50,
            block: vec!["bad.example".parse().unwrap()],
            start_timeout: Duration::from_secs(120),
            longest: Duration::from_hours(4),
            webhook_key: None,
            private_webhooks: false,
            last_mile: LastMile::Watch,
        }
    }

    fn request(url: &str) -> StreamRequest {
        let json = serde_json::json!({
            "session_id": "550e8400-e29b-41d4-a716-446655440000",
            "url": url,
            "guild_id": 1, "channel_id": 2, "channel_name": "Movie Night",
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn only_public_pages_that_are_not_blocked_are_streamed() {
        let bounds = NetworkBounds {
            ceiling: NetworkMode::Open,
            allow: vec!["10.1.0.0/16".parse().unwrap()],
            own_names: vec!["desk.example".to_owned()],
            ..NetworkBounds::default()
        };
        let code = |url: &str| {
            let checked = check(&request(url), &settings(), &bounds);
            checked.map_err(|error| error.code)
        };
        for good in [
            "https://youtu.be/dQw4w9WgXcQ",
            "http://good.example:8080/x",
            "http://10.1.2.3/allowed-by-the-settings",
        ] {
            assert_eq!(code(good), Ok(()), "{good}");
        }
        for bad in [
            "ftp://good.example/",
            "https://bad.example/video",
            "https://BAD.example./video",
            "https://desk.example/",
            "http://localhost:3000/",
            "http://127.0.0.1/",
            "http://10.0.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://[::1]/",
        ] {
            assert_eq!(code(bad), Err(ErrorCode::InvalidUrl), "{bad}");
        }
    }

    #[test]
    fn a_webhook_needs_a_key() {
        let mut request = request("https://good.example/");
        request.webhook_url = Some("https://bot.example/jamie/status".to_owned());
        let bounds = NetworkBounds {
            ceiling: NetworkMode::Open,
            ..NetworkBounds::default()
        };
        let refused = check(&request, &settings(), &bounds).unwrap_err();
        assert!(refused.to_string().contains("webhook_key"), "{refused}");
        assert_eq!(refused.code, ErrorCode::InvalidUrl);
    }

    #[test]
    fn a_refusal_names_the_host_and_the_setting() {
        let message = |url: &str, ceiling| {
            let bounds = NetworkBounds {
                ceiling,
                ..NetworkBounds::default()
            };
            let refused = check(&request(url), &settings(), &bounds).unwrap_err();
            refused.message.unwrap()
        };
        for (url, ceiling, expected) in [
            (
                "https://good.example/",
                NetworkMode::Closed,
                "good.example is not allowed: network.ceiling closes the network of all sessions",
            ),
            (
                "https://good.example/",
                NetworkMode::Allow,
                "good.example is not allowed: network.allow does not list it",
            ),
            (
                "https://bad.example/",
                NetworkMode::Open,
                "bad.example is not allowed: jamie.block lists it",
            ),
        ] {
            assert_eq!(message(url, ceiling), expected);
        }
    }

    #[test]
    fn webhooks_are_not_sent_to_blocked_hosts_or_to_this_server() {
        let bounds = NetworkBounds {
            own_names: vec!["desk.example".to_owned()],
            ..NetworkBounds::default()
        };
        let message = |url: &str, private_webhooks| {
            let settings = StreamSettings {
                webhook_key: Some(WebhookKey(Secret::new("shared"))),
                private_webhooks,
                ..settings()
            };
            check_webhook(url, &settings, &bounds).map_err(|error| error.message.unwrap())
        };
        let bot = "https://bot.example/jamie/status";
        assert_eq!(message(bot, false), Ok(()));
        let own = "http://desk.example:8080/jamie/status";
        let refused = message(own, false).unwrap_err();
        assert!(refused.contains("desk.example is not allowed: it leads to this server"));
        assert!(refused.contains("jamie.private_webhooks"));
        assert_eq!(message(own, true), Ok(()));
        let blocked = "https://bad.example/jamie/status";
        for private_webhooks in [false, true] {
            assert!(message(blocked, private_webhooks).is_err());
        }
    }
}
