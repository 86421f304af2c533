//! Files of a session's computer: who may read and write them, and how.

use std::time::Duration;

use bytes::Bytes;
use deskhand_app::FileLimits;
use deskhand_core::{event::EventBody, session::SandboxState};
use deskhand_testkit::{Client, Session};
use deskhand_world::{World, WorldOptions};
use futures::{StreamExt, channel::mpsc};
use reqwest::{Body, Method, Response, StatusCode};
use serde_json::{Value, json};

/// Makes a file and hands it to people.
const SHARES: &str = r#"
steps:
  - calls:
      - bash: {command: "echo done > ~/report.html"}
      - share_file: {path: report.html}
      - share_file: {path: /tmp/nothing}
  - expect: {text_contains: "is not there"}
    text: "There it is."
"#;

async fn session(world: &World) -> Session {
    let session = world.client().new_session("scripted/demo").await;
    session.shell("true").await;
    session
}

async fn put(session: &Session, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let path = session.path(&format!("/files/{path}"));
    let client = &session.client;
    client
        .request(Method::PUT, &path, headers, body.to_owned())
        .await
}

async fn get(session: &Session, path: &str, headers: &[(&str, &str)]) -> Response {
    let path = session.path(&format!("/files/{path}"));
    session
        .client
        .request(Method::GET, &path, headers, "")
        .await
}

async fn refusal(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let problem: Value = response.json().await.unwrap();
    (
        status,
        problem["error"]["code"].as_str().unwrap().to_owned(),
    )
}

fn header(response: &Response, name: &str) -> String {
    let value = response.headers().get(name);
    value
        .map(|value| value.to_str().unwrap().to_owned())
        .unwrap_or_default()
}

/// A body whose pieces the test sends.
fn slow_body() -> (mpsc::UnboundedSender<Bytes>, Body) {
    let (sender, pieces) = mpsc::unbounded();
    let pieces = pieces.map(Ok::<_, std::io::Error>);
    (sender, Body::wrap_stream(pieces))
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn a_file_is_written_read_listed_moved_and_removed() {
    let world = World::start(&[]).await;
    let session = session(&world).await;
    let written = put(
        &session,
        "~/notes/%C3%BCber%20uns.txt",
        &[],
        "hello, world\n",
    )
    .await;
    assert_eq!(written.status(), StatusCode::CREATED);
    let tag = header(&written, "etag");
    let view: Value = written.json().await.unwrap();
    assert_eq!(view["path"], "/home/agent/notes/über uns.txt");
    assert_eq!((&view["kind"], &view["size"]), (&json!("file"), &json!(13)));
    assert_eq!(
        session.shell("cat '~/notes/über uns.txt'").await.trim(),
        "hello, world"
    );

    let read = get(&session, "home/agent/notes/über uns.txt", &[]).await;
    assert_eq!(header(&read, "etag"), tag);
    assert_eq!(header(&read, "content-length"), "13");
    assert_eq!(header(&read, "content-type"), "application/octet-stream");
    assert_eq!(header(&read, "x-content-type-options"), "nosniff");
    assert_eq!(
        header(&read, "content-security-policy"),
        "default-src 'none'; sandbox"
    );
    let disposition = header(&read, "content-disposition");
    assert_eq!(
        disposition,
        "attachment; filename=\"_ber uns.txt\"; filename*=UTF-8''%C3%BCber%20uns.txt"
    );
    assert_eq!(read.text().await.unwrap(), "hello, world\n");

    // Parts and conditions.
    let part = get(&session, "~/notes/über uns.txt", &[("range", "bytes=7-11")]).await;
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(header(&part, "content-range"), "bytes 7-11/13");
    assert_eq!(part.text().await.unwrap(), "world");
    let other = [("range", "bytes=7-11"), ("if-range", "\"another\"")];
    let whole = get(&session, "~/notes/über uns.txt", &other).await;
    assert_eq!(
        (whole.status(), whole.text().await.unwrap().len()),
        (StatusCode::OK, 13)
    );
    let outside = get(&session, "~/notes/über uns.txt", &[("range", "bytes=13-")]).await;
    assert_eq!(refusal(outside).await, (416, "bad_range".to_owned()));
    let known = get(&session, "~/notes/über uns.txt", &[("if-none-match", &tag)]).await;
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);

    // Folders.
    let folder = session
        .client
        .get(&session.path("/files/~/notes"))
        .await
        .good();
    assert_eq!(folder["entries"][0]["name"], "über uns.txt");
    assert_eq!(folder["next"], Value::Null);
    let home = session
        .client
        .get(&session.path("/files?limit=1"))
        .await
        .good();
    assert_eq!(
        (&home["path"], &home["entries"][0]["name"]),
        (&json!("/home/agent"), &json!("notes"))
    );
    let make = session.path("/files/~/shelf");
    let made = session
        .client
        .post(&make, json!({"action": "make_folder"}))
        .await
        .good();
    assert_eq!(made["kind"], "folder");
    let file = session.path("/files/~/notes/%C3%BCber%20uns.txt");
    let moving = json!({"action": "move", "to": "~/shelf/a.txt"});
    let moved = session.client.post(&file, moving).await.good();
    assert_eq!(moved["path"], "/home/agent/shelf/a.txt");
    let full = session.client.delete(&session.path("/files/~/shelf")).await;
    assert_eq!(
        (full.status, full.code().as_str()),
        (409, "folder_not_empty")
    );
    let all = session.path("/files/~/shelf?recursive=true");
    assert_eq!(session.client.delete(&all).await.status, 204);
    let gone = get(&session, "~/shelf/a.txt", &[]).await;
    assert_eq!(refusal(gone).await, (404, "no_file".to_owned()));
    let root = session.path("/files/%2F?limit=10");
    let root = session.client.get(&root).await.good();
    assert_eq!(root["path"], "/");
    let bad = session
        .client
        .get(&session.path("/files/~/a%2F..%2Fb"))
        .await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "malformed"));
}

