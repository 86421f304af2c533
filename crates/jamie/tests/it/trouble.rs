//! Lost connections, repeated events, and a Discord in trouble.

use std::{
    io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use deskhand_jamie::{BotError, BotState, ErrorCode};
use deskhand_testkit::eventually;
use serde_json::json;

use crate::{discord::Discord, scripted::Bot};

#[tokio::test]
async fn lost_connections_are_resumed_and_nothing_is_answered_twice() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let bot = Bot::start(&discord).await;
    alice.hear("help").await;

    // Both happen while the connection is lost, and both arrive.
    discord.ask("drop", json!({"code": 4000})).await;
    alice.join(&server).await;
    let answer = alice.hear("https://youtu.be/a").await;
    assert!(answer.text.starts_with("🎬 Got it!"), "{}", answer.text);
    let state = discord.state().await;
    assert_eq!(
        (&state["identified"], &state["resumed"]),
        (&json!(1), &json!(1))
    );

    // Events that come again, that are broken, and that nobody knows.
    discord.ask("repeat", json!({"user": alice.id})).await;
    let odd = [
        json!(["MESSAGE_CREATE", {"id": "x"}]),
        json!(["GUILD_CREATE", []]),
        json!(["NEW_NEXT_YEAR", {"a": 1}]),
    ];
    discord.dispatch(&odd).await;
    // The server ends the session, and the bot begins a new one. It still knows where everybody is.
    discord.ask("drop", json!({"code": 4009})).await;
    discord
        .wait_until("a new connection", |state| {
            state["resumed"] == 2 || state["identified"] == 2
        })
        .await;
    bob.hear("help").await;
    let status = alice.hear("status").await.text;
    assert!(status.contains("Channel: Movie Night"), "{status}");
    // A person is answered in order, so an answer to the repeated message would be there.
    assert_eq!(alice.messages().await.len(), 3);
    assert_eq!(bot.controller.requests().len(), 1);
    bot.end().await;
}

#[tokio::test]
async fn orders_of_the_gateway_are_obeyed() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    alice.hear("help").await;

    // Connect anew and resume.
    discord.ask("order", json!({"op": 7})).await;
    discord
        .wait_until("a resumed session", |state| state["resumed"] == 1)
        .await;
    alice.hear("help").await;
    // The session is over, and cannot be resumed.
    discord.ask("order", json!({"op": 9, "data": false})).await;
    discord
        .wait_until("a new session", |state| state["identified"] == 2)
        .await;
    let answer = alice.hear("https://youtu.be/a").await.text;
    assert!(answer.starts_with("🎬 Got it!"), "{answer}");
    assert_eq!(alice.messages().await.len(), 3);
    // Somebody invites it to another server.
    discord.server("Others").await;
    alice.hear("help").await;
    let connected = BotState::Connected { n_servers: 2 };
    assert_eq!(bot.standing.state(), connected);
    bot.end().await;
}

/// The log of this process.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn contains(&self, text: &str) -> bool {
        let log = self.0.lock().unwrap();
        String::from_utf8_lossy(&log).contains(text)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discord_that_stays_in_trouble_is_given_up_with_a_code() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    if subscriber.try_init().is_err() {
        return deskhand_testkit::not_run("another test of this process has the log");
    }
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let bot = Bot::start(&discord).await;
    // The first try and three more: when Discord says, and after waits of our own.
    for (person, status) in [(&alice, 429), (&bob, 500)] {
        let dm = discord.ask("dm_channel", json!({"user": person.id})).await;
        let path = format!("/channels/{dm}/messages");
        discord.fail("POST", &path, status, 4, false).await;
        person.write("help").await;
    }
    for code in ["ERR_DISCORD_RATE_LIMIT", "ERR_DISCORD_DOWN"] {
        eventually("the log has the code", || log.contains(code));
    }
    for person in [&alice, &bob] {
        let answer = person.hear("status").await.text;
        assert!(answer.contains("Nothing is streaming"), "{answer}");
        assert_eq!(person.messages().await.len(), 1);
    }
    alice.join(&server).await;
    alice.hear("https://youtu.be/a").await;
    let id = alice.id;
    let (guild, channel) = (server.id, server.voice);
    for (event, fields) in [
        (
            "discord.dm_received",
            format!("user_id={id} content_length=18"),
        ),
        (
            "discord.voice_detected",
            format!("user_id={id} guild_id={guild} channel_id={channel}"),
        ),
    ] {
        let line = format!("event=\"{event}\" {fields}");
        assert!(log.contains(&line), "{line}");
    }
    bot.end().await;
}

#[tokio::test]
async fn rate_limits_and_errors_of_discord_lead_to_one_message() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;

    let trouble = [
        (429, 1, false),
        (500, 2, false),
        (500, 1, true),
        (502, 1, true),
    ];
    for (n_before, (status, times, after)) in trouble.into_iter().enumerate() {
        discord
            .fail("POST", "/messages", status, times, after)
            .await;
        let answer = alice.hear("help").await;
        assert!(answer.text.starts_with("**Jamie"));
        // The next message is answered after this one, so a second copy would be there by then.
        assert_eq!(alice.messages().await.len(), n_before + 1);
    }
    alice.hear("status").await;
    assert_eq!(alice.messages().await.len(), trouble.len() + 1);
    bot.end().await;
}

#[tokio::test]
async fn a_limit_for_all_requests_and_one_without_a_time_are_waited_for() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let bot = Bot::start(&discord).await;
    let began = Instant::now();
    for (person, scope) in [(&alice, "global"), (&bob, "")] {
        let dm = discord.ask("dm_channel", json!({"user": person.id})).await;
        let path = format!("/channels/{dm}/messages");
        let limit = json!({"method": "POST", "path": path, "status": 429, "scope": scope});
        discord.ask("fault", limit).await;
        person.write("help").await;
    }
    for person in [&alice, &bob] {
        person.wait_for_text("**Jamie").await;
        assert!(
            began.elapsed() >= Duration::from_secs(1),
            "it was sent again at once"
        );
        assert_eq!(person.messages().await.len(), 1);
    }
    bot.end().await;
}

#[tokio::test]
async fn a_refused_token_ends_the_bot_with_a_reason() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let bot = Bot::begin(&discord, std::sync::Arc::default(), "another.token");
    let error = bot.ends().await;
    assert_eq!(error, BotError::TokenRefused);
    assert_eq!(error.code(), ErrorCode::InvalidCreds);
    assert!(!error.to_string().contains("another.token"));
}
