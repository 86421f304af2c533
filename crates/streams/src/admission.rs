//! The rules for the links and webhooks of requests.

use std::sync::Arc;

use deskhand_core::network::{
    NetworkHost,
    policy::{NetworkBounds, NetworkMode, NetworkPolicy, NetworkRules, NetworkVerdict},
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
    if request.webhook_url.is_some() && settings.webhook_key.is_none() {
        let message = "webhook_url needs a key: set jamie.webhook_key on the server and on the bot";
        return Err(ControllerError::new(ErrorCode::NoBotToken, message));
    }
    let refused = |message: &str| ControllerError::new(ErrorCode::InvalidUrl, message);
    let url = Url::parse(&request.url).map_err(|_bad| refused("url is not an address"))?;
    let host = match url.host() {
        Some(Host::Domain(name)) => {
            NetworkHost::Name(name.trim_end_matches('.').to_ascii_lowercase())
        }
        Some(Host::Ipv4(address)) => NetworkHost::Address(address.into()),
        Some(Host::Ipv6(address)) => NetworkHost::Address(address.into()),
        None => return Err(refused("url has no host")),
    };
    if let LastMile::Share(share) = &settings.last_mile
        && is_of_client(&request.url, share)
    {
        return Err(refused(
            "pages of Discord itself are not shared: the account is signed in there",
        ));
    }
    let port = url.port_or_known_default().unwrap_or(443);
    let policy = network_of(settings, bounds);
    let rules = NetworkRules::new(Arc::new(bounds.clone()), policy, Vec::new());
    match rules.judge(&host, port) {
        NetworkVerdict::Allowed | NetworkVerdict::Asks => Ok(()),
        NetworkVerdict::Blocked(_) => Err(refused(
            "streams of this host are not allowed on this server",
        )),
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

    use super::*;

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
    }
}
