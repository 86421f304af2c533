//! Direct messages: links, commands, refusals and failures.

use deskhand_jamie::{ErrorCode, contract::StreamState};
use serde_json::{Value, json};

use crate::{
    discord::{Discord, Posted},
    scripted::Bot,
};

const LINK: &str = "https://youtu.be/dQw4w9WgXcQ";
const WATCH: &str = "https://watch.example/w/abc";
const ENDED: &str = "⏹️ Stream ended. Thanks for watching!";

#[tokio::test]
async fn a_link_becomes_a_stream_that_everybody_in_the_channel_can_watch() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;

    let status = alice
        .hear(&format!("look at [this]({LINK}), please!"))
        .await;
    assert_eq!(
        status.text,
        "🎬 Got it! Streaming to **Movie Night** on **Friends**...\nThis usually takes 30-60 seconds to set up."
    );

    let request = bot.controller.started().await;
    assert_eq!(request.url, LINK);
    assert_eq!(
        (request.guild_id, request.channel_id),
        (server.id, server.voice)
    );
    assert_eq!(request.channel_name, "Movie Night");
    assert_eq!(request.guild_name.as_deref(), Some("Friends"));
    assert_eq!(request.requester_id, Some(alice.id));
    let message_id = request.status_message.unwrap().message_id;
    assert_eq!(message_id.to_string(), status.id);

    // The same message is kept up to date.
    bot.tell(StreamState::Starting, Some("Opening the page"))
        .await;
    let starting = alice
        .wait_for_text("🔄 **starting**: Opening the page")
        .await;
    assert_eq!(starting.id, status.id);
    assert!(starting.text.ends_with(&format!(
        "Channel: Movie Night\nServer: Friends\nURL: <{LINK}>"
    )));

    bot.tell_live(WATCH).await;
    let live = alice.wait_for_text("✅ Now streaming!").await;
    assert_eq!(live.link.as_deref(), Some(WATCH));
    assert!(
        live.text
            .contains("Everyone in **Movie Night** should see it.")
    );
    let messages = alice.messages().await;
    assert_eq!(messages.len(), 2, "{messages:#?}");
    assert!(messages[0].text.starts_with("▶️ **streaming**"));
    let invitation = alice.in_chat(&server, |messages| messages.len() == 1).await;
    assert_eq!(invitation[0].link.as_deref(), Some(WATCH));

    assert_eq!(alice.hear("stop").await.text, ENDED);
    assert_eq!(bot.controller.stops(), ["user_requested"]);
    let over = alice
        .in_chat(&server, |messages| messages[0].link.is_none())
        .await;
    assert!(over[0].text.starts_with("⏹️ Stream ended"));
    // An update that comes late is not told again.
    let messages = alice
        .wait_for("the end", |messages| {
            messages[0].text.starts_with("✅ **ended**")
        })
        .await;
    assert_eq!(texts(&messages).filter(|text| *text == ENDED).count(), 1);
    assert_eq!(
        alice.hear("status").await.text,
        "ℹ️ Nothing is streaming right now."
    );

    assert_no_message_may_ping(&discord.state().await);
    bot.end().await;
}

#[tokio::test]
async fn a_stream_without_a_link_is_seen_in_discord() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    alice.hear(LINK).await;
    bot.tell(StreamState::Streaming, None).await;
    let live = alice.wait_for_text("✅ Now streaming!").await;
    let sees = "Everyone in **Movie Night** should see it.";
    assert!(live.text.contains(sees) && live.link.is_none(), "{live:?}");
    assert_eq!(alice.in_chat(&server, |_| true).await, []);
    bot.end().await;
}

#[tokio::test]
async fn people_without_a_link_or_a_voice_channel_are_helped() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;

    for (text, answer) in [
        ("HELP ", "**Jamie - URL Streamer**"),
        ("hello", "👋 Send me a YouTube, Twitch, or Vimeo URL"),
        ("https://", "❌ I couldn't find a valid URL"),
        ("stop", "ℹ️ Nothing is streaming right now."),
        ("status", "ℹ️ Nothing is streaming right now."),
        (LINK, "❌ You're not in any voice channel I can see."),
    ] {
        let heard = alice.hear(text).await.text;
        assert!(heard.starts_with(answer), "{text}: {heard}");
    }

    // Those who leave are not in a voice channel, and bots are not answered at all.
    alice.join(&server).await;
    let left = json!({"guild": server.id, "user": alice.id, "channel": null});
    discord.ask("voice", left).await;
    let program = discord
        .ask("user", json!({"name": "program", "bot": true}))
        .await;
    let unanswered = discord
        .ask("dm", json!({"user": program, "text": LINK}))
        .await;
    assert!(
        alice
            .hear(LINK)
            .await
            .text
            .starts_with("❌ You're not in any")
    );
    let heard = discord
        .wait_for(unanswered.as_u64().unwrap(), "nothing", |_| true)
        .await;
    assert_eq!(heard, []);
    assert_eq!(bot.controller.requests(), []);
    bot.end().await;
}

