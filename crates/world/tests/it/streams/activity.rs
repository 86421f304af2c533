//! The Discord Activity: Discord says who somebody is and where, and only those in the voice channel get its link.

use std::sync::Arc;

use deskhand_api::activity::{ActivityView, EnteredActivityView};
use deskhand_core::secret::Secret;
use deskhand_jamie::{ActivityDoor, ActivitySettings};
use deskhand_testkit::{Answer, sandboxes::FakePage};
use deskhand_world::{World, WorldOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{StreamWorld, VIDEO, request, settings};

/// The channel and the server of the streams in these tests.
const CHANNEL: &str = "987654321098765432";
const GUILD: &str = "123456789012345678";

/// Plays the part of Discord that an Activity needs: `anna` is in the channel, `bert` in another one, and `carl` in none.
async fn play_discord(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        // The body of a form comes in one piece with the head or right after it.
        while !is_whole(&bytes) {
            let mut piece = vec![0; 4096];
            let n = stream.read(&mut piece).await.unwrap();
            bytes.extend_from_slice(&piece[..n]);
        }
        let (status, body) = answer(&String::from_utf8(bytes).unwrap());
        let body = body.to_string();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn answer(request: &str) -> (u16, Value) {
    let is = |text: &str| request.contains(text);
    if request.starts_with("POST /api/v10/oauth2/token ") {
        let is_client = is("client_id=42") && is("client_secret=hush");
        let code = request.split("code=code-of-").nth(1);
        return match code {
            Some(_) if !is_client => (401, json!({"error": "invalid_client"})),
            Some(name) => (200, json!({"access_token": format!("token-of-{name}")})),
            None => (400, json!({"error": "invalid_grant"})),
        };
    }
    let names = ["anna", "bert", "carl"];
    if request.starts_with("GET /api/v10/users/@me ") {
        let who = names
            .iter()
            .position(|name| is(&format!("Bearer token-of-{name}")));
        return (200, json!({"id": who.unwrap().to_string()}));
    }
    assert!(is("Bot bot-token"), "{request}");
    let place = |id: usize| is(&format!("GET /api/v10/guilds/{GUILD}/voice-states/{id} "));
    match () {
        () if place(0) => (200, json!({"channel_id": CHANNEL})),
        () if place(1) => (200, json!({"channel_id": "555"})),
        () => (
            404,
            json!({"code": 10065, "message": "Unknown Voice State"}),
        ),
    }
}

async fn start() -> StreamWorld {
    deskhand_testkit::choose_tls();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api_url = format!("http://{}", listener.local_addr().unwrap());
    deskhand_core::tasks::Tasks::default().spawn("discord", play_discord(listener));
    let door = ActivityDoor::new(ActivitySettings {
        client_id: "42".to_owned(),
        client_secret: Secret::new("hush"),
        bot_token: Secret::new("bot-token"),
        api_url,
    });
    let world = World::with(WorldOptions {
        streams: Some(settings()),
        activity: Some(Arc::new(door.unwrap())),
        ..WorldOptions::default()
    });
    let world = world.await;
    let pages = world.sandboxes().pages();
    pages.put(VIDEO, FakePage::video());
    StreamWorld { world, pages }
}

/// Opens the Activity as somebody who is not signed in here.
async fn enter(world: &World, code: &str, guild: &str) -> Answer {
    let visitor = world.client().with_token("");
    let body = json!({"code": code, "guild_id": guild});
    visitor.post("/api/activity", body).await
}

/// Returns the pages that may show the page at a path in a frame.
async fn ancestors(world: &World, path: &str) -> String {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}{path}", world.url());
    let answer = http.get(url).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"].to_str();
    let (_, rest) = policy.unwrap().split_once("frame-ancestors ").unwrap();
    rest.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn only_people_in_the_voice_channel_get_the_link_of_its_stream() {
    let world = start().await;
    let before = enter(&world.world, "code-of-anna", GUILD).await;
    assert_eq!(
        (before.status, before.code()),
        (404, "no_stream".to_owned())
    );

    let asked = request(VIDEO);
    world.post(asked.clone()).await.good();
    let streaming = world.until_streaming(asked["session_id"].as_str().unwrap());
    let url = streaming.await.watch_url.unwrap();
    let entered: EnteredActivityView = enter(&world.world, "code-of-anna", GUILD).await.view();
    assert!(url.ends_with(&format!("/watch/{}", entered.token)));

    for (code, guild, status, why) in [
        ("code-of-bert", GUILD, 404, "no_stream"),
        ("code-of-carl", GUILD, 403, "not_let_in"),
        ("code-of-anna", "77", 403, "not_let_in"),
        ("guessed", GUILD, 403, "not_let_in"),
        ("", GUILD, 400, "malformed"),
        ("code-of-anna", "../users", 400, "malformed"),
    ] {
        let answer = enter(&world.world, code, guild).await;
        let found = (answer.status, answer.code());
        assert_eq!(found, (status, why.to_owned()), "{code} {guild}");
    }
    let log = world.world.log();
    for secret in ["hush", "bot-token", "code-of-", "token-of-", &entered.token] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

#[tokio::test]
async fn only_discord_may_show_the_activity_and_nothing_else_in_a_frame() {
    let world = start().await;
    let client = world.world.client();
    let activity: ActivityView = client.with_token("").get("/api/activity").await.view();
    assert_eq!(activity.client_id, "42");
    let ancestors = async |path: &str| ancestors(&world.world, path).await;
    let framed = ancestors("/?instance_id=1&frame_id=2").await;
    assert_eq!(framed, activity.hosts.join(" "));
    for path in [
        "/",
        "/?panel=frame_id",
        "/settings?frame_id=2",
        "/watch/x?frame_id=2",
    ] {
        assert_eq!(ancestors(path).await, "'none'", "{path}");
    }
}

#[tokio::test]
async fn without_the_setting_there_is_no_activity() {
    let world = StreamWorld::start().await;
    let client = world.world.client();
    let answer = client.get("/api/activity").await;
    assert_eq!(
        (answer.status, answer.code()),
        (409, "no_activity".to_owned())
    );
    let answer = enter(&world.world, "code-of-anna", GUILD).await;
    assert_eq!(answer.code(), "no_activity");
    assert_eq!(ancestors(&world.world, "/?frame_id=2").await, "'none'");
}
