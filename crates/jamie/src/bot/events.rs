//! The events of the gateway that the bot uses, read leniently.
//!
//! Only the few fields that are needed are read, so that new or odd ones elsewhere do no harm and a server with
//! thousands of roles and emoji leaves nothing behind.

use std::borrow::Cow;

use deskhand_core::secret::Secret;
use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

use crate::voice::GuildVoices;

/// Discord's bit for administrators in a member's permissions.
pub(super) const ADMINISTRATOR: u64 = 1 << 3;

/// Kinds of channels with voices: voice and stage.
const VOICE_KINDS: [u64; 2] = [2, 13];

/// Kinds of messages that people write: plain ones and replies. All others are notices of Discord.
const WRITTEN_KINDS: [u64; 2] = [0, 19];

/// A slash command among the kinds of interactions.
const COMMAND_KIND: u64 = 2;

/// An event that changes something for the bot.
#[derive(Debug)]
pub(super) enum BotEvent {
    /// A new connection that is not a resumed one.
    Ready {
        application_id: u64,
        guilds: Vec<u64>,
    },
    Resumed,
    Guild(GuildVoices),
    GuildRenamed {
        guild_id: u64,
        name: String,
    },
    GuildGone {
        guild_id: u64,
    },
    Channel {
        guild_id: u64,
        channel_id: u64,
        name: String,
    },
    ChannelGone {
        guild_id: u64,
        channel_id: u64,
    },
    Voice {
        guild_id: u64,
        user_id: u64,
        channel_id: Option<u64>,
    },
    Message(DirectMessage),
    Slash(SlashCommand),
}

/// A message from a person to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DirectMessage {
    pub(super) message_id: u64,
    pub(super) channel_id: u64,
    pub(super) user_id: u64,
    pub(super) text: String,
}

/// A command that a person chose from Discord's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlashCommand {
    pub(super) interaction_id: u64,
    /// The right to answer. Anybody who has it can answer in the bot's name for a quarter of an hour.
    pub(super) token: Secret,
    pub(super) user_id: u64,
    /// The server in which the person is an administrator, if the command was given there.
    pub(super) administers: Option<u64>,
    pub(super) name: String,
    pub(super) url: Option<String>,
}

/// Reads a message of the gateway. Nothing is returned for events that the bot does not use.
pub(super) fn read_event(text: &str) -> Result<Option<BotEvent>, serde_json::Error> {
    let envelope: Envelope<'_> = serde_json::from_str(text)?;
    let (Some(kind), Some(data)) = (envelope.t.as_deref(), envelope.d) else {
        return Ok(None);
    };
    let data = data.get();
    Ok(match kind {
        "READY" => Some(serde_json::from_str::<Ready>(data)?.into()),
        "RESUMED" => Some(BotEvent::Resumed),
        "GUILD_CREATE" => serde_json::from_str::<GuildCreate>(data)?.event(),
        "GUILD_UPDATE" => Some(serde_json::from_str::<GuildUpdate>(data)?.into()),
        "GUILD_DELETE" => Some(BotEvent::GuildGone {
            guild_id: serde_json::from_str::<Identified>(data)?.id.0,
        }),
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" => serde_json::from_str::<Channel>(data)?.event(),
        "CHANNEL_DELETE" => serde_json::from_str::<Channel>(data)?.gone(),
        "VOICE_STATE_UPDATE" => serde_json::from_str::<VoiceState>(data)?.event(),
        "MESSAGE_CREATE" => serde_json::from_str::<Message>(data)?.event(),
        "INTERACTION_CREATE" => serde_json::from_str::<Interaction>(data)?.event(),
        _ => None,
    })
}

/// An id, which Discord writes as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Snowflake(pub(super) u64);

impl<'de> Deserialize<'de> for Snowflake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(id) => Ok(Self(id)),
            Written::Text(id) => id.parse().map(Self).map_err(de::Error::custom),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    t: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    d: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Identified {
    id: Snowflake,
}

#[derive(Deserialize)]
struct Ready {
    application: Identified,
    #[serde(default)]
    guilds: Vec<Identified>,
}

impl From<Ready> for BotEvent {
    fn from(ready: Ready) -> Self {
        Self::Ready {
            application_id: ready.application.id.0,
            guilds: ready.guilds.iter().map(|guild| guild.id.0).collect(),
        }
    }
}

#[derive(Deserialize)]
struct GuildCreate {
    id: Snowflake,
    /// Absent while the server is unavailable.
    name: Option<String>,
    #[serde(default)]
    channels: Vec<Channel>,
    #[serde(default)]
    voice_states: Vec<VoiceState>,
}

