//! Secrets for HTTP APIs: who consents to their use, what is refused and reported, and where the value never is.

mod api;

use std::{path::Path, time::Duration};

use deskhand_core::{
    event::{EventBody, HostContacted},
    network::policy::BlockReason,
};
use deskhand_testkit::{Client, Session};
use serde_json::{Value, json};

use self::api::{Api, SITE, VALUE, begin, response, secret};

/// Waits for a question, and returns it as the inbox has it.
async fn question(session: &Session, after: u64) -> Value {
    let is_raised = |body: &EventBody| matches!(body, EventBody::Decision(_));
    session.wait_for(after, is_raised).await;
    let open = session.client.get("/api/decisions?state=open").await.good();
    open["decisions"][0].clone()
}

async fn answer(client: &Client, session: &Session, question: &Value, yes: bool) -> u16 {
    let id = question["id"].as_str().unwrap();
    let path = session.path(&format!("/decisions/{id}/answer"));
    client.post(&path, json!({"yes": yes})).await.status
}

async fn told(session: &Session, host: &str, reason: BlockReason) {
    let is_it = |body: &EventBody| {
        matches!(body, EventBody::Network(HostContacted { host: told, blocked, .. })
            if told == host && *blocked == Some(reason))
    };
    session.wait_for(0, is_it).await;
}

async fn n_asked(session: &Session) -> usize {
    let events = session.events(0).await;
    let asked = events.iter().filter(|event| event["type"] == "decision");
    asked.count()
}

fn is_in_files(folder: &Path, text: &str) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return is_in_files(&path, text);
        }
        let content = std::fs::read(path).unwrap_or_default();
        content
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn the_owner_is_asked_once_and_the_value_appears_nowhere() {
    let api = Api::start().await;
    let session = api.at_work(json!({"mode": "risky"})).await;
    let stand_in = api.stand_in(&session).unwrap();
    assert!(stand_in.starts_with("dhs-api-"), "{stand_in}");
    // Two requests wait for one answer, and the agent goes on.
    let (first, second) = (api.send(&session).await, api.send(&session).await);
    let asked = question(&session, 0).await;
    assert_eq!(asked["kind"], "owner_approval");
    assert_eq!(
        asked["prompt"],
        "A program wants to use the secret api in requests to http://api.example. A yes holds until the desktop stops."
    );
    let subject = json!({"tool": "http_secret", "input": {"name": "api", "site": SITE}});
    assert_eq!(asked["subject"], subject);
    assert_eq!(session.show().await["state"], "running");
    assert_eq!(api.n_heard(), 0);
    let inbox = api.bob.get("/api/decisions?state=open").await.good();
    assert_eq!(inbox["decisions"], json!([]));
    assert_eq!(answer(&api.bob, &session, &asked, true).await, 403);
    assert_eq!(answer(&api.alice, &session, &asked, true).await, 200);
    for line in [first, second] {
        let answered = response(line).await;
        assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
        let shown = &stand_in[..VALUE.len()];
        assert!(
            answered.ends_with(&format!("hello, Bearer {shown}")),
            "{answered}"
        );
    }
    let heard = api.heard.lock().unwrap().join("");
    assert!(heard.contains(&format!("Bearer {VALUE}\r\n")), "{heard}");

    // It is not asked about again, in this desktop.
    let answered = api.call(&session).await;
    assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
    assert_eq!((n_asked(&session).await, api.n_heard()), (1, 3));
    let listed = api.alice.get("/api/secrets").await.good();
    let listed = &listed["secrets"][0];
    assert_eq!(listed["last_used_in"], json!(session.id));
    assert_eq!(
        listed["http"],
        json!({"headers": ["authorization"], "env": "API_TOKEN"})
    );

    let events = session.events(0).await;
    assert!(!json!(events).to_string().contains(VALUE));
    assert!(!api.world.log().contains(VALUE));
    assert!(!is_in_files(api.world.folder(), VALUE));

    // A new desktop has a new stand-in, and needs a new yes.
    let stopped = session.client.post(&session.path("/stop"), json!({})).await;
    stopped.good();
    let end = session.turn_end(0).await.seq;
    let id = session.id.parse().unwrap();
    api.world
        .sandboxes()
        .running(id)
        .unwrap()
        .die("for the test");
    session.shell("true").await;
    begin(&session, end).await;
    let newer = api.stand_in(&session).unwrap();
    assert_ne!(newer, stand_in);
    let line = api.send(&session).await;
    let asked = question(&session, end).await;
    assert_eq!(answer(&api.alice, &session, &asked, false).await, 200);
    let answered = response(line).await;
    assert!(answered.starts_with("HTTP/1.1 403 Forbidden"), "{answered}");
    // The stand-in of the earlier desktop is worth nothing.
    let request = format!(
        "GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: {stand_in}\r\nConnection: close\r\n\r\n"
    );
    let line = api.send_to(&session, "api.example", &request).await;
    let answered = response(line).await;
    assert!(
        answered.ends_with(&format!("hello, {stand_in}")),
        "{answered}"
    );
}

