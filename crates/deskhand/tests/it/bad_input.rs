//! What is wrong gets a clear answer, and nothing hangs or is lost.

use deskhand_core::event::EventBody;
use deskhand_testkit::{Client, ServerOptions};
use serde_json::{Value, json};

use crate::world::{serve, serve_with};

const NOBODY: &str = "01234567-89ab-7cde-8f01-23456789abcd";

#[tokio::test]
async fn unknown_and_malformed_ids_are_not_found() {
    let server = serve(&[]);
    let client = server.client();
    for id in [NOBODY, "x", "1", "%00", "..%2f..%2fetc", "💥"] {
        for path in ["", "/messages", "/events", "/screenshot", "/stream", "/vnc"] {
            let answer = client.get(&format!("/api/sessions/{id}{path}")).await;
            // A WebSocket route asked without an upgrade may say that first.
            assert!(
                answer.status == 404 || (answer.status == 400 && path == "/vnc"),
                "{id}{path}: {answer:?}"
            );
            assert!(!answer.code().is_empty());
        }
        let sent = client
            .post(
                &format!("/api/sessions/{id}/messages"),
                json!({"content": "x"}),
            )
            .await;
        assert_eq!(sent.status, 404);
        assert_eq!(
            client.delete(&format!("/api/sessions/{id}")).await.status,
            404
        );
    }
    let long = "0".repeat(64);
    for blob in [
        "x",
        "../admin-token",
        "..%2Fadmin-token",
        &format!("{long}.png"),
        &format!("{long}.exe"),
    ] {
        let answer = client.get(&format!("/api/blobs/{blob}")).await;
        assert_eq!(answer.status, 404, "{blob}: {answer:?}");
    }
    assert_eq!(client.get("/api/nothing").await.code(), "no_route");
    assert_eq!(client.delete("/api/me").await.status, 405);
}

#[tokio::test]
async fn wrong_and_missing_tokens_get_in_nowhere() {
    let server = serve(&[]);
    let client = server.client();
    let session = client.new_plain_session("scripted/demo").await;
    let paths = [
        "/api/sessions".to_owned(),
        "/api/me".to_owned(),
        session.path(""),
        session.path("/messages"),
        session.path("/events"),
        session.path("/stream"),
        session.path("/vnc"),
        session.path("/screenshot"),
        format!("/api/blobs/{}.png", "0".repeat(64)),
    ];
    for token in ["", "dh_wrong", "Bearer", &server.token()[..20]] {
        for path in &paths {
            let answer = client.with_token(token).get(path).await;
            assert_eq!(
                (answer.status, answer.code()),
                (401, "not_signed_in".to_owned()),
                "{path}"
            );
        }
    }
    let stranger = client.with_token("");
    assert_eq!(stranger.get("/health").await.good()["status"], "healthy");
    let used = stranger.try_sign_in(json!({"code": "guess"}), &[]).await;
    assert_eq!((used.status, used.code()), (401, "bad_code".to_owned()));
}

#[tokio::test]
async fn a_sign_in_link_is_good_once() {
    let server = serve(&[]);
    let stranger = server.client().with_token("");
    let link = server.link().await;
    let (_, code) = link.split_once("#code=").unwrap();
    assert_eq!(
        stranger
            .try_sign_in(json!({"code": code}), &[])
            .await
            .status,
        204
    );
    assert_eq!(
        stranger
            .try_sign_in(json!({"code": code}), &[])
            .await
            .code(),
        "bad_code"
    );
}

/// The status and the code that a body sent to this path gets.
async fn refused(client: &Client, path: &str, body: impl Into<Vec<u8>>) -> (u16, String) {
    let answer = client
        .send(reqwest::Method::POST, path, Some(body.into()))
        .await;
    (answer.status, answer.code())
}

#[tokio::test]
async fn broken_and_oversized_messages_are_refused() {
    let server = serve(&[]);
    let client = server.client();
    let session = client.new_plain_session("scripted/demo").await;
    let messages = session.path("/messages");
    let broken = [
        "{",
        "[]",
        "null",
        r#"{"content": 1}"#,
        r#"{"content": "x", "extra": 1}"#,
        "\0",
        "",
    ];
    for body in broken {
        assert_eq!(
            refused(&client, &messages, body).await,
            (400, "malformed".to_owned()),
            "{body}"
        );
    }
    assert_eq!(
        refused(&client, &messages, [0xff, 0xfe]).await,
        (400, "malformed".to_owned())
    );
    let blank = json!({"content": "  "}).to_string();
    assert_eq!(
        refused(&client, &messages, blank).await,
        (400, "empty_message".to_owned())
    );
    let long = json!({"content": "x".repeat(300_000)}).to_string();
    assert_eq!(
        refused(&client, &messages, long).await,
        (413, "long_message".to_owned())
    );
    let huge = json!({"content": "x".repeat(2_000_000)}).to_string();
    assert_eq!(
        refused(&client, &messages, huge).await,
        (413, "too_large".to_owned())
    );
    assert_eq!(
        client.get(&messages).await.good()["messages"],
        json!([]),
        "nothing was stored"
    );
}

