//! A bot that starts while there is a stream, and updates that were lost.

use std::sync::Arc;

use deskhand_jamie::contract::StreamState;
use serde_json::Value;

use crate::{
    discord::{Discord, Posted},
    scripted::Bot,
};

const LINK: &str = "https://twitch.tv/somebody";
const ENDED: &str = "⏹️ Stream ended. Thanks for watching!";

#[tokio::test]
async fn a_new_bot_takes_over_the_streams_of_the_old_one() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let old = Bot::start(&discord).await;
    alice.join(&server).await;
    let status = alice.hear(LINK).await;
    old.tell(StreamState::Starting, None).await;
    alice.wait_for_text("🔄 **starting**").await;
    let controller = Arc::clone(&old.controller);
    old.end().await;

    // It goes live while there is no bot.
    controller.set(StreamState::Streaming, Some("https://watch.example/w/abc"));
    let bot = Bot::start_with(&discord, controller).await;
    alice.wait_for_text("✅ Now streaming!").await;
    let messages = alice.messages().await;
    assert_eq!(messages[0].id, status.id);
    assert!(messages[0].text.starts_with("▶️ **streaming**"));
    let busy = alice.hear(LINK).await.text;
    assert!(
        busy.starts_with("⏳ I'm already streaming to **Movie Night**"),
        "{busy}"
    );

    // The next bot sees that it was told, and knows its invitation.
    let controller = Arc::clone(&bot.controller);
    bot.end().await;
    let bot = Bot::start_with(&discord, controller).await;
    // Whoever is answered is answered after the bot has asked the controller.
    alice.hear("status").await;
    let another = "https://watch.example/w/2";
    bot.tell_live(another).await;
    let is_renewed = |messages: &[Posted]| messages[0].link.as_deref() == Some(another);
    let chat = alice.in_chat(&server, is_renewed).await;
    assert_eq!(chat.len(), 1, "{chat:#?}");
    alice.wait_for_text("🔄 The stream goes on.").await;
    assert_eq!(
        alice.hear("stop").await.text,
        "⏹️ Stream ended. Thanks for watching!"
    );
    let messages = alice
        .wait_for("the end", |messages| {
            messages[0].text.starts_with("✅ **ended**")
        })
        .await;
    let n_told = messages
        .iter()
        .filter(|message| message.text.contains("Now streaming"))
        .count();
    assert_eq!(n_told, 1);
    bot.end().await;
}

#[tokio::test]
async fn an_end_without_a_bot_is_told_by_the_next_one_once() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let old = Bot::start(&discord).await;
    alice.join(&server).await;
    let status = alice.hear(LINK).await;
    old.tell_live("https://watch.example/w/abc").await;
    alice.wait_for_text("✅ Now streaming!").await;
    let controller = Arc::clone(&old.controller);
    old.end().await;

    controller.set(StreamState::Ended, None);
    let bot = Bot::start_with(&discord, Arc::clone(&controller)).await;
    alice.wait_for_text(ENDED).await;
    let messages = alice.messages().await;
    assert_eq!(messages[0].id, status.id);
    assert!(messages[0].text.starts_with("✅ **ended**"));
    assert_eq!(messages[0].link, None);
    let chat = alice
        .in_chat(&server, |messages| messages[0].link.is_none())
        .await;
    assert_eq!(chat.len(), 1);
    assert!(chat[0].text.starts_with("⏹️ Stream ended"));
    bot.end().await;

    // The next bot sees that it was told, so its own answer comes first.
    let n_before = alice.messages().await.len();
    let bot = Bot::start_with(&discord, controller).await;
    let reads = |state: &Value| {
        let requests = state["requests"].as_array().unwrap().iter();
        let path = format!("/messages/{}", status.id);
        let is_read = |it: &Value| it[0] == "GET" && it[1].as_str().unwrap().ends_with(&path);
        requests.filter(|it| is_read(it)).count()
    };
    discord
        .wait_until("the status to be read again", |state| reads(state) == 2)
        .await;
    alice.hear("help").await;
    assert_eq!(alice.messages().await.len(), n_before + 1);
    bot.end().await;
}

#[tokio::test]
async fn a_status_that_could_not_be_shown_is_shown_with_the_next_news() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    let status = alice.hear(LINK).await;
    bot.controller.started().await;
    discord.fail("PATCH", &status.id, 404, 1, false).await;
    bot.tell(StreamState::Starting, Some("Opening the page"))
        .await;
    discord
        .wait_until("the failed change", |state| state["n_faults"] == 0)
        .await;
    // The link is not shown before the stream is live, so the text is the same.
    let link = Some("https://watch.example/w/abc");
    bot.tell_all(StreamState::Starting, Some("Opening the page"), None, link)
        .await;
    alice
        .wait_for_text("🔄 **starting**: Opening the page")
        .await;
    bot.end().await;
}

#[tokio::test]
async fn another_link_is_told_to_the_requester_and_in_the_chat() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    alice.hear(LINK).await;
    let links = ["https://watch.example/w/1", "https://watch.example/w/2"];
    bot.tell_live(links[0]).await;
    alice.wait_for_text("✅ Now streaming!").await;
    let invitation = alice.in_chat(&server, |messages| messages.len() == 1).await;

    // The same link again is no news.
    bot.tell(StreamState::Streaming, Some("Something went wrong"))
        .await;
    bot.tell_live(links[0]).await;
    bot.tell_live(links[1]).await;
    let renewed = alice.wait_for_text("🔄 The stream goes on.").await;
    assert_eq!(renewed.link.as_deref(), Some(links[1]));
    let messages = alice.messages().await;
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert_eq!(messages[0].link.as_deref(), Some(links[1]));
    let chat = alice
        .in_chat(&server, |messages| {
            messages[0].link.as_deref() == Some(links[1])
        })
        .await;
    assert_eq!((chat.len(), &chat[0].id), (1, &invitation[0].id));
    bot.end().await;
}

#[tokio::test]
async fn a_stream_whose_end_was_not_told_is_noticed() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    bob.join(&server).await;
    alice.hear(LINK).await;
    bot.controller.started().await;

    bot.controller.forget();
    assert!(bob.hear(LINK).await.text.starts_with("🎬 Got it!"));
    alice
        .wait_for_text("⏹️ Stream ended. Thanks for watching!")
        .await;
    bot.end().await;
}
