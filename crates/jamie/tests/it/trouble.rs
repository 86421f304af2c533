//! Lost connections, repeated events, and a Discord in trouble.

use deskhand_jamie::BotError;
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
async fn a_refused_token_ends_the_bot_with_a_reason() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let bot = Bot::begin(&discord, std::sync::Arc::default(), "another.token");
    let error = bot.ends().await;
    assert_eq!(error, BotError::TokenRefused);
    assert!(!error.to_string().contains("another.token"));
}