#[tokio::test]
async fn a_write_can_depend_on_the_version() {
    let world = World::start(&[]).await;
    let session = session(&world).await;
    let new = [("if-none-match", "*")];
    let first = put(&session, "~/a", &new, "one").await;
    let tag = header(&first, "etag");
    assert_eq!(first.status(), StatusCode::CREATED);
    let again = put(&session, "~/a", &new, "two").await;
    assert_eq!(refusal(again).await, (412, "file_changed".to_owned()));
    let matched = [("if-match", tag.as_str())];
    assert_eq!(
        put(&session, "~/a", &matched, "two").await.status(),
        StatusCode::OK
    );
    let stale = put(&session, "~/a", &matched, "three").await;
    assert_eq!(refusal(stale).await, (412, "file_changed".to_owned()));
    let path = session.path("/files/~/a");
    let kept = session
        .client
        .request(Method::DELETE, &path, &matched, "")
        .await;
    assert_eq!(refusal(kept).await, (412, "file_changed".to_owned()));
    assert_eq!(get(&session, "~/a", &[]).await.text().await.unwrap(), "two");
}

#[tokio::test]
async fn a_body_that_breaks_off_writes_nothing() {
    let mut options = WorldOptions::default();
    options.settings.files.per_session = 1;
    let world = World::with(options).await;
    let session = session(&world).await;
    let (pieces, body) = slow_body();
    let path = session.path("/files/~/half");
    let client = session.client.clone();
    let length = [("content-length", "10")];
    pieces.unbounded_send(Bytes::from_static(b"12345")).unwrap();
    let id = session.id.parse().unwrap();
    let sandbox = world.sandboxes().running(id).unwrap();
    // The client goes away in the middle.
    tokio::select! {
        answer = client.request(Method::PUT, &path, &length, body) => panic!("{answer:?}"),
        () = sandbox.transfers_begun(1) => {}
    }
    // There is one transfer at a time, so the next one shows that the server has noticed.
    while put(&session, "~/other", &[], "text").await.status() == 429 {}
    let gone = get(&session, "~/half", &[]).await;
    assert_eq!(refusal(gone).await, (404, "no_file".to_owned()));
}

#[tokio::test]
async fn reading_needs_the_right_to_view_and_writing_the_right_to_drive() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let session = session(&world).await;
    put(&session, "~/a", &[], "text").await;
    let bob = admin.new_user("bob").await.session(&session.id);
    assert_eq!(
        refusal(get(&bob, "~/a", &[]).await).await,
        (404, "no_session".to_owned())
    );
    for (right, may_write) in [("view", false), ("suggest", false), ("drive", true)] {
        let person = session.path("/people/bob");
        admin.put(&person, json!({"right": right})).await.good();
        assert_eq!(get(&bob, "~/a", &[]).await.text().await.unwrap(), "text");
        for hidden in [
            "~/.config/chromium/Default/Cookies",
            "home/agent/.netrc",
            "~/.ssh",
        ] {
            let read = get(&bob, hidden, &[]).await;
            assert_eq!(read.status() == 403, !may_write, "{right} {hidden}");
        }
        let archive = get(&bob, "~?archive=tar.gz", &[]).await;
        assert_eq!(archive.status() == 403, !may_write, "{right}");
        let written = put(&bob, "~/b", &[], "text").await;
        assert_eq!(written.status().is_success(), may_write, "{right}");
        let removed = bob.client.delete(&bob.path("/files/~/b")).await;
        assert_eq!(removed.status == 204, may_write, "{right}");
    }
}

