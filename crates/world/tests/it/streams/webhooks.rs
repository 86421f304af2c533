//! Webhooks: signed, in order, and tried again.

use std::time::Duration;

use deskhand_core::secret::Secret;
use deskhand_streams::WebhookKey;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use super::{StreamWorld, VIDEO, request, settings};

/// A webhook as it arrived.
struct Arrived {
    path: String,
    signature: String,
    body: Vec<u8>,
}

impl Arrived {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Receives one webhook, and answers with a status.
async fn receive(listener: &TcpListener, status: u16) -> Arrived {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    let (mut path, mut signature, mut n_bytes) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.to_ascii_lowercase().split_once(": ") {
            Some(("content-length", n)) => n_bytes = n.parse().unwrap(),
            Some(("deskhand-signature", text)) => signature = text.to_owned(),
            Some(_) => {}
            None => path = line.split(' ').nth(1).unwrap().to_owned(),
        }
    }
    let mut body = vec![0; n_bytes];
    stream.read_exact(&mut body).await.unwrap();
    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
    Arrived {
        path,
        signature,
        body,
    }
}

#[tokio::test]
async fn every_change_of_status_reaches_the_bot_signed_and_in_order() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let key = WebhookKey(Secret::new("shared"));
    let mut signed = settings();
    signed.webhook_key = Some(key.clone());
    signed.private_webhooks = true;
    let world = StreamWorld::with(signed, &[]).await;
    let mut asked = request(VIDEO);
    let address = listener.local_addr().unwrap();
    asked["webhook_url"] = json!(format!("http://{address}/jamie/status"));
    world.post(asked.clone()).await.good();
    let id = asked["session_id"].as_str().unwrap();

    // The first try fails, so it comes again.
    let refused = receive(&listener, 500).await;
    assert_eq!(refused.json()["status"], "starting");
    let waiting = async {
        loop {
            world.world.pass(Duration::from_millis(250)).await;
        }
    };
    let receiving = async {
        let mut arrived = Vec::new();
        for _ in 0..2 {
            arrived.push(receive(&listener, 200).await);
        }
        arrived
    };
    let mut arrived = tokio::select! {
        arrived = receiving => arrived,
        () = waiting => unreachable!("it waits for ever"),
    };
    let (stopped, ends) = tokio::join!(world.stop(id), async {
        [receive(&listener, 200).await, receive(&listener, 200).await]
    });
    stopped.good();
    arrived.extend(ends);
    let statuses: Vec<_> = arrived
        .iter()
        .map(|one| one.json()["status"].clone())
        .collect();
    assert_eq!(statuses, ["starting", "streaming", "stopping", "ended"]);
    assert!(arrived[1].json()["watch_url"].is_string());
    let now = "2200-01-01T00:00:00Z".parse().unwrap();
    for one in &arrived {
        assert_eq!(one.path, "/jamie/status");
        assert_eq!(one.json()["session_id"], id);
        let seconds = one.signature.split([',', '=']).nth(1).unwrap();
        let at = jiff::Timestamp::from_second(seconds.parse().unwrap()).unwrap();
        assert!(key.accepts(&one.signature, &one.body, at));
        assert!(!key.accepts(&one.signature, &one.body, now));
    }
    let log = world.world.log();
    assert!(!log.contains("/watch/"), "links are not logged");
    assert!(!log.contains("shared"), "keys are not logged");
}

#[tokio::test]
async fn webhooks_to_private_addresses_are_not_sent_unless_a_setting_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut signed = settings();
    signed.webhook_key = Some(WebhookKey(Secret::new("shared")));
    let world = StreamWorld::with(signed, &[]).await;
    let mut asked = request(VIDEO);
    let address = listener.local_addr().unwrap();
    asked["webhook_url"] = json!(format!("http://{address}/jamie/status"));
    world.post(asked.clone()).await.good();
    let id = asked["session_id"].as_str().unwrap();
    world.until_streaming(id).await;
    let log = world.world.log();
    assert!(
        log.contains("webhook.sent") && log.contains("\"success\":false"),
        "{log}"
    );
    assert!(log.contains("jamie.private_webhooks allows it"), "{log}");
    let arriving = tokio::time::timeout(Duration::from_millis(20), listener.accept());
    assert!(arriving.await.is_err(), "nothing was sent");
}
