use deskhand_testkit::{Client, Session};
use deskhand_world::{Ending, World, WorldOptions};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};

use super::for_all;

const ECHO: &str = r#"
chunk_delay_ms: 0
steps:
  - text: "You said: {{ prompt }}"
"#;

#[derive(Debug, Clone)]
struct Wanted {
    title: Option<String>,
    note: String,
    messages: Vec<String>,
    /// Whether the agent may finish before the server goes.
    is_awaited: bool,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let title = option::of(r"\PC{1,40}");
    let messages = vec(r"x\PC{0,40}x", 0..4);
    (title, r"[^\x00]{0,20}", messages, any::<bool>()).prop_map(
        |(title, note, messages, is_awaited)| Wanted {
            title,
            note,
            messages,
            is_awaited,
        },
    )
}

struct Deployment {
    world: World,
    /// A user's token, made before the first restart.
    token: String,
}

async fn open(options: WorldOptions) -> Deployment {
    let world = World::with(options.knowing(&[("echo", ECHO)])).await;
    let bob = world.client().new_user("bob").await;
    let body = json!({"name": "kept", "scope": "write"});
    let made = bob.post("/api/tokens", body).await.good();
    Deployment {
        world,
        token: made["token"].as_str().unwrap().to_owned(),
    }
}

impl Deployment {
    fn bob(&self) -> Client {
        self.world.client().with_token(&self.token)
    }
}

/// What a session's owner can see of it.
#[derive(Debug)]
struct Seen {
    session: Value,
    messages: Vec<Value>,
    events: Vec<Value>,
}

impl Seen {
    async fn of(session: &Session) -> Self {
        // The other way round the log could tell of a message that is not in the list.
        let events = session.events(0).await;
        Self {
            messages: session.messages().await,
            session: session.show().await,
            events,
        }
    }
}

/// **Feature: computer-use-backend, Property 5: Data persistence across restarts**
///
/// Whatever was stored reads the same after the server was stopped or crashed and started again;
/// the log only grows; and what was accepted but not yet answered is answered then.
#[test]
fn what_was_stored_is_there_after_any_restart() {
    let ending = prop_oneof![Just(Ending::Crash), Just(Ending::InOrder)];
    let cases = (vec(wanted(), 1..4), ending);
    for_all(
        &cases,
        &open,
        &async |kept: &mut Deployment, (wanted, ending)| {
            let mut before = Vec::new();
            for wanted in &wanted {
                let body = json!({
                    "model": "scripted/echo",
                    "title": wanted.title,
                    "metadata": {"note": wanted.note},
                });
                let made = kept.bob().post("/api/sessions", body).await.good();
                let session = kept.bob().session(made["id"].as_str().unwrap());
                for message in &wanted.messages {
                    session.prompt(message).await;
                }
                if wanted.is_awaited {
                    answered(&session, wanted.messages.len()).await;
                }
                before.push((Seen::of(&session).await, session.id));
            }
            kept.world.end(ending).await;
            kept.world.open().await;
            let listed = kept.bob().get("/api/sessions").await.good();
            for ((before, id), wanted) in before.iter().zip(&wanted) {
                let session = kept.bob().session(id);
                let after = Seen::of(&session).await;
                assert_eq!(after.session["metadata"]["note"], wanted.note);
                for field in [
                    "id",
                    "owner",
                    "right",
                    "title",
                    "model",
                    "metadata",
                    "created_at",
                ] {
                    assert_eq!(after.session[field], before.session[field], "{field}");
                }
                assert_eq!(after.messages[..before.messages.len()], before.messages[..]);
                assert_eq!(after.events[..before.events.len()], before.events[..]);
                let mut listed = listed["sessions"].as_array().unwrap().iter();
                assert!(listed.any(|listed| listed["id"] == **id));

                answered(&session, wanted.messages.len()).await;
                let history = session.messages().await;
                let by = |role: &str| -> Vec<String> {
                    let said = history.iter().filter(|message| message["role"] == role);
                    said.map(|message| message["content"].as_str().unwrap().to_owned())
                        .collect()
                };
                assert_eq!(by("user"), wanted.messages);
                let answers = wanted.messages.iter();
                let answers = answers.map(|said| format!("You said: {said}"));
                assert_eq!(by("assistant"), answers.collect::<Vec<_>>());
                session.terminate().await;
            }
        },
    );
}

/// Waits for so many ends of turns.
async fn answered(session: &Session, n_messages: usize) {
    let mut end = 0;
    for _ in 0..n_messages {
        end = session.turn_end(end).await.seq;
    }
}
