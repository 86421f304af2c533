use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn guild(guild_id: u64, seats: &[(u64, u64)]) -> GuildVoices {
    GuildVoices {
        guild_id,
        name: format!("server {guild_id}"),
        channels: vec![
            (guild_id * 10, "General".into()),
            (guild_id * 10 + 1, "Movies".into()),
        ],
        seats: seats.to_vec(),
    }
}

#[test]
fn people_are_found_where_they_are() {
    let mut map = VoiceMap::default();
    map.set_guild(guild(1, &[(7, 10)]));
    map.set_guild(guild(2, &[]));
    let place = map.find(7).unwrap();
    assert_eq!((place.guild_id, place.channel_id), (1, 10));
    assert_eq!(
        (place.guild_name.as_str(), place.channel_name.as_str()),
        ("server 1", "General")
    );
    assert_eq!(map.find(8), None);

    // Joining the other server may be told before leaving the first one.
    map.move_user(2, 7, Some(21));
    assert_eq!(map.find(7).unwrap().channel_name, "Movies");
    // Muting in the old place changes nothing.
    map.move_user(1, 7, Some(10));
    assert_eq!(map.find(7).unwrap().guild_id, 2);
    map.move_user(1, 7, None);
    map.move_user(2, 7, None);
    assert_eq!(map.find(7), None);
}

#[test]
fn servers_and_channels_come_and_go() {
    let mut map = VoiceMap::default();
    map.set_guild(guild(1, &[(7, 10), (8, 11)]));
    map.rename_guild(1, "New name");
    map.set_channel(1, 10, "Lobby");
    let place = map.find(7).unwrap();
    assert_eq!(
        (place.guild_name.as_str(), place.channel_name.as_str()),
        ("New name", "Lobby")
    );
    assert!(map.is_in_guild(7, 1) && !map.is_in_guild(7, 2));

    map.remove_channel(1, 10);
    assert_eq!(map.find(7), None);
    assert_eq!(map.counts(), (1, 1));
    map.set_guild(guild(1, &[]));
    assert_eq!(map.counts(), (1, 0));
    map.move_user(9, 7, Some(1));
    assert_eq!(map.find(7), None, "the server is unknown");
    map.set_guild(guild(2, &[(7, 20)]));
    map.retain_guilds(&[1]);
    assert_eq!(map.find(7), None);
    map.remove_guild(1);
    assert_eq!(map.counts(), (0, 0));
}

#[test]
fn names_are_bounded() {
    let mut map = VoiceMap::default();
    map.set_guild(GuildVoices {
        name: "é".repeat(1000),
        ..guild(1, &[(7, 99)])
    });
    let place = map.find(7).unwrap();
    assert_eq!(place.guild_name.chars().count(), MAX_NAME_CHARS);
    assert_eq!(
        place.channel_name, "voice channel",
        "a channel without a known name"
    );
}

proptest! {
    /// Whatever order joins, moves and departures come in, each person is in the place that they went to last.
    #[test]
    fn the_map_agrees_with_a_list_of_moves(
        moves in proptest::collection::vec((1..4_u64, 1..6_u64, proptest::option::of(1..4_u64)), 0..60)
    ) {
        let mut map = VoiceMap::default();
        for id in 1..4 {
            map.set_guild(guild(id, &[]));
        }
        // By person and server: the channel, and the move that led there.
        let mut expected: BTreeMap<(u64, u64), (u64, usize)> = BTreeMap::new();
        for (n, (guild_id, user, channel)) in moves.into_iter().enumerate() {
            map.move_user(guild_id, user, channel);
            match channel {
                None => { expected.remove(&(user, guild_id)); }
                Some(channel) if expected.get(&(user, guild_id)).is_some_and(|seat| seat.0 == channel) => {}
                Some(channel) => { expected.insert((user, guild_id), (channel, n)); }
            }
        }
        for user in 1..6 {
            let last = expected
                .iter()
                .filter(|((of, _), _)| *of == user)
                .max_by_key(|(_, (_, n))| *n)
                .map(|((_, guild_id), (channel, _))| (*guild_id, *channel));
            let found = map.find(user).map(|place| (place.guild_id, place.channel_id));
            prop_assert_eq!(found, last);
        }
        prop_assert_eq!(map.counts().1, expected.len());
    }
}
