//! The Discord bot and its streams: how soon people are answered, can watch, and are rid of a stream again.

use std::{
    process::{Child, Command, Stdio},
    time::Instant,
};

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::RequestId,
};
use deskhand_jamie::contract::StatusUpdate;
use deskhand_testkit::{
    Client, Server, ServerOptions,
    discord::{Discord, Person, Posted, TOKEN},
    rss_bytes,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use crate::{
    site::Site,
    table::{Row, Table, median},
};

const N_STREAMS: usize = 5;
const N_WITH_WEBHOOKS: usize = 3;
/// The changes of status of one stream: starting, streaming, stopping, ended.
const N_CHANGES: usize = 4;
const N_HEALTH: usize = 50;
const N_SERVERS: u64 = 1_000;
const N_PEOPLE_PER_SERVER: u64 = 50;
const PAGE: &str = "<!doctype html><title>A video</title>\
    <video src=/video.webm width=320 height=180 muted loop preload=auto></video>";
/// A moving bar and a tone.
const VIDEO: &[u8] = include_bytes!("../../crates/deskhand/tests/it/jamie/tone.webm");
const NEEDS: &str = "scripts/bench installs the Discord for tests";

/// The times of all streams, in milliseconds.
#[derive(Default)]
struct Times {
    acknowledged: Vec<f64>,
    live: Vec<f64>,
    stopped: Vec<f64>,
}

pub(crate) async fn measure(program: &str) {
    println!(
        "Measuring {N_STREAMS} streams that a message in Discord starts and another one stops …"
    );
    let discord = Discord::start().expect(NEEDS);
    let site = Site::start(PAGE, VIDEO.to_vec());
    let server = Server::start(
        program,
        ServerOptions {
            variables: variables(&discord),
            hosts: Site::hosts(),
            ..ServerOptions::default()
        },
    );
    let client = server.client();
    connected(&discord).await;
    let friends = discord.server("Friends").await;
    let anna = friends.member("anna").await;
    anna.join(&friends).await;
    let mut times = Times::default();
    for nth in 1..=N_STREAMS {
        stream(&anna, &site.url(), nth, &mut times).await;
    }
    let webhooks = webhooks(&client, &site.url()).await;
    let mut health = Vec::new();
    for _ in 0..N_HEALTH {
        let began = Instant::now();
        client.get("/jamie/health").await.good();
        health.push(elapsed_ms(began));
    }
    let [usual_mb, most_mb] = memory(program, &server).await;

    // The longest times that the specification allows.
    let mut table = Table::next_to("allowed");
    for (what, samples, allowed, target) in [
        (
            "message to acknowledgement",
            times.acknowledged,
            2_000.0,
            300.0,
        ),
        ("acknowledgement to live", times.live, 45_000.0, 5_000.0),
        ("`stop` to the end", times.stopped, 5_000.0, 1_000.0),
        ("health", health, 100.0, 20.0),
        ("change of status to webhook", webhooks, 1_000.0, 200.0),
    ] {
        table.add(Row::ms(what, median(samples), Some(allowed), target));
    }
    let row = |what, mb| Row::at_most(what, "MB", mb, Some(256.0), 40.0);
    table.add(row("bot's memory in 1,000 servers", usual_mb));
    table.add(row("and at most", most_mb));
    println!("{table}");
    println!(
        "The bot's servers have {} people in voice channels.",
        N_SERVERS * N_PEOPLE_PER_SERVER
    );
}

fn variables(discord: &Discord) -> Vec<(String, String)> {
    let gateway = discord.url.replace("http", "ws");
    [
        ("DESKHAND_JAMIE_TOKEN", TOKEN),
        ("DESKHAND_JAMIE_API_URL", discord.url.as_str()),
        ("DESKHAND_JAMIE_GATEWAY_URL", gateway.as_str()),
        ("DESKHAND_JAMIE_WEBHOOK_KEY", "a key for the measurement"),
        ("DESKHAND_JAMIE_PRIVATE_WEBHOOKS", "true"),
        ("DESKHAND_NETWORK_ALLOW", "127.0.0.0/8"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

async fn connected(discord: &Discord) {
    let is_connected = |state: &Value| !state["commands"].as_array().unwrap().is_empty();
    discord
        .wait_until("the bot to be connected", is_connected)
        .await;
}

/// Starts a stream by a message and stops it, for the nth time.
async fn stream(person: &Person<'_>, url: &str, nth: usize, times: &mut Times) {
    let has = |text: &'static str| {
        move |messages: &[Posted]| {
            let found = messages
                .iter()
                .filter(|message| message.text.contains(text));
            found.count() >= nth
        }
    };
    let asked = Instant::now();
    person.hear(url).await;
    times.acknowledged.push(elapsed_ms(asked));
    let accepted = Instant::now();
    let live = "Now streaming!";
    person.wait_for(live, has(live)).await;
    times.live.push(elapsed_ms(accepted));
    let stopped = Instant::now();
    person.write("stop").await;
    let ended = "Stream ended";
    person.wait_for(ended, has(ended)).await;
    times.stopped.push(elapsed_ms(stopped));
}

/// Returns the time from each change of some streams to the arrival of its webhook.
async fn webhooks(client: &Client, url: &str) -> Vec<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let webhook_url = format!("http://{}/", listener.local_addr().unwrap());
    let mut times = Vec::new();
    for _ in 0..N_WITH_WEBHOOKS {
        let id = RequestId::new().to_string();
        let request = json!({
            "session_id": id, "url": url, "guild_id": 1, "channel_id": 2, "channel_name": "Movie Night",
            "webhook_url": webhook_url,
        });
        client.post("/jamie/stream", request).await.good();
        for _ in 0..N_CHANGES / 2 {
            times.push(receive(&listener).await);
        }
        let path = format!("/jamie/stop/{id}");
        let stopping = client.post(&path, json!({"reason": "user_requested"}));
        let receiving = async { [receive(&listener).await, receive(&listener).await] };
        let (stopped, received) = tokio::join!(stopping, receiving);
        stopped.good();
        times.extend(received);
    }
    times
}

/// Receives a webhook, and returns its age in milliseconds.
async fn receive(listener: &TcpListener) -> f64 {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    let mut n_bytes = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(length) = line.strip_prefix("content-length: ") {
            n_bytes = length.parse().unwrap();
        }
    }
    let mut body = vec![0; n_bytes];
    stream.read_exact(&mut body).await.unwrap();
    let now_us = SystemClock.now().as_microsecond();
    let update: StatusUpdate = serde_json::from_slice(&body).unwrap();
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).await.unwrap();
    #[expect(clippy::cast_precision_loss, reason = "it is a short time")]
    let age_us = (now_us - update.timestamp.as_microsecond()) as f64;
    age_us / 1_000.0
}

/// A bot in a process of its own. It is killed on drop.
struct BotProcess(Child);

impl Drop for BotProcess {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the memory of a bot in many servers, in MB: when it knows all of them, and the most that it ever had.
async fn memory(program: &str, server: &Server) -> [f64; 2] {
    let discord = Discord::start().expect(NEEDS);
    let friends = discord.server("Friends").await;
    let alice = friends.member("alice").await;
    #[expect(clippy::disallowed_methods, reason = "the bot is what is measured")]
    let bot = Command::new(program)
        .args(["jamie", "--server", &server.url()])
        .envs(variables(&discord))
        .env("DESKHAND_TOKEN", server.token())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let bot = BotProcess(bot.unwrap());
    connected(&discord).await;
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
    alice.hear("https://no-such.invalid/").await;
    let pid = bot.0.id().cast_signed();
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let usual_mb = rss_bytes(pid) as f64 / 1e6;
    [usual_mb, most_mb(pid)]
}

fn most_mb(pid: i32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1));
    kb.map_or(f64::NAN, |kb| kb.parse::<f64>().unwrap() * 1.024 / 1_000.0)
}

fn elapsed_ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}
