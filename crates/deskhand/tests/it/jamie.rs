//! Streams with everything: a message in Discord, the program, a real sandbox, and Chromium.
//!
//! `e2e/jamie.test.js` is the walk in which somebody watches. Here is what goes wrong.

mod share;
mod stand_in;

use deskhand_testkit::{
    Client, Server, ServerOptions,
    discord::{Discord, TOKEN},
    not_run,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
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

/// Serves the page and its video. Whatever is below `/never` stays without an answer.
async fn serve_site(listener: TcpListener) {
    let mut unanswered = Vec::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        // A browser that goes away needs no answer.
        if let Ok(Some(stream)) = answer(stream).await {
            unanswered.push(stream);
        }
    }
}

/// Answers a request, or returns it.
async fn answer(mut stream: TcpStream) -> std::io::Result<Option<TcpStream>> {
    let mut request = vec![0; 16 * 1024];
    let n_bytes = stream.read(&mut request).await?;
    let request = &request[..n_bytes];
    if request.starts_with(b"GET /never") {
        return Ok(Some(stream));
    }
    let (kind, body) = match request.starts_with(b"GET /tone.webm") {
        true => ("video/webm", VIDEO),
        false => ("text/html", PAGE.as_bytes()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await?;
    Ok(None)
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
        // The shortest time.
        ("DESKHAND_JAMIE_START_SECONDS", "10".to_owned()),
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
async fn a_page_that_never_answers_times_out_and_the_next_stream_can_begin() {
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

    let heard = anna.hear(&format!("{url}never")).await;
    assert!(heard.text.contains("Got it! Streaming to **Movie Night**"));
    let problem = anna.wait_for_text("Something went wrong").await.text;
    assert!(problem.contains("did not play within 10 s"), "{problem}");
    let status = anna.hear("status").await.text;
    assert_eq!(status, "ℹ️ Nothing is streaming right now.");
    assert!(streams(&client).await.is_empty());
    let log = server.log();
    assert!(log.contains("ERR_TIMEOUT"), "{log}");

    let heard = anna.hear(&url).await;
    assert!(heard.text.contains("Got it!"), "{}", heard.text);
    assert_eq!(streams(&client).await.len(), 1);
    anna.write("stop").await;
    anna.wait_for_text("Stream ended").await;
    assert!(streams(&client).await.is_empty());
}
