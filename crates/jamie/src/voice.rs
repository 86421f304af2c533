//! The people in voice channels, over all servers that the bot is in.

use std::collections::HashMap;

/// The most voice channels of a server whose names are kept. It is Discord's bound for all channels of a server.
const MAX_CHANNELS: usize = 500;

/// The most people in voice channels of one server that are kept.
const MAX_SEATS: usize = 50_000;

/// The longest name that is kept, in characters. It is Discord's own bound.
const MAX_NAME_CHARS: usize = 100;

/// Knows in which voice channel each person is. Filled when the gateway describes a server, then kept up to date.
///
/// A person is looked up in every server, which takes microseconds even with a thousand of them. In return a server is
/// added, replaced and removed as a whole, so nothing of it can be left behind.
#[derive(Debug, Default)]
pub(crate) struct VoiceMap {
    guilds: HashMap<u64, VoiceGuild>,
    /// The number of changes so far. It orders them.
    n_changes: u64,
}

#[derive(Debug)]
struct VoiceGuild {
    name: Box<str>,
    channels: HashMap<u64, Box<str>>,
    seats: HashMap<u64, Seat>,
}

#[derive(Debug, Clone, Copy)]
struct Seat {
    channel: u64,
    /// The change that put the person here.
    since: u64,
}

/// A voice channel that a person is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoicePlace {
    pub(crate) guild_id: u64,
    pub(crate) guild_name: String,
    pub(crate) channel_id: u64,
    pub(crate) channel_name: String,
}

/// A server as the gateway describes it.
#[derive(Debug, Default)]
pub(crate) struct GuildVoices {
    pub(crate) guild_id: u64,
    pub(crate) name: String,
    /// Voice channels and their names.
    pub(crate) channels: Vec<(u64, String)>,
    /// People and the channels that they are in.
    pub(crate) seats: Vec<(u64, u64)>,
}

impl VoiceMap {
    /// Adds a server, or replaces what is known of it.
    pub(crate) fn set_guild(&mut self, guild: GuildVoices) {
        self.n_changes += 1;
        let since = self.n_changes;
        let seats = guild.seats.into_iter().take(MAX_SEATS);
        let mut guild_now = VoiceGuild {
            name: bounded(&guild.name),
            channels: guild
                .channels
                .into_iter()
                .take(MAX_CHANNELS)
                .map(|(id, name)| (id, bounded(&name)))
                .collect(),
            seats: seats
                .map(|(user, channel)| (user, Seat { channel, since }))
                .collect(),
        };
        guild_now.channels.shrink_to_fit();
        guild_now.seats.shrink_to_fit();
        self.guilds.insert(guild.guild_id, guild_now);
    }

    pub(crate) fn rename_guild(&mut self, guild_id: u64, name: &str) {
        if let Some(guild) = self.guilds.get_mut(&guild_id) {
            guild.name = bounded(name);
        }
    }

    pub(crate) fn remove_guild(&mut self, guild_id: u64) {
        self.guilds.remove(&guild_id);
    }

    /// Forgets all servers but these.
    pub(crate) fn retain_guilds(&mut self, keep: &[u64]) {
        self.guilds.retain(|guild_id, _| keep.contains(guild_id));
    }

    pub(crate) fn set_channel(&mut self, guild_id: u64, channel_id: u64, name: &str) {
        if let Some(guild) = self.guilds.get_mut(&guild_id)
            && (guild.channels.len() < MAX_CHANNELS || guild.channels.contains_key(&channel_id))
        {
            guild.channels.insert(channel_id, bounded(name));
        }
    }

    /// Removes a channel with everybody in it.
    pub(crate) fn remove_channel(&mut self, guild_id: u64, channel_id: u64) {
        if let Some(guild) = self.guilds.get_mut(&guild_id) {
            guild.channels.remove(&channel_id);
            guild.seats.retain(|_, seat| seat.channel != channel_id);
        }
    }

    /// Moves a person to a channel of a server, or out of its voice channels.
    pub(crate) fn move_user(&mut self, guild_id: u64, user_id: u64, channel_id: Option<u64>) {
        self.n_changes += 1;
        let since = self.n_changes;
        let Some(guild) = self.guilds.get_mut(&guild_id) else {
            return;
        };
        match channel_id {
            None => {
                guild.seats.remove(&user_id);
            }
            // Muting is an update too, and does not make a place newer.
            Some(channel)
                if guild
                    .seats
                    .get(&user_id)
                    .is_some_and(|seat| seat.channel == channel) => {}
            Some(channel) if guild.seats.len() < MAX_SEATS => {
                guild.seats.insert(user_id, Seat { channel, since });
            }
            Some(_) => {}
        }
    }

    /// Finds the voice channel of a person. Of several it is the one that they joined last.
    pub(crate) fn find(&self, user_id: u64) -> Option<VoicePlace> {
        let (guild_id, guild, seat) = self
            .guilds
            .iter()
            .filter_map(|(id, guild)| Some((*id, guild, *guild.seats.get(&user_id)?)))
            .max_by_key(|(id, _, seat)| (seat.since, *id))?;
        let channel_name = guild
            .channels
            .get(&seat.channel)
            .filter(|name| !name.is_empty())
            .map_or("voice channel", |name| name);
        Some(VoicePlace {
            guild_id,
            guild_name: guild.name.to_string(),
            channel_id: seat.channel,
            channel_name: channel_name.to_owned(),
        })
    }

    /// Returns true if a person is in a voice channel of a server.
    pub(crate) fn is_in_guild(&self, user_id: u64, guild_id: u64) -> bool {
        self.guilds
            .get(&guild_id)
            .is_some_and(|guild| guild.seats.contains_key(&user_id))
    }

    /// Returns the number of servers, and the number of people in their voice channels.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize) {
        let n_seats = self.guilds.values().map(|guild| guild.seats.len()).sum();
        (self.guilds.len(), n_seats)
    }
}

fn bounded(name: &str) -> Box<str> {
    name.chars().take(MAX_NAME_CHARS).collect::<String>().into()
}

#[cfg(test)]
#[path = "voice_tests.rs"]
mod tests;
