//! A bot that starts while there is a stream, and updates that were lost.

use std::sync::Arc;

use deskhand_jamie::contract::StreamState;

use crate::{discord::Discord, scripted::Bot};

const LINK: &str = "https://twitch.tv/somebody";

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

    // The next bot sees that it was told.
    let controller = Arc::clone(&bot.controller);
    bot.end().await;
    let bot = Bot::start_with(&discord, controller).await;
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
