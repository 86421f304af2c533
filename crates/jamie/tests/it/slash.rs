//! Slash commands.

use deskhand_jamie::ErrorCode;
use serde_json::{Value, json};

use crate::{discord::Discord, scripted::Bot, talk::assert_no_message_may_ping};

const LINK: &str = "https://vimeo.com/1";
const WATCH: &str = "https://watch.example/w/abc";

#[tokio::test]
async fn commands_are_offered_and_answered_for_one() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let dora = server.administrator("dora").await;
    let bot = Bot::start(&discord).await;
    let state = discord.state().await;
    assert_eq!(
        state["commands"],
        json!(["help", "status", "stop", "watch"])
    );
    assert_eq!(state["intents"], 4225);

    let nothing = json!({});
    let help = alice.command(&server, "help", nothing.clone()).await;
    assert!(help.text.starts_with("**Jamie - URL Streamer**") && help.is_for_one);
    let refusal = alice.command(&server, "watch", json!({"url": LINK})).await;
    assert!(
        refusal
            .text
            .starts_with("❌ You're not in any voice channel")
    );
    assert!(refusal.is_for_one);
    alice.join(&server).await;
    let refusal = alice
        .command(&server, "watch", json!({"url": "nonsense"}))
        .await;
    assert!(refusal.text.starts_with("❌ I couldn't find a valid URL"));

    // The answer is in the server, and the status goes to direct messages.
    let answer = alice.command(&server, "watch", json!({"url": LINK})).await;
    assert!(answer.text.starts_with("🎬 Got it!") && answer.is_for_one);
    let status = alice.wait_for_text("⏳ **pending**").await;
    bot.controller.started().await;
    bot.tell_live(WATCH).await;
    let live = alice.wait_for_text("✅ Now streaming!").await;
    assert_eq!(live.link.as_deref(), Some(WATCH));
    assert_eq!(alice.messages().await[0].id, status.id);

    let answer = alice.command(&server, "status", nothing.clone()).await;
    assert!(answer.text.starts_with("▶️ **streaming**") && answer.is_for_one);
    let answer = bob.command(&server, "stop", nothing.clone()).await;
    assert_eq!(
        answer.text,
        "❌ Only the person who started the stream can stop it."
    );
    let answer = dora.command(&server, "stop", nothing).await;
    assert_eq!(answer.text, "⏹️ Stream ended. Thanks for watching!");
    alice
        .wait_for_text("⏹️ Stream ended. Thanks for watching!")
        .await;
    assert_eq!(bot.controller.stops(), ["administrator_requested"]);
    assert_no_message_may_ping(&discord.state().await);
    bot.end().await;
}

#[tokio::test]
async fn a_closed_chat_and_closed_direct_messages_are_no_obstacle() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let mut server = discord.server("Friends").await;
    let closed = json!({"guild": server.id, "name": "Quiet", "is_closed": true});
    server.voice = discord.ask("voice_channel", closed).await.as_u64().unwrap();
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;

    // The bot may not write in the chat, so the requester is asked to pass the link on.
    alice.hear(LINK).await;
    bot.tell_live(WATCH).await;
    let live = alice.wait_for_text("✅ Now streaming!").await;
    assert!(
        live.text
            .contains("Share the link with everyone in **Quiet**."),
        "{}",
        live.text
    );
    assert_eq!(alice.in_chat(&server, |_| true).await, []);
    alice.hear("stop").await;

    // Somebody who takes no direct messages reads everything in the answer to the command.
    let n_before = alice.messages().await.len();
    let dm = discord.ask("dm_channel", json!({"user": alice.id})).await;
    discord
        .fail("POST", &format!("/channels/{dm}/messages"), 403, 1, false)
        .await;
    alice.command(&server, "watch", json!({"url": LINK})).await;
    bot.controller.started().await;
    bot.tell_live(WATCH).await;
    let answers = alice
        .in_chat(&server, |messages| {
            messages.len() == 2 && messages[1].link.is_some()
        })
        .await;
    assert!(answers[0].text.starts_with("▶️ **streaming**"));
    assert!(answers[1].text.starts_with("✅ Now streaming!") && answers[1].is_for_one);
    assert_eq!(alice.messages().await.len(), n_before);
    bot.end().await;
}

#[tokio::test]
async fn an_answer_is_taken_back_when_the_controller_is_busy() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    let busy = "⏳ I'm already streaming somewhere else.";
    bot.controller.refuse(ErrorCode::Busy, "busy");
    alice.give(&server, "watch", json!({"url": LINK})).await;
    alice
        .in_chat(&server, |messages| {
            messages.len() == 1 && messages[0].text.starts_with(busy)
        })
        .await;
    assert!(alice.wait_for_text(busy).await.link.is_none());
    assert_eq!(alice.messages().await.len(), 1);

    // The acknowledgement never arrived, so there is nothing to replace.
    let dm = discord.ask("dm_channel", json!({"user": alice.id})).await;
    let path = format!("/channels/{dm}/messages");
    discord.fail("POST", &path, 403, 1, false).await;
    bot.controller.refuse(ErrorCode::Busy, "busy");
    assert!(alice.hear(LINK).await.text.starts_with(busy));
    bot.end().await;
}

#[tokio::test]
async fn a_command_is_promised_an_answer_while_the_one_before_is_carried_out() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    alice.command(&server, "watch", json!({"url": LINK})).await;
    bot.controller.started().await;
    bot.controller.hold_stops(true);
    let answer = alice.command(&server, "stop", json!({})).await;
    assert!(answer.text.starts_with("⏹️ Stopping"), "{}", answer.text);

    alice.give(&server, "status", json!({})).await;
    discord
        .wait_until("a promise for each command", |state| {
            let requests = state["requests"].as_array().unwrap().iter();
            let path = |request: &Value| request[1].as_str().unwrap().to_owned();
            requests
                .filter(|it| path(it).ends_with("/callback"))
                .count()
                == 3
        })
        .await;
    assert_eq!(bot.controller.stops(), [] as [&str; 0]);
    bot.controller.hold_stops(false);
    let is_last = |text: &str| text == "ℹ️ Nothing is streaming right now.";
    alice
        .in_chat(&server, |messages| {
            messages.iter().any(|message| is_last(&message.text))
        })
        .await;
    bot.end().await;
}
