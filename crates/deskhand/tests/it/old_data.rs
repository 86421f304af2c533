//! Data folders that earlier versions have written: this version opens them, shows the same and resumes what
//! they left in the middle.
//!
//! Each archive in `fixtures/` was written by `scripts/make-fixture` with the program of one commit, which was
//! killed at the end. Archives are never changed.

use std::path::{Path, PathBuf};

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::{Client, Server, ServerOptions, Session};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::world::serve_with;

/// The answers of the program that wrote an archive, read before it was killed.
#[derive(Debug, Deserialize)]
struct Expected {
    /// API tokens by the user's name.
    tokens: Map<String, Value>,
    sessions: Sessions,
    secret: StoredSecret,
    /// Logs by session.
    logs: Map<String, Value>,
    reads: Vec<Read>,
}

/// The sessions that the test does something with.
#[derive(Debug, Deserialize)]
struct Sessions {
    /// Sessions with nothing left to do.
    settled: Vec<String>,
    ended: String,
    /// Its agent asks for a secret to be typed, and prints the value.
    secret: String,
    /// Killed while a command ran.
    half_done: String,
    /// Waits for a yes, with two prompts in the queue.
    approval: String,
    /// Waits for an answer whose time is over.
    overdue: String,
    /// A person had control, and their time is over.
    leased: String,
}

#[derive(Debug, Deserialize)]
struct StoredSecret {
    name: String,
    value: String,
}

/// One answer to a `GET`.
#[derive(Debug, Deserialize)]
struct Read {
    r#as: String,
    path: String,
    body: Value,
}

/// An unpacked archive with a server of this version on it.
struct OldData {
    server: Server,
    expected: Expected,
}

impl OldData {
    fn open(archive: PathBuf) -> Self {
        let server = serve_with(ServerOptions {
            archive: Some(archive),
            ..ServerOptions::default()
        });
        let expected = std::fs::read(server.home().join("expected.json")).unwrap();
        let expected = serde_json::from_slice(&expected).unwrap();
        Self { server, expected }
    }

    fn client(&self, user: &str) -> Client {
        let token = self.expected.tokens[user].as_str().unwrap();
        self.server.client().with_token(token)
    }

    fn session(&self, id: &str) -> Session {
        self.client("admin").session(id)
    }

    /// The number of events that a session's log had.
    fn n_events(&self, id: &str) -> u64 {
        self.expected.logs[id].as_array().unwrap().len() as u64
    }

