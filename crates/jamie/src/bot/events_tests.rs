use serde_json::{Value, json};

use super::*;

fn read(kind: &str, data: &Value) -> Option<BotEvent> {
    let text = json!({"op": 0, "s": 1, "t": kind, "d": data}).to_string();
    read_event(&text).unwrap()
}

fn message() -> Value {
    json!({
        "id": "9", "channel_id": "8", "type": 0, "content": "hello",
        "author": {"id": "7", "username": "x"}, "added_next_year": {"a": []}
    })
}

#[test]
fn messages_of_people_to_the_bot_are_read() {
    let Some(BotEvent::Message(read)) = read("MESSAGE_CREATE", &message()) else {
        panic!("it is a message");
    };
    let expected = DirectMessage {
        message_id: 9,
        channel_id: 8,
        user_id: 7,
        text: "hello".into(),
    };
    assert_eq!(read, expected);
}

#[test]
fn messages_of_programs_servers_and_discord_are_not() {
    for (field, value) in [
        ("/author/bot", json!(true)),
        ("/author/system", json!(true)),
        ("/guild_id", json!("1")),
        ("/webhook_id", json!("1")),
        ("/type", json!(7)),
    ] {
        let mut message = message();
        let (parent, name) = field.rsplit_once('/').unwrap();
        message.pointer_mut(parent).unwrap()[name] = value;
        assert!(read("MESSAGE_CREATE", &message).is_none(), "{field}");
    }
}

#[test]
fn servers_are_read_with_their_voice_channels_only() {
    let guild = json!({
        "id": "1", "name": "Friends", "roles": [{"odd": null}],
        "channels": [
            {"id": "10", "type": 2, "name": "Movies"}, {"id": "11", "type": 0, "name": "chat"},
            {"id": "12", "type": 13, "name": "Stage"}
        ],
        "voice_states": [{"user_id": "7", "channel_id": "10"}, {"user_id": "8", "channel_id": null}]
    });
    let Some(BotEvent::Guild(read)) = read("GUILD_CREATE", &guild) else {
        panic!("it is a server");
    };
    assert_eq!(read.channels, [(10, "Movies".into()), (12, "Stage".into())]);
    assert_eq!(read.seats, [(7, 10)]);
}

#[test]
fn commands_name_the_person_and_the_server_that_they_administer() {
    let command = |permissions: &str| {
        json!({
            "id": "5", "application_id": "4", "type": 2, "token": "secret", "guild_id": "1",
            "member": {"user": {"id": "7"}, "permissions": permissions},
            "data": {"name": "watch", "options": [{"name": "url", "type": 3, "value": "https://a.example"}]}
        })
    };
    let Some(BotEvent::Slash(read_as)) = read("INTERACTION_CREATE", &command("8")) else {
        panic!("it is a command");
    };
    assert_eq!((read_as.user_id, read_as.administers), (7, Some(1)));
    assert_eq!(read_as.url.as_deref(), Some("https://a.example"));
    assert!(!format!("{read_as:?}").contains("secret"), "{read_as:?}");
    let Some(BotEvent::Slash(read_as)) = read("INTERACTION_CREATE", &command("2147483648")) else {
        panic!("it is a command");
    };
    assert_eq!(read_as.administers, None);
    let button = json!({"id": "5", "type": 3, "token": "secret", "user": {"id": "7"}});
    assert!(read("INTERACTION_CREATE", &button).is_none());
}

#[test]
fn other_events_are_ignored_and_broken_ones_are_errors() {
    assert!(read("TYPING_START", &json!({"x": 1})).is_none());
    assert!(read_event(r#"{"op":11}"#).unwrap().is_none());
    for text in [
        "",
        "{",
        r#"{"t":"MESSAGE_CREATE","d":{}}"#,
        r#"{"t":"VOICE_STATE_UPDATE","d":{"user_id":"x"}}"#,
    ] {
        assert!(read_event(text).is_err(), "{text}");
    }
}