impl GuildCreate {
    fn event(self) -> Option<BotEvent> {
        let channels = self.channels.into_iter().filter(Channel::has_voice);
        let seats = self.voice_states.iter();
        Some(BotEvent::Guild(GuildVoices {
            guild_id: self.id.0,
            name: self.name?,
            channels: channels
                .map(|channel| (channel.id.0, channel.name.unwrap_or_default()))
                .collect(),
            seats: seats
                .filter_map(|state| Some((state.user_id.0, state.channel_id?.0)))
                .collect(),
        }))
    }
}

#[derive(Deserialize)]
struct GuildUpdate {
    id: Snowflake,
    name: String,
}

impl From<GuildUpdate> for BotEvent {
    fn from(guild: GuildUpdate) -> Self {
        Self::GuildRenamed {
            guild_id: guild.id.0,
            name: guild.name,
        }
    }
}

#[derive(Deserialize)]
struct Channel {
    id: Snowflake,
    #[serde(rename = "type", default)]
    kind: u64,
    guild_id: Option<Snowflake>,
    name: Option<String>,
}

impl Channel {
    fn has_voice(&self) -> bool {
        VOICE_KINDS.contains(&self.kind)
    }

    fn event(self) -> Option<BotEvent> {
        let event = BotEvent::Channel {
            guild_id: self.guild_id?.0,
            channel_id: self.id.0,
            name: self.name.clone().unwrap_or_default(),
        };
        self.has_voice().then_some(event)
    }

    fn gone(self) -> Option<BotEvent> {
        Some(BotEvent::ChannelGone {
            guild_id: self.guild_id?.0,
            channel_id: self.id.0,
        })
    }
}

#[derive(Deserialize)]
struct VoiceState {
    user_id: Snowflake,
    channel_id: Option<Snowflake>,
    /// Absent in the description of a server.
    guild_id: Option<Snowflake>,
}

impl VoiceState {
    fn event(self) -> Option<BotEvent> {
        Some(BotEvent::Voice {
            guild_id: self.guild_id?.0,
            user_id: self.user_id.0,
            channel_id: self.channel_id.map(|id| id.0),
        })
    }
}

#[derive(Deserialize)]
struct User {
    id: Snowflake,
    #[serde(default)]
    bot: bool,
    #[serde(default)]
    system: bool,
}

#[derive(Deserialize)]
struct Message {
    id: Snowflake,
    channel_id: Snowflake,
    guild_id: Option<Snowflake>,
    webhook_id: Option<Snowflake>,
    #[serde(rename = "type", default)]
    kind: u64,
    author: User,
    #[serde(default)]
    content: String,
}

impl Message {
    /// Returns a message that a person wrote to the bot. The bot's own messages come back as events, too.
    fn event(self) -> Option<BotEvent> {
        let by_program = self.author.bot || self.author.system || self.webhook_id.is_some();
        if by_program || self.guild_id.is_some() || !WRITTEN_KINDS.contains(&self.kind) {
            return None;
        }
        Some(BotEvent::Message(DirectMessage {
            message_id: self.id.0,
            channel_id: self.channel_id.0,
            user_id: self.author.id.0,
            text: self.content,
        }))
    }
}

#[derive(Deserialize)]
struct Interaction {
    id: Snowflake,
    #[serde(rename = "type")]
    kind: u64,
    token: Secret,
    guild_id: Option<Snowflake>,
    /// The person, if the command was given in a server.
    member: Option<Member>,
    /// The person, if it was given in a direct message.
    user: Option<User>,
    data: Option<InteractionData>,
}

#[derive(Deserialize)]
struct Member {
    user: User,
    #[serde(default)]
    permissions: Option<Snowflake>,
}

#[derive(Deserialize)]
struct InteractionData {
    name: String,
    #[serde(default)]
    options: Vec<InteractionOption>,
}

#[derive(Deserialize)]
struct InteractionOption {
    name: String,
    #[serde(default)]
    value: serde_json::Value,
}

impl Interaction {
    fn event(self) -> Option<BotEvent> {
        let data = self.data.filter(|_| self.kind == COMMAND_KIND)?;
        let is_administrator = self
            .member
            .as_ref()
            .and_then(|member| member.permissions)
            .is_some_and(|permissions| permissions.0 & ADMINISTRATOR != 0);
        let url = data.options.into_iter().find(|option| option.name == "url");
        Some(BotEvent::Slash(SlashCommand {
            interaction_id: self.id.0,
            token: self.token,
            user_id: self.member.map(|member| member.user).or(self.user)?.id.0,
            administers: self
                .guild_id
                .filter(|_| is_administrator)
                .map(|guild| guild.0),
            name: data.name,
            url: url.and_then(|option| Some(option.value.as_str()?.to_owned())),
        }))
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
