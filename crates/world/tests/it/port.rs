//! Connections: how many there may be, and how long they may do nothing.

use std::time::Duration;

use deskhand_core::event::EventBody;
use deskhand_testkit::{Client, Watcher};
use deskhand_world::{World, WorldOptions};
use futures::{SinkExt, StreamExt};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Begins a request without finishing it.
const HALF: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n";
const WHOLE: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

async fn connect(world: &World, text: &str) -> TcpStream {
    let address = world.url().strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// Reads until the server closes the connection.
async fn rest(mut socket: TcpStream) -> String {
    let mut bytes = Vec::new();
    let reading = socket.read_to_end(&mut bytes);
    let read = tokio::time::timeout(Duration::from_secs(60), reading).await;
    assert!(read.is_ok(), "the server closes the connection");
    // If it does so with unread bytes, reading ends with an error.
    drop(read);
    String::from_utf8(bytes).unwrap()
}

/// Reads the head of a response and as much of its body as has arrived.
async fn response(socket: &mut TcpStream) -> String {
    let mut bytes = vec![0; 64 * 1024];
    let n_bytes = socket.read(&mut bytes).await.unwrap();
    String::from_utf8(bytes[..n_bytes].to_vec()).unwrap()
}

/// Reads messages until the connection ends. Returns the number of those with content.
async fn n_until_closed(socket: &mut tokio_tungstenite::WebSocketStream<TcpStream>) -> usize {
    let mut n_messages = 0;
    while let Some(Ok(message)) = socket.next().await {
        n_messages += usize::from(message.is_binary() || message.is_text());
    }
    n_messages
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_after_a_while() {
    let world = World::start(&[]).await;
    let silent = connect(&world, "").await;
    let slow = connect(&world, HALF).await;
    let mut used = connect(&world, WHOLE).await;
    assert!(response(&mut used).await.starts_with("HTTP/1.1 200"));
    world.pass(Duration::from_secs(14)).await;
    assert_eq!((rest(silent).await, rest(slow).await), Default::default());

    // One that was used may wait for longer.
    used.write_all(WHOLE.as_bytes()).await.unwrap();
    assert!(response(&mut used).await.starts_with("HTTP/1.1 200"));
    world.pass(Duration::from_secs(80)).await;
    assert_eq!(rest(used).await, "");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let world = World::start(&[]).await;
    let head = "POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 100\r\n\r\n{";
    let mut socket = connect(&world, head).await;
    // The request has begun once the next one, on another connection, is answered.
    world.client().get("/health").await.good();
    world.pass(Duration::from_secs(34)).await;
    let answer = response(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("too_slow"), "{answer}");
}

#[tokio::test]
async fn half_open_connections_shut_out_nobody() {
    let mut options = WorldOptions::default();
    options.connections.total = 16;
    options.connections.per_address = 4;
    let world = World::with(options).await;
    let client = world.client();
    let session = client.new_session("scripted/demo").await;
    let mut stream = session.follow(0).await;
    stream.next().await;
    let mut attackers = Vec::new();
    for _ in 0..100 {
        attackers.push(connect(&world, HALF).await);
        attackers.push(connect(&world, "").await);
        let other = Client::new(world.url(), client.token());
        other.get("/api/me").await.good();
    }
    // The first ones had to make room, and the stream goes on.
    assert_eq!(rest(attackers.remove(0)).await, "");
    session.terminate().await;
    while !stream.next().await.contains("terminated") {}
}

#[tokio::test]
async fn without_an_idle_connection_a_new_one_is_refused() {
    let mut options = WorldOptions::default();
    options.connections.total = 4;
    options.connections.per_address = 1;
    let world = World::with(options).await;
    let client = world.client();
    let (first, second) = (client.bus().await, client.bus().await);
    let third = client.bus().await;
    // The loopback has three quarters of four places, and WebSockets are never idle.
    let refused = rest(connect(&world, WHOLE).await).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    drop((first, second, third));
    loop {
        let mut socket = connect(&world, WHOLE).await;
        if response(&mut socket).await.starts_with("HTTP/1.1 200") {
            break;
        }
    }
}

#[tokio::test]
async fn a_user_has_only_so_many_sockets() {
    let mut options = WorldOptions::default();
    options.connections.sockets_per_user = 2;
    let world = World::with(options).await;
    let client = world.client();
    let bob = client.new_user("bob").await;
    let session = client.new_session("scripted/demo").await;
    let bus = client.bus().await;
    let _stream = session.follow(0).await;
    for path in [
        "/api/events",
        &session.path("/stream"),
        &session.path("/vnc"),
    ] {
        let refused = client.upgrade(path).await;
        let problem = (refused.status, refused.code());
        assert_eq!(problem, (429, "too_many_sockets".to_owned()));
    }
    // Others have their own.
    bob.bus().await.next().await;
    drop(bus);
    let bearer = format!("Bearer {}", client.token());
    let headers = [("authorization", &*bearer)];
    while client
        .try_socket_with("/api/events", &headers)
        .await
        .is_err()
    {}
}

#[tokio::test]
async fn sockets_take_only_short_messages() {
    let world = World::start(&[]).await;
    let client = world.client();
    let session = client.new_session("scripted/demo").await;
    session.shell("true").await;
    // A valid handshake, and then nothing but harmless messages, in one that is too long.
    let mut watcher = Watcher::open(&session).await;
    watcher.look().await;
    let pixels = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
    let message = [&[0, 0, 0, 0], pixels.as_slice()].concat();
    watcher.send(&message.repeat(3_000)).await;
    watcher.look().await;
    let mut socket = client.socket(&session.path("/vnc")).await;
    let hello = [b"RFB 003.008\n\x01\x01".as_slice(), &message.repeat(5_000)].concat();
    let too_long = tokio_tungstenite::tungstenite::Message::binary(hello);
    let _ = socket.send(too_long).await;
    // The version of the screen, and no answer to the handshake.
    assert!(n_until_closed(&mut socket).await <= 1);
    for path in ["/api/events".to_owned(), session.path("/stream")] {
        let mut socket = client.socket(&path).await;
        let text = "x".repeat(8 * 1024 * 1024);
        let too_long = tokio_tungstenite::tungstenite::Message::text(text);
        let _ = socket.send(too_long).await;
        n_until_closed(&mut socket).await;
    }
}

#[tokio::test]
async fn what_is_logged_of_an_action_by_hand_is_cut() {
    let world = World::start(&[]).await;
    let session = world.client().new_session("scripted/demo").await;
    let text = "ü".repeat(100_000);
    let input = json!({"command": "create", "path": "/home/agent/x", "file_text": text});
    let body = json!({"tool": "editor", "input": input});
    session
        .client
        .post(&session.path("/actions"), body)
        .await
        .good();
    let used = session
        .wait_for(0, |body| matches!(body, EventBody::ToolUse(_)))
        .await;
    let EventBody::ToolUse(used) = used.body else {
        unreachable!()
    };
    let logged = used.input["file_text"].as_str().unwrap();
    assert!(logged.len() < 10_000 && logged.ends_with("… (200000 bytes)"));
    assert_eq!(used.input["path"], "/home/agent/x");
}

#[tokio::test]
async fn titles_and_metadata_have_bounds() {
    let world = World::start(&[]).await;
    let client = world.client();
    let session = client.new_session("scripted/demo").await;
    for title in ["\u{1b}[2J", "a\u{202e}b", "a\rb", "\u{9b}0m", "\u{200f}x"] {
        let changed = client
            .patch(&session.path(""), json!({"title": title}))
            .await;
        let made = client.post("/api/sessions", json!({"title": title})).await;
        for refused in [changed, made] {
            assert_eq!((refused.status, &*refused.code()), (400, "bad_title"));
        }
    }
    let of_length = |length: usize| json!({"metadata": {"note": "x".repeat(length)}});
    client.post("/api/sessions", of_length(16_000)).await.good();
    let refused = client.post("/api/sessions", of_length(17_000)).await;
    assert_eq!((refused.status, &*refused.code()), (400, "long_metadata"));
}