#[tokio::test]
async fn others_neither_read_nor_write_while_somebody_has_control() {
    let world = World::start(&[]).await;
    let session = session(&world).await;
    put(&session, "~/a", &[], "text").await;
    let bob = world.client().new_user("bob").await.session(&session.id);
    let person = session.path("/people/bob");
    session
        .client
        .put(&person, json!({"right": "drive"}))
        .await
        .good();
    // A write that is under way when somebody takes control is cut off.
    let (pieces, body) = slow_body();
    pieces.unbounded_send(Bytes::from_static(b"half")).unwrap();
    let path = session.path("/files/~/late");
    let client = session.client.clone();
    let (cut_off, ()) = tokio::join!(client.request(Method::PUT, &path, &[], body), async {
        let sandbox = world
            .sandboxes()
            .running(session.id.parse().unwrap())
            .unwrap();
        sandbox.transfers_begun(2).await;
        bob.take_control(60).await.good();
    });
    // The client was still sending when it was told.
    drop(pieces);
    assert_eq!(
        refusal(cut_off).await,
        (409, "somebody_else_drives".to_owned())
    );
    let drives = (409, "somebody_else_drives".to_owned());
    assert_eq!(refusal(get(&session, "~/a", &[]).await).await, drives);
    assert_eq!(refusal(put(&session, "~/a", &[], "x").await).await, drives);
    assert_eq!(get(&bob, "~/a", &[]).await.text().await.unwrap(), "text");
    bob.hand_back().await.good();
    assert_eq!(refusal(get(&session, "~/late", &[]).await).await.0, 404);
}

#[tokio::test]
async fn a_sleeping_session_is_woken_for_those_who_may_send_messages() {
    let world = World::start(&[]).await;
    let admin = world.client();
    let session = session(&world).await;
    world.pass(Duration::from_mins(20)).await;
    let is_asleep = |body: &EventBody| matches!(body, EventBody::Status(status) if status.sandbox == SandboxState::Stopped);
    session.wait_for(0, is_asleep).await;
    let bob = admin.new_user("bob").await.session(&session.id);
    admin
        .put(&session.path("/people/bob"), json!({"right": "view"}))
        .await
        .good();
    assert_eq!(
        refusal(get(&bob, "~", &[]).await).await,
        (409, "no_sandbox".to_owned())
    );
    assert_eq!(get(&session, "~", &[]).await.status(), StatusCode::OK);
    assert_eq!(get(&bob, "~", &[]).await.status(), StatusCode::OK);
    session.terminate().await;
    assert_eq!(
        refusal(get(&session, "~", &[]).await).await,
        (409, "session_ended".to_owned())
    );
}

#[tokio::test]
async fn transfers_and_sizes_are_bounded() {
    let mut options = WorldOptions::default();
    options.settings.files = FileLimits {
        largest_bytes: 10,
        per_user: 2,
        per_session: 1,
    };
    let world = World::with(options).await;
    let session = session(&world).await;
    let large = put(&session, "~/a", &[], "12345678901").await;
    assert_eq!(refusal(large).await, (413, "file_too_large".to_owned()));
    let (pieces, body) = slow_body();
    pieces
        .unbounded_send(Bytes::from_static(b"12345678901"))
        .unwrap();
    let path = session.path("/files/~/a");
    let chunked = session.client.request(Method::PUT, &path, &[], body).await;
    assert_eq!(refusal(chunked).await, (413, "file_too_large".to_owned()));

    let (pieces, body) = slow_body();
    let client: Client = session.client.clone();
    let (written, ()) = tokio::join!(client.request(Method::PUT, &path, &[], body), async {
        let sandbox = world
            .sandboxes()
            .running(session.id.parse().unwrap())
            .unwrap();
        sandbox.transfers_begun(2).await;
        let second = get(&session, "~/a", &[]).await;
        assert_eq!(
            refusal(second).await,
            (429, "too_many_transfers".to_owned())
        );
        drop(pieces);
    });
    assert_eq!(written.status(), StatusCode::CREATED);
    assert_eq!(get(&session, "~/a", &[]).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_shared_file_outlives_the_sandbox_and_is_only_saved_by_browsers() {
    let world = World::start(&[("shares", SHARES)]).await;
    let session = world.client().new_session("scripted/shares").await;
    session.prompt("Make a report.").await;
    let is_shared = |body: &EventBody| matches!(body, EventBody::Artifact(_));
    let shared = session.wait_for(0, is_shared).await;
    let EventBody::Artifact(artifact) = &shared.body else {
        panic!("{shared:?}");
    };
    assert_eq!((&*artifact.name, artifact.size), ("report.html", 5));
    assert_eq!(artifact.media_type, "text/html");
    session.turn_end(0).await;
    session.terminate().await;

    let path = session.path(&format!("/artifacts/{}", shared.seq));
    let read = session.client.request(Method::GET, &path, &[], "").await;
    assert_eq!(header(&read, "content-type"), "application/octet-stream");
    assert_eq!(header(&read, "x-content-type-options"), "nosniff");
    assert_eq!(
        header(&read, "content-security-policy"),
        "default-src 'none'; sandbox"
    );
    assert!(header(&read, "content-disposition").starts_with("attachment; "));
    assert_eq!(read.text().await.unwrap(), "done\n");
    let stranger = world.client().new_user("eve").await;
    assert_eq!(stranger.get(&path).await.code(), "no_session");
    let other = session.client.get(&session.path("/artifacts/1")).await;
    assert_eq!((other.status, other.code().as_str()), (404, "no_artifact"));
    // It is no picture, so the route of pictures does not know it.
    let blob = format!("/api/blobs/{}", artifact.blob.as_str());
    assert_eq!(session.client.get(&blob).await.code(), "no_blob");
}