#[tokio::test]
async fn sessions_and_pages_that_make_no_sense_are_refused() {
    let server = serve(&[]);
    let client = server.client();
    let session = client.new_plain_session("scripted/demo").await;
    for (body, code) in [
        (r#"{"model": "nobody/knows"}"#, "unknown_model"),
        (r#"{"model": "scripted/../../x"}"#, "unknown_model"),
        (r#"{"metadata": []}"#, "malformed"),
    ] {
        assert_eq!(
            refused(&client, "/api/sessions", body).await,
            (400, code.to_owned()),
            "{body}"
        );
    }
    for query in [
        "?limit=0",
        "?limit=9999999",
        "?limit=x",
        "?after=-1",
        "?nonsense=1",
    ] {
        let answer = client.get(&session.path(&format!("/events{query}"))).await;
        assert_eq!(answer.status, 400, "{query}");
    }
    let ahead = client.get(&session.path("/stream?after=99999")).await;
    assert_eq!(ahead.code(), "after_newest");
}

#[tokio::test]
async fn bad_actions_are_explained() {
    let server = serve(&[]);
    let session = server.client().new_session("scripted/demo").await;
    for (tool, input, says) in [
        ("hammer", json!({}), "there is no tool"),
        ("computer", json!({"action": "fly"}), "unknown variant"),
        (
            "computer",
            json!({"action": "click", "at": {"x": 5000, "y": 1}}),
            "outside the 1024×768 screen",
        ),
        ("computer", json!({"action": "click", "count": 9}), "1 to 3"),
        ("bash", json!({"command": "x"}), "shell"),
    ] {
        let answer = session
            .client
            .post(
                &session.path("/actions"),
                json!({"tool": tool, "input": input}),
            )
            .await;
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(answer.status, 400, "{message}");
        assert!(message.contains(says), "{message}");
    }
    let key = session
        .act(
            "computer",
            json!({"action": "key", "keys": "hyper+nonsense"}),
        )
        .await;
    assert_eq!(key["is_error"], true);
    assert!(key["text"].as_str().unwrap().contains("nonsense"), "{key}");
}

#[tokio::test]
async fn an_ended_session_takes_nothing_more_but_keeps_its_log() {
    let server = serve(&[]);
    let session = server.client().new_plain_session("scripted/demo").await;
    session.shell("true").await;
    session.terminate().await;
    session.terminate().await;
    let sent = session
        .client
        .post(&session.path("/messages"), json!({"content": "x"}))
        .await;
    assert_eq!(
        (sent.status, sent.code()),
        (409, "session_ended".to_owned())
    );
    let act = session
        .client
        .post(
            &session.path("/actions"),
            json!({"tool": "bash", "input": {"shell": "restart"}}),
        )
        .await;
    assert_eq!((act.status, act.code()), (409, "session_ended".to_owned()));
    assert_eq!(session.show().await["state"], "terminated");
    assert!(!session.events(0).await.is_empty());
}

#[tokio::test]
async fn a_scenario_with_an_error_says_where_it_is() {
    let server = serve(&[
        ("broken", "steps:\n  - text: \"unclosed\n"),
        ("wrong", "steps:\n  - txt: hello\n"),
        (
            "blind",
            "steps:\n  - expect: {colour: \"#123456\"}\n    text: \"never\"\n",
        ),
    ]);
    let client = server.client();
    for (name, line) in [("broken", "line 3"), ("wrong", "line 2")] {
        let answer = client
            .post(
                "/api/sessions",
                json!({"model": format!("scripted/{name}")}),
            )
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "unknown_model".to_owned())
        );
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            message.contains(&format!("{name}.yaml")) && message.contains(line),
            "{message}"
        );
    }
    let session = client.new_plain_session("scripted/blind").await;
    session.prompt("look").await;
    let end = session.turn_end(0).await;
    let EventBody::Error(failure) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(failure.code, "model_failed");
    assert!(failure.message.contains("#123456"), "{}", failure.message);
}

#[tokio::test]
async fn a_full_disk_for_pictures_fails_the_turn_and_loses_nothing() {
    let look = "steps:\n  - calls:\n      - computer: {action: screenshot}\n  - text: \"seen\"\n";
    let server = serve_with(ServerOptions {
        scenarios: vec![("look".to_owned(), look.to_owned())],
        picture_bytes: Some(4096),
        ..ServerOptions::default()
    });
    let session = server.client().new_session("scripted/look").await;
    session.prompt("look").await;
    let end = session.turn_end(0).await;
    let EventBody::Error(failure) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(failure.code, "storage_full");
    assert!(failure.message.contains("space"), "{}", failure.message);
    let messages = session.client.get(&session.path("/messages")).await.good();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    assert_eq!(session.shell("echo alive").await.trim(), "alive");
}

#[tokio::test]
async fn without_bubblewrap_the_session_says_what_to_install() {
    let nowhere = (
        "DESKHAND_SANDBOX_BUBBLEWRAP".to_owned(),
        "/nowhere/bwrap".to_owned(),
    );
    let server = serve_with(ServerOptions {
        variables: vec![nowhere],
        ..ServerOptions::default()
    });
    let session = server.client().new_plain_session("scripted/demo").await;
    let failed = session
        .wait_for(0, |body| matches!(body, EventBody::Error(_)))
        .await;
    let EventBody::Error(failure) = failed.body else {
        unreachable!()
    };
    assert_eq!(failure.code, "sandbox_failed");
    assert!(
        failure.message.contains("bubblewrap") && failure.message.contains("apt"),
        "{}",
        failure.message
    );
    session.prompt("try").await;
    let end = session.turn_end(failed.seq).await;
    let EventBody::Error(failure) = &end.body else {
        panic!("{end:?}")
    };
    assert_eq!(failure.code, "sandbox_failed");
    let state: Value = session.show().await;
    assert_eq!(state["state"], "idle");
}
