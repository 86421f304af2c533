//! Discord's HTTP API: messages, answers to commands, and the few questions that the bot asks.
//!
//! Every request is tried again when Discord is in trouble. A message in a channel carries a number by which Discord
//! recognises the second try, so that it appears once. No message ever mentions anybody.

mod error;
mod note;

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deskhand_core::secret::Secret;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};
use twilight_http::{
    Client,
    request::{Request, RequestBuilder},
    response::marker::EmptyBody,
    routing::Route,
};

pub(super) use self::{
    error::RestError,
    note::{ChatPost, Note},
};
use self::{
    error::classify,
    note::{FOR_ONE, NO_PREVIEW, Written, body, with_nonce},
};
use super::events::{ADMINISTRATOR, Snowflake};
use crate::{contract::MessageRef, error_code::ErrorCode, settings::Settings};

/// The time that one try may take, waiting for rate limits included.
const TRY_TIMEOUT: Duration = Duration::from_secs(20);
/// The time that Discord has for one response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The waits before further tries.
const WAITS: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
];
/// The number of further tries when Discord limits the rate.
const MAX_LIMITED: usize = ErrorCode::DiscordRateLimit.row().retry.at_most();
/// The waits before these tries if Discord does not say for which requests the limit is, or how long it lasts. The
/// library would send the next request at once, and Discord bars those who do that.
const LIMITED_WAITS: [Duration; MAX_LIMITED] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
/// A shorter wait of the library is none. Tries without a wait follow each other within milliseconds.
const MIN_LIMIT: Duration = Duration::from_millis(50);

/// The answer to a command that promises a message. Discord waits three seconds for it, and then a quarter of an hour
/// for the message.
const MESSAGE_FOLLOWS: u64 = 5;

/// Talks to Discord's HTTP API.
#[derive(Debug)]
pub(super) struct Rest {
    http: Client,
}

impl Rest {
    pub(super) fn new(settings: &Settings) -> Self {
        let (scheme, host) = settings
            .api_url
            .split_once("://")
            .unwrap_or(("https", &settings.api_url));
        let token: &Secret = &settings.token;
        let http = Client::builder()
            .token(token.expose().to_owned())
            .proxy(host.trim_end_matches('/').to_owned(), scheme == "http")
            .timeout(RESPONSE_TIMEOUT)
            // A command whose time is over is answered with 401. That says nothing about the bot's token.
            .remember_invalid_token(false)
            .build();
        Self { http }
    }

    /// Posts a message.
    pub(super) async fn post(&self, channel_id: u64, note: &Note) -> Result<MessageRef, RestError> {
        let body = with_nonce(body(note, NO_PREVIEW));
        let request = build(Request::builder(&Route::CreateMessage { channel_id }).json(&body))?;
        let posted: Posted = read(&self.send(request).await?)?;
        Ok(MessageRef {
            channel_id,
            message_id: posted.id.0,
        })
    }

    /// Replaces the text and button of a message.
    pub(super) async fn edit(&self, message: MessageRef, note: &Note) -> Result<(), RestError> {
        let route = Route::UpdateMessage {
            channel_id: message.channel_id,
            message_id: message.message_id,
        };
        let body = body(note, NO_PREVIEW);
        let request = build(Request::builder(&route).json(&body))?;
        self.send(request).await?;
        Ok(())
    }

    /// Reads one of the bot's own messages.
    pub(super) async fn read(&self, message: MessageRef) -> Result<Note, RestError> {
        let request = Request::from_route(&Route::GetMessage {
            channel_id: message.channel_id,
            message_id: message.message_id,
        });
        let written: Written = read(&self.send(request).await?)?;
        Ok(written.into())
    }

    /// Opens the channel for direct messages with a person.
    pub(super) async fn direct_channel(&self, user_id: u64) -> Result<u64, RestError> {
        let body = json!({"recipient_id": user_id.to_string()});
        let request = build(Request::builder(&Route::CreatePrivateChannel).json(&body))?;
        let channel: Posted = read(&self.send(request).await?)?;
        Ok(channel.id.0)
    }

