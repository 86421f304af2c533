//! One walk with everything: a message in Discord, the program, a real sandbox, and Chromium that plays a video.

mod share;
mod stand_in;

use std::time::Duration;

use deskhand_testkit::{
    Client, Listener, Server, ServerOptions,
    discord::{Discord, TOKEN},
    not_run,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use crate::world::serve_with;

const BROWSER: &str = "/usr/bin/chromium";
/// The name of the site, which the server finds on this machine.
const HOST: &str = "videos.test";
/// A video of some seconds with a tone.
const VIDEO: &[u8] = include_bytes!("jamie/tone.webm");
/// A page as sites have it: the video neither plays by itself nor is it alone.
const PAGE: &str = "<!doctype html><title>A video</title><h1>A video</h1>\
    <video src=/tone.webm width=320 height=180 muted loop preload=auto></video><video width=10 height=10></video>";

/// Serves the page and its video.
async fn serve_site(listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        // A browser that goes away needs no answer.
        drop(answer(stream).await);
    }
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = vec![0; 16 * 1024];
    let n_bytes = stream.read(&mut request).await?;
    let (kind, body) = match request[..n_bytes].starts_with(b"GET /tone.webm") {
        true => ("video/webm", VIDEO),
        false => ("text/html", PAGE.as_bytes()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

fn start(discord: &Discord) -> Server {
    let variables = [
        ("DESKHAND_JAMIE_TOKEN", TOKEN.to_owned()),
        ("DESKHAND_JAMIE_API_URL", discord.url.clone()),
        (
            "DESKHAND_JAMIE_GATEWAY_URL",
            discord.url.replace("http", "ws"),
        ),
        ("DESKHAND_NETWORK_ALLOW", "127.0.0.0/8".to_owned()),
    ];
    serve_with(ServerOptions {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        hosts: vec![(HOST.to_owned(), "127.0.0.1".to_owned())],
        ..ServerOptions::default()
    })
}

async fn streams(client: &Client) -> Vec<Value> {
    let listed = client.get("/jamie/sessions").await.good();
    listed.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_link_in_a_message_plays_until_its_sender_says_stop() {
    let Some(discord) = Discord::start() else {
        return;
    };
    if !std::path::Path::new(BROWSER).exists() {
        return not_run("Chromium is not installed");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{HOST}:{}/", listener.local_addr().unwrap().port());
    let site = deskhand_core::tasks::Tasks::default();
    site.spawn("site", serve_site(listener));
    let server = start(&discord);
    let client = server.client();
    let is_connected = |state: &Value| !state["commands"].as_array().unwrap().is_empty();
    discord
        .wait_until("the bot to be connected", is_connected)
        .await;
    let friends = discord.server("Friends").await;
    let anna = friends.member("anna").await;
    anna.join(&friends).await;

    let asked_at = Instant::now();
    let heard = anna.hear(&format!("look at {url} please")).await;
    assert!(heard.text.contains("Got it! Streaming to **Movie Night**"));
    let acknowledged = asked_at.elapsed();
    let told = anna.wait_for_text("Now streaming!").await;
    let live = asked_at.elapsed();
    let link = told.link.expect("a button to watch");
    assert!(link.contains("/watch/"), "{link}");
    let stream = &streams(&client).await[0];
    assert_eq!(stream["status"], "streaming");
    assert_eq!(stream["agent_iterations"], 0, "no model was needed");

    // People see a moving picture, and hear the tone.
    let sessions = client.get("/api/sessions").await.good();
    let session = client.session(sessions["sessions"][0]["id"].as_str().unwrap());
    let look = async || client.get(&session.path("/screenshot")).await.body;
    let first = look().await;
    let mut sound = Listener::open(&session).await;
    sound.next().await;
    while look().await == first {
        assert!(
            asked_at.elapsed() < Duration::from_secs(60),
            "it stands still"
        );
    }

    let stopped_at = Instant::now();
    anna.write("stop").await;
    anna.wait_for_text("Stream ended").await;
    let ended = stopped_at.elapsed();
    assert!(streams(&client).await.is_empty());
    assert!(acknowledged < Duration::from_secs(2), "{acknowledged:?}");
    assert!(live < Duration::from_secs(45), "{live:?}");
    assert!(ended < Duration::from_secs(5), "{ended:?}");
    let log = server.log();
    assert!(!log.contains(TOKEN), "the token is not logged");
    assert!(!log.contains(&link), "the link is not logged");
    crate::world::say(&format!(
        "acknowledged in {acknowledged:.1?}, live in {live:.1?}, ended in {ended:.1?}"
    ));
}