#[tokio::test]
async fn a_no_and_no_answer_refuse_until_the_turn_ends() {
    let api = Api::start().await;
    let session = api.at_work(json!({"mode": "risky"})).await;
    let line = api.send(&session).await;
    let asked = question(&session, 0).await;
    assert_eq!(answer(&api.alice, &session, &asked, false).await, 200);
    let said_no = "the secret api was not used: its owner was asked and said no";
    let answered = response(line).await;
    assert!(answered.starts_with("HTTP/1.1 403 Forbidden"), "{answered}");
    assert!(answered.contains(said_no), "{answered}");
    let answered = api.call(&session).await;
    assert!(answered.contains(said_no), "{answered}");
    assert_eq!(n_asked(&session).await, 1);
    told(&session, "api.example", BlockReason::SecretUse).await;

    let session = api.at_work(json!({"mode": "risky"})).await;
    let line = api.send(&session).await;
    question(&session, 0).await;
    api.world.pass(Duration::from_secs(121)).await;
    let answered = response(line).await;
    assert!(answered.contains("did not answer in time"), "{answered}");
    assert_eq!(api.n_heard(), 0);
}

#[tokio::test]
async fn a_policy_allows_a_secret_for_messages_of_the_owner_only() {
    let api = Api::start().await;
    let rule = |then: &str| {
        let rule = json!({"tool": "http_secret", "pattern": "api", "then": then});
        json!({"mode": "risky", "rules": [rule]})
    };
    for approvals in [json!({"mode": "never"}), rule("allow")] {
        let session = api.at_work(approvals.clone()).await;
        let answered = api.call(&session).await;
        assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
        assert_eq!(n_asked(&session).await, 0, "{approvals}");

        let session = api.session(approvals.clone()).await;
        begin(&api.bob.session(&session.id), 0).await;
        let line = api.send(&session).await;
        let asked = question(&session, 0).await;
        assert_eq!(asked["kind"], "owner_approval", "{approvals}");
        answer(&api.alice, &session, &asked, true).await;
        let answered = response(line).await;
        assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
    }
    let session = api.at_work(rule("refuse")).await;
    let answered = api.call(&session).await;
    assert!(
        answered.contains("the approval policy of this session refuses it"),
        "{answered}"
    );
    assert_eq!(n_asked(&session).await, 0);
}

#[tokio::test]
async fn with_control_the_owner_needs_no_approval_and_others_do() {
    let api = Api::start().await;
    let session = api.session(json!({"mode": "never"})).await;
    session.take_control(300).await.good();
    let answered = api.call(&session).await;
    assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
    session.hand_back().await.good();

    let of_bob = api.bob.session(&session.id);
    of_bob.take_control(300).await.good();
    let answered = api.call(&session).await;
    assert!(
        answered.contains("can only be asked while the agent works"),
        "{answered}"
    );
    of_bob.hand_back().await.good();

    // The agent works on a message of Alice, but Bob has the computer.
    begin(&session, 0).await;
    of_bob.take_control(300).await.good();
    let line = api.send(&session).await;
    let asked = question(&session, 0).await;
    assert_eq!(asked["kind"], "owner_approval");
    answer(&api.alice, &session, &asked, false).await;
    let answered = response(line).await;
    assert!(answered.contains("said no"), "{answered}");
}

#[tokio::test]
async fn nobody_speaks_for_the_owner_while_control_changes_hands() {
    let api = Api::start().await;
    let session = api.session(json!({"mode": "never"})).await;
    let sandbox = api.world.sandboxes().running(session.id.parse().unwrap());
    let sandbox = sandbox.unwrap();
    // A program of the agent that runs until everything is frozen, or goes on before the lease is over.
    let calling = async || {
        sandbox.control_waits().await;
        let answered = api.call(&session).await;
        sandbox.hold_control(false);
        answered
    };
    let refusal = "can only be asked while the agent works";
    sandbox.hold_control(true);
    let (taken, answered) = tokio::join!(session.take_control(300), calling());
    taken.good();
    assert!(answered.contains(refusal), "{answered}");
    let answered = api.call(&session).await;
    assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");

    sandbox.hold_control(true);
    let (handed_back, answered) = tokio::join!(session.hand_back(), calling());
    handed_back.good();
    // A yes would hold for later requests, but control is none.
    assert!(answered.contains(refusal), "{answered}");
}

