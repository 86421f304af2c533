//! The bot's memory in a thousand servers.

use deskhand_testkit::not_run;
use serde_json::json;

use crate::{discord::Discord, scripted::Bot};

const N_SERVERS: u64 = 1000;
const N_PEOPLE_PER_SERVER: u64 = 50;
const MAX_RESIDENT_KB: u64 = 40 * 1024;

/// The test, with its own client of HTTP, is in the same process as the bot, so the bot alone needs less.
#[expect(clippy::print_stderr, reason = "the numbers are shown by --no-capture")]
#[tokio::test]
async fn a_thousand_servers_with_fifty_thousand_people_fit_in_40_mb() {
    if std::env::var_os("NEXTEST").is_none() {
        return not_run("other tests run in this process; cargo-nextest starts one for each");
    }
    let Some(discord) = Discord::start() else {
        return;
    };
    let friends = discord.server("Friends").await;
    let alice = friends.member("alice").await;
    let bot = Bot::start(&discord).await;
    let before = resident_kb("VmRSS");
    let many = json!({"count": N_SERVERS, "people": N_PEOPLE_PER_SERVER});
    discord.ask("servers", many).await;
    // Somebody in the last of them is found, so all of them have been read.
    let last = N_SERVERS << 20;
    let seat = json!({
        "user_id": alice.id.to_string(), "channel_id": (last + 1).to_string(), "guild_id": last.to_string()
    });
    discord
        .dispatch(&[json!(["VOICE_STATE_UPDATE", seat])])
        .await;
    let answer = alice.hear("https://youtu.be/a").await.text;
    assert!(answer.contains("**Room 1** on **Server 1000**"), "{answer}");

    let (after, peak) = (resident_kb("VmRSS"), resident_kb("VmHWM"));
    eprintln!("memory before {before} kB, with all servers {after} kB, at most {peak} kB");
    assert!(peak < MAX_RESIDENT_KB, "{peak} kB");
    bot.end().await;
}

fn resident_kb(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