    /// Tells Discord that a command will be answered. Only the person who gave it sees the answer.
    pub(super) async fn promise(
        &self,
        interaction_id: u64,
        token: &Secret,
    ) -> Result<(), RestError> {
        let route = Route::InteractionCallback {
            interaction_id,
            interaction_token: token.expose(),
            with_response: false,
        };
        let body = json!({"type": MESSAGE_FOLLOWS, "data": {"flags": FOR_ONE}});
        match self.send(by_token(&route, &body)?).await {
            // An earlier try has arrived after all.
            Err(RestError::Refused { code: 40060, .. }) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Gives the answer to a command, or replaces it. It is possible for a quarter of an hour.
    pub(super) async fn edit_answer(
        &self,
        application_id: u64,
        token: &Secret,
        note: &Note,
    ) -> Result<(), RestError> {
        let route = Route::UpdateInteractionOriginal {
            application_id,
            interaction_token: token.expose(),
        };
        let mut body = body(note, NO_PREVIEW);
        if let Some(fields) = body.as_object_mut() {
            fields.remove("flags");
        }
        self.send(by_token(&route, &body)?).await?;
        Ok(())
    }

    /// Adds a message to the answer to a command, for the same person and the same quarter of an hour. A second try may
    /// repeat it.
    pub(super) async fn follow_up(
        &self,
        application_id: u64,
        token: &Secret,
        note: &Note,
    ) -> Result<(), RestError> {
        let route = Route::ExecuteWebhook {
            thread_id: None,
            token: token.expose(),
            wait: None,
            with_components: None,
            webhook_id: application_id,
        };
        let body = body(note, NO_PREVIEW | FOR_ONE);
        self.send(by_token(&route, &body)?).await?;
        Ok(())
    }

    /// Offers these commands in Discord's list, and no others.
    pub(super) async fn set_commands(
        &self,
        application_id: u64,
        commands: &Value,
    ) -> Result<(), RestError> {
        let route = Route::SetGlobalCommands { application_id };
        let request = build(Request::builder(&route).json(commands))?;
        self.send(request).await?;
        Ok(())
    }

    /// Returns true if a person owns a server or has a role that administers it.
    pub(super) async fn administers(&self, guild_id: u64, user_id: u64) -> Result<bool, RestError> {
        let with_counts = false;
        let guild = Request::from_route(&Route::GetGuild {
            guild_id,
            with_counts,
        });
        let guild: GuildRoles = read(&self.send(guild).await?)?;
        if guild.owner_id.0 == user_id {
            return Ok(true);
        }
        let member = Request::from_route(&Route::GetMember { guild_id, user_id });
        let member: MemberRoles = match self.send(member).await {
            // The person is not in the server.
            Err(RestError::Refused { status: 404, .. }) => return Ok(false),
            other => read(&other?)?,
        };
        Ok(guild.roles.iter().any(|role| {
            // Everybody has the role with the server's own id.
            let is_theirs = role.id.0 == guild_id || member.roles.contains(&role.id);
            is_theirs && role.permissions.0 & ADMINISTRATOR != 0
        }))
    }

    /// Sends a request, several times if need be, and returns the body of the response.
    async fn send(&self, request: Request) -> Result<Vec<u8>, RestError> {
        let mut n_tries_before = 0;
        loop {
            // The library's log lines name the path, in which there may be the token of a command.
            let sent = self
                .send_once(request.clone())
                .with_subscriber(NoSubscriber::new());
            let sent = tokio::time::timeout(TRY_TIMEOUT, sent).await;
            let error = match sent {
                Ok(Ok(body)) => return Ok(body),
                Ok(Err(error)) => error,
                Err(_) => RestError::Timeout,
            };
            match wait_after(&error, n_tries_before) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
            n_tries_before += 1;
        }
    }

    /// Sends a request. If Discord says how long its rate limit lasts, this returns when it is over.
    async fn send_once(&self, request: Request) -> Result<Vec<u8>, RestError> {
        let mut response = self.http.request::<EmptyBody>(request);
        let is_sent = AtomicBool::new(false);
        response.set_pre_flight(move || !is_sent.swap(true, Ordering::Relaxed));
        // The last thing that a limited request waits for is the end of its limit.
        let (mut polled_at, mut last_wait) = (Instant::now(), Duration::ZERO);
        let response = poll_fn(|context| {
            last_wait = polled_at.elapsed();
            polled_at = Instant::now();
            Pin::new(&mut response).poll(context)
        });
        let response = response.await;
        let response = response.map_err(|error| classify(error.kind(), last_wait >= MIN_LIMIT))?;
        // The error of a body that breaks off says no more than this.
        response.bytes().await.ok().ok_or(RestError::Unavailable)
    }
}

/// Returns the time before the next try, or nothing if there is none.
fn wait_after(error: &RestError, n_tries_before: usize) -> Option<Duration> {
    match error {
        RestError::RateLimited { is_over: true } => {
            (n_tries_before < MAX_LIMITED).then_some(Duration::ZERO)
        }
        RestError::RateLimited { is_over: false } => LIMITED_WAITS.get(n_tries_before).copied(),
        RestError::Refused { .. }
        | RestError::Timeout
        | RestError::Unavailable
        | RestError::Request => {
            let waits = WAITS.get(n_tries_before).copied();
            waits.filter(|_| error.is_transient())
        }
    }
}

/// Builds a request that is allowed by the token of a command, and not by the bot's.
fn by_token(route: &Route<'_>, body: &Value) -> Result<Request, RestError> {
    build(
        Request::builder(route)
            .json(body)
            .use_authorization_token(false),
    )
}

fn build(request: RequestBuilder) -> Result<Request, RestError> {
    // A body of our own making can always be written.
    request.build().ok().ok_or(RestError::Request)
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, RestError> {
    serde_json::from_slice(body)
        .ok()
        .ok_or(RestError::Unavailable)
}

#[derive(Deserialize)]
struct Posted {
    id: Snowflake,
}

#[derive(Deserialize)]
struct GuildRoles {
    owner_id: Snowflake,
    roles: Vec<Role>,
}

#[derive(Deserialize)]
struct Role {
    id: Snowflake,
    permissions: Snowflake,
}

#[derive(Deserialize)]
struct MemberRoles {
    roles: Vec<Snowflake>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_waited_for_and_discord_is_given_some_time_to_recover() {
        let waits = |error: RestError| {
            let waits = (0..).map_while(|n| wait_after(&error, n));
            waits.map(|wait| wait.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(waits(RestError::RateLimited { is_over: true }), [0, 0, 0]);
        assert_eq!(
            waits(RestError::RateLimited { is_over: false }),
            [1000, 5000, 15_000]
        );
        assert_eq!(waits(RestError::Timeout), [250, 1000, 3000]);
        assert!(waits(RestError::Request).is_empty());
    }
}