#[tokio::test]
async fn there_is_one_stream_at_a_time_and_only_some_may_know_where_or_stop_it() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let elsewhere = discord.server("Others").await;
    let alice = server.member("alice").await;
    let bob = server.member("bob").await;
    let carol = elsewhere.member("carol").await;
    let dora = server.administrator("dora").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;
    bob.join(&server).await;
    carol.join(&elsewhere).await;

    assert!(alice.hear(LINK).await.text.starts_with("🎬 Got it!"));
    bot.tell_live(WATCH).await;
    alice.wait_for_text("✅ Now streaming!").await;

    // Those in a voice channel of the server may know, others not.
    let busy = bob.hear(LINK).await.text;
    assert!(
        busy.starts_with("⏳ I'm already streaming to **Movie Night** on **Friends**."),
        "{busy}"
    );
    let busy = carol.hear(LINK).await.text;
    assert!(
        busy.starts_with("⏳ I'm already streaming somewhere else."),
        "{busy}"
    );
    let status = bob.hear("status").await;
    assert!(
        status
            .text
            .contains("Channel: Movie Night\nServer: Friends")
    );
    assert_eq!(status.link.as_deref(), Some(WATCH));
    let status = carol.hear("status").await;
    assert_eq!(status.text, "▶️ I'm streaming somewhere else right now.");
    assert_eq!(status.link, None);

    for person in [&bob, &carol] {
        let refusal = person.hear("stop").await.text;
        assert_eq!(
            refusal,
            "❌ Only the person who started the stream can stop it."
        );
    }
    assert_eq!(bot.controller.stops(), [] as [&str; 0]);

    // An administrator may, and then the requester is told.
    assert_eq!(dora.hear("stop").await.text, ENDED);
    assert_eq!(bot.controller.stops(), ["administrator_requested"]);
    alice.wait_for_text(ENDED).await;
    assert!(bob.hear(LINK).await.text.starts_with("🎬 Got it!"));
    bot.end().await;
}

#[tokio::test]
async fn failures_are_told_and_ping_nobody() {
    let Some(discord) = Discord::start() else {
        return;
    };
    let server = discord.server("Friends").await;
    let alice = server.member("alice").await;
    let bot = Bot::start(&discord).await;
    alice.join(&server).await;

    // The controller is busy with something that the bot does not know.
    bot.controller.refuse(ErrorCode::Busy, "busy");
    alice.hear(LINK).await;
    alice
        .wait_for_text("⏳ I'm already streaming somewhere else.")
        .await;
    assert_eq!(
        alice.messages().await.len(),
        1,
        "the acknowledgement was replaced"
    );

    bot.controller
        .refuse(ErrorCode::SandboxFailed, "no room for another computer");
    alice.hear(LINK).await;
    alice
        .wait_for_text("❌ Something went wrong: no room for another computer")
        .await;

    // A text of others, as a page or a model may write it.
    let hostile = format!(
        "@everyone <@{}> **bold** [x](https://evil.example)",
        alice.id
    );
    alice.hear(LINK).await;
    bot.tell_failed(ErrorCode::Unknown, &hostile).await;
    let failure = alice.wait_for_text("evil.example").await;
    assert_eq!(
        failure.text,
        format!(
            "❌ Something went wrong: \\@everyone \\<\\@{}\\> \\*\\*bold\\*\\* \\[x\\]\\(https\\://evil.example\\)\n\
             Try again, or try a different URL.",
            alice.id
        )
    );
    alice.hear(LINK).await;
    bot.tell_failed(ErrorCode::UrlUnreachable, &hostile).await;
    alice.wait_for_text("❌ I couldn't load that URL.").await;

    let messages = alice.messages().await;
    assert!(
        messages.iter().all(|message| !message.pings),
        "{messages:#?}"
    );
    assert_no_message_may_ping(&discord.state().await);
    bot.end().await;
}

/// Checks what was sent, because a Discord might be more careful than the real one.
pub(crate) fn assert_no_message_may_ping(state: &Value) {
    let mut n_messages = 0;
    for request in state["requests"].as_array().unwrap() {
        let (method, body) = (request[0].as_str().unwrap(), &request[2]);
        let body = if body["data"].is_object() {
            &body["data"]
        } else {
            body
        };
        if method != "GET" && body["content"].is_string() {
            n_messages += 1;
            assert_eq!(body["allowed_mentions"], json!({"parse": []}), "{request}");
        }
    }
    assert!(n_messages > 0);
}

fn texts(messages: &[Posted]) -> impl Iterator<Item = &str> {
    messages.iter().map(|message| message.text.as_str())
}