    /// Compares every list with the answer of the program that wrote it.
    async fn assert_same_lists(&self) {
        for read in &self.expected.reads {
            let body = self.client(&read.r#as).get(&read.path).await.good();
            self.assert_kept(&read.body, &body, &read.path);
        }
    }

    /// Compares the old events with the first ones of each log. The log may have grown since.
    async fn assert_same_logs(&self) {
        for (id, old) in &self.expected.logs {
            let old = old.as_array().unwrap();
            let events = self.session(id).events(0).await;
            for (old, new) in old.iter().zip(&events) {
                assert_eq!(old.to_string(), new.to_string(), "session {id}");
            }
            assert!(events.len() >= old.len(), "session {id} lost events");
        }
    }

    /// Opens every picture and every file in the logs. The name of its blob is its hash.
    async fn assert_same_blobs(&self) {
        let mut n_pictures = 0;
        for (id, events) in &self.expected.logs {
            for event in events.as_array().unwrap() {
                let data = &event["data"];
                if event["type"] == "screenshot" {
                    n_pictures += 1;
                    let blob = data["blob"].as_str().unwrap();
                    self.assert_same_blob(&format!("/api/blobs/{blob}"), data)
                        .await;
                }
                if event["type"] == "artifact" {
                    let path = format!("/api/sessions/{id}/artifacts/{}", event["seq"]);
                    self.assert_same_blob(&path, data).await;
                }
                for file in data["attachments"].as_array().into_iter().flatten() {
                    let attachment = file["id"].as_str().unwrap();
                    let path = format!("/api/sessions/{id}/attachments/{attachment}");
                    self.assert_same_blob(&path, file).await;
                }
            }
        }
        assert!(n_pictures > 0);
    }

    async fn assert_same_blob(&self, path: &str, of: &Value) {
        let answer = self.client("admin").get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        let hash: String = Sha256::digest(&answer.body)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let blob = of["blob"].as_str().unwrap();
        assert!(blob.starts_with(&hash), "{path}: {blob} is {hash}");
    }

    /// Compares what the old program answered with what this one does. New fields are fine.
    fn assert_kept(&self, old: &Value, new: &Value, at: &str) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    if !self.may_differ(old, key, at) {
                        self.assert_kept(value, &new[key], &format!("{at} {key}"));
                    }
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                assert_eq!(old.len(), new.len(), "{at}: {new:#?}");
                for (n, (old, new)) in old.iter().zip(new).enumerate() {
                    self.assert_kept(old, new, &format!("{at}[{n}]"));
                }
            }
            (old, new) => assert_eq!(old, new, "{at}"),
        }
    }

    /// Tells the fields that change because a server has started or because somebody has asked it.
    fn may_differ(&self, object: &Map<String, Value>, key: &str, at: &str) -> bool {
        let is_settled = |id: &Value| {
            let settled = &self.expected.sessions.settled;
            settled.iter().any(|settled| settled == id)
        };
        match key {
            "last_used_at" => at.starts_with("/api/tokens"),
            // Links of earlier versions could last for longer than links do now.
            "expires_at" => at.contains("/shares"),
            "state" | "sandbox" | "lease" | "last_seq" | "updated_at"
                if object.contains_key("last_seq") =>
            {
                !is_settled(&object["id"])
            }
            "state" | "answer" | "settled_at" if object.contains_key("settled_at") => {
                object["session_id"] == self.expected.sessions.overdue
            }
            _ => false,
        }
    }

    /// Waits for the end of the turn after event `after`. Returns the last message and the number of the end.
    async fn last_words(&self, id: &str, after: u64) -> (String, u64) {
        let session = self.session(id);
        let end = session.turn_end(after).await;
        let EventBody::Complete(complete) = &end.body else {
            panic!("{end:?}")
        };
        assert_eq!(complete.outcome, Outcome::Done);
        let messages = session.events(0).await.into_iter();
        let last = messages
            .take_while(|event| event["seq"].as_u64().unwrap() < end.seq)
            .filter(|event| event["type"] == "message" && event["data"]["role"] == "assistant")
            .last();
        let words = last.unwrap()["data"]["content"]
            .as_str()
            .unwrap()
            .to_owned();
        (words, end.seq)
    }

    /// The command that ended with the old server is reported as an error, and is not repeated.
    async fn assert_half_done_turn_resumes(&self) {
        let id = &self.expected.sessions.half_done;
        let (words, _) = self.last_words(id, self.n_events(id)).await;
        assert_eq!(words, "It took long.");
        let events = self.session(id).events(self.n_events(id)).await;
        let results: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == "tool_result")
            .collect();
        assert_eq!(results.len(), 1, "{events:#?}");
        assert_eq!(results[0]["data"]["is_error"], true, "{events:#?}");
        assert!(!events.iter().any(|event| event["type"] == "tool_use"));
    }

    /// The approval that the old server asked for is given, and the queue is taken in its order.
    async fn assert_approval_can_be_given(&self) {
        let id = &self.expected.sessions.approval;
        let session = self.session(id);
        let open = session.client.get(&session.path("/decisions")).await.good();
        let decision = open["decisions"][0]["id"].as_str().unwrap();
        let path = session.path(&format!("/decisions/{decision}/answer"));
        session
            .client
            .post(&path, json!({"yes": true}))
            .await
            .good();

        let (words, seq) = self.last_words(id, self.n_events(id)).await;
        assert!(words.starts_with("Result: tidy"), "{words}");
        let (words, seq) = self.last_words(id, seq).await;
        assert_eq!(words, "Next: second in the queue");
        let (words, _) = self.last_words(id, seq).await;
        assert_eq!(words, "Next: first in the queue, edited");
        let queue = session.client.get(&session.path("/queue")).await.good();
        assert_eq!(queue["messages"], json!([]));
    }

    async fn assert_overdue_question_has_its_default(&self) {
        let id = &self.expected.sessions.overdue;
        let (words, _) = self.last_words(id, self.n_events(id)).await;
        assert!(words.starts_with("Told: tea"), "{words}");
    }

    async fn assert_overdue_lease_ends(&self) {
        let id = &self.expected.sessions.leased;
        let is_lease = |body: &EventBody| matches!(body, EventBody::Lease(_));
        let session = self.session(id);
        let ended = session.wait_for(self.n_events(id), is_lease).await;
        let EventBody::Lease(lease) = &ended.body else {
            unreachable!()
        };
        let lease = serde_json::to_value(lease).unwrap();
        assert_eq!(
            (&lease["change"], &lease["reason"]),
            (&json!("ended"), &json!("expired"))
        );
    }

    /// Only a server that knows the value can put the name in its place. Newer programs open a secret only for a field
    /// that has the focus, so their agent never used it.
    async fn assert_used_secret_can_be_read(&self) {
        let id = &self.expected.sessions.secret;
        let StoredSecret { name, value } = &self.expected.secret;
        let was_used = self.expected.logs[id]
            .to_string()
            .contains(&format!("[secret {name}]"));
        if !was_used {
            return;
        }
        self.session(id).prompt("Type it once more").await;
        let (words, _) = self.last_words(id, self.n_events(id)).await;
        assert!(words.contains(&format!("[secret {name}]")), "{words}");
        let events = self.session(id).events(0).await;
        assert!(!events.iter().any(|event| event.to_string().contains(value)));
    }

    async fn assert_ended_session_stays_ended(&self) {
        let session = self.session(&self.expected.sessions.ended);
        let refused = session.send("hello?", "queue").await;
        assert_eq!((refused.status, &*refused.code()), (409, "session_ended"));
    }
}

/// The archives of all versions, the oldest first.
fn archives() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut archives: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    archives.sort();
    archives
}

#[tokio::test]
async fn data_of_every_earlier_version_opens_shows_the_same_and_resumes() {
    let archives = archives();
    assert!(!archives.is_empty());
    for archive in archives {
        let old = OldData::open(archive);
        old.assert_same_lists().await;
        old.assert_same_logs().await;
        old.assert_same_blobs().await;
        old.assert_half_done_turn_resumes().await;
        old.assert_approval_can_be_given().await;
        old.assert_overdue_question_has_its_default().await;
        old.assert_overdue_lease_ends().await;
        old.assert_used_secret_can_be_read().await;
        old.assert_ended_session_stays_ended().await;
        // Whatever was done since has only added to the logs.
        old.assert_same_logs().await;
    }
}