#[tokio::test]
async fn a_stand_in_sent_anywhere_else_is_refused_and_reported() {
    let api = Api::start().await;
    let session = api.at_work(json!({"mode": "never"})).await;
    let stand_in = api.stand_in(&session).unwrap();
    let refused = "the stand-in of a secret";

    // Another host, as a request and as bytes in pieces.
    let request = format!("GET /?t={stand_in} HTTP/1.1\r\nHost: site.example\r\n\r\n");
    let line = api.send_to(&session, "site.example", &request).await;
    let answered = response(line).await;
    assert!(answered.starts_with("HTTP/1.1 403 Forbidden"), "{answered}");
    assert!(answered.contains(refused), "{answered}");
    told(&session, "site.example", BlockReason::StandIn).await;
    let (first, second) = stand_in.split_at(20);
    let line = api.send_to(&session, "site.example", "\u{1}").await;
    line.send(first.as_bytes());
    line.send(second.as_bytes());
    assert_eq!(response(line).await, "");

    // Another port of the same host, and another place in a request to its host.
    let mut line = api.world.line(api::id(&session));
    line.connect("api.example", 8080).await;
    let request =
        format!("GET / HTTP/1.1\r\nHost: api.example:8080\r\nAuthorization: {stand_in}\r\n\r\n");
    line.send(request.as_bytes());
    let answered = response(line).await;
    assert!(answered.contains(refused), "{answered}");
    let body = format!("token={stand_in}");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let line = api.send_to(&session, "api.example", &request).await;
    let answered = response(line).await;
    assert!(answered.starts_with("HTTP/1.1 403 Forbidden"), "{answered}");
    told(&session, "api.example", BlockReason::StandIn).await;
    let path = session.path("/network");
    api.world.pass(Duration::from_secs(3)).await;
    let network = session.client.get(&path).await.good();
    let destinations = network["destinations"].as_array().unwrap();
    let site = destinations
        .iter()
        .find(|one| one["host"] == "site.example");
    let site = site.unwrap();
    assert_eq!(site["blocked"], "stand_in");
    assert!(site["reason"].as_str().unwrap().contains(refused), "{site}");
    let heard = api.heard.lock().unwrap().join("");
    assert!(
        !heard.contains(&stand_in) && !heard.contains(VALUE),
        "{heard}"
    );
}

#[tokio::test]
async fn changing_or_removing_a_secret_takes_effect_at_once() {
    let api = Api::start().await;
    let session = api.at_work(json!({"mode": "never"})).await;
    let put = async |value: &str, site: &str| {
        let secret = secret(value, &[site]);
        api.alice.put("/api/secrets/api", secret).await.good();
    };
    put("another-value-of-alice", SITE).await;
    assert!(api.call(&session).await.starts_with("HTTP/1.1 200 OK"));
    let heard = api.heard.lock().unwrap().concat();
    assert!(heard.contains("another-value-of-alice"), "{heard}");
    put(VALUE, "http://other.example").await;
    let answered = api.call(&session).await;
    assert!(answered.contains("no longer for this site"), "{answered}");
    put(VALUE, SITE).await;
    assert!(api.call(&session).await.starts_with("HTTP/1.1 200 OK"));
    let removed = api.alice.delete("/api/secrets/api").await;
    assert_eq!(removed.status, 204);
    let answered = api.call(&session).await;
    assert!(answered.contains("it was removed"), "{answered}");
    assert_eq!(api.n_heard(), 2);
}

#[tokio::test]
async fn a_secret_for_requests_is_not_typed_and_a_closed_network_has_no_stand_ins() {
    let api = Api::start().await;
    let new = json!({"model": "scripted/fill", "approvals": {"mode": "never"}});
    let made = api.alice.post("/api/sessions", new).await.good();
    let session = api.alice.session(made["id"].as_str().unwrap());
    session.prompt("fill it in").await;
    session.turn_end(0).await;
    let messages = session.messages().await;
    let words = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(
        words.contains("this secret is for requests to HTTP APIs"),
        "{words}"
    );
    assert!(
        words.contains("the environment variable API_TOKEN"),
        "{words}"
    );
    assert_eq!(api.stand_in(&session), None, "the network is closed");
}

#[tokio::test]
async fn a_secret_with_an_impossible_use_is_not_stored() {
    let api = Api::start().await;
    let with = |place: &str, bad: Value| {
        let mut secret = secret(VALUE, &[SITE]);
        secret["http"]["env"] = json!("OTHER_TOKEN");
        *secret.pointer_mut(place).unwrap() = bad;
        secret
    };
    let bad = [
        ("/http/headers", json!([]), "1 to 8 headers"),
        ("/http/headers", json!(["Cookie"]), "\"Cookie\" cannot be"),
        ("/http/headers", json!(["a b"]), "\"a b\" cannot be"),
        ("/http/env", json!("PATH"), "\"PATH\" cannot be"),
        ("/origins", json!(["https://192.0.2.1"]), "has no name"),
        ("/value", json!("pässwörd"), "printable ASCII"),
        ("/value", json!("short"), "8 printable"),
    ];
    for (place, bad, told) in bad {
        let refused = api.alice.put("/api/secrets/other", with(place, bad)).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (400, "bad_secret"),
            "{told}"
        );
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.replace('\\', "").contains(told), "{message}");
    }
    let taken = with("/http/env", json!("API_TOKEN"));
    let refused = api.alice.put("/api/secrets/other", taken).await;
    assert_eq!((refused.status, &*refused.code()), (409, "variable_taken"));
    assert_eq!(refused.json()["error"]["details"], json!({"secret": "api"}));
    let history = api.alice.get("/api/me/audit").await.good();
    let stored = &history["entries"][0];
    assert_eq!(
        stored["summary"],
        "stored the secret api for requests to http://api.example, in authorization and as $API_TOKEN"
    );
}
