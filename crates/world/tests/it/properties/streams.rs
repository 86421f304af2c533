use std::time::Duration;

use deskhand_testkit::{EventStream, Session};
use deskhand_world::{World, WorldOptions};
use futures::future::join_all;
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

use super::for_all;

const N_SESSIONS: usize = 3;

/// How long a turn takes, which no test waits for.
const HOLD: Duration = Duration::from_mins(1);

/// A turn that cannot end before [`HOLD`] has passed.
const HELD: &str = r#"
chunk_delay_ms: 0
steps:
  - thinking: "I wait."
    text: "{{ prompt }}"
    calls:
      - bash: {command: "echo waiting; sleep 60"}
  - text: "It is done."
"#;

/// When a client comes, and whether it is cut off.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Before the prompt.
    Early,
    /// Before the prompt; it loses its connection again and again.
    Shaky { every: usize },
    /// While the turn is held.
    Midway,
    /// After the end.
    Late,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Early),
        (1..4_usize).prop_map(|every| Kind::Shaky { every }),
        Just(Kind::Midway),
        Just(Kind::Late),
    ]
}

/// Somebody who follows the log.
struct Follower<'a> {
    session: &'a Session,
    stream: EventStream,
    /// After how many events it is cut off.
    every: usize,
    after: u64,
    seen: Vec<Value>,
}

impl<'a> Follower<'a> {
    async fn new(session: &'a Session, kind: Kind, after: u64) -> Self {
        Self {
            session,
            stream: session.follow(after).await,
            every: match kind {
                Kind::Shaky { every } => every,
                Kind::Early | Kind::Midway | Kind::Late => usize::MAX,
            },
            after,
            seen: Vec::new(),
        }
    }

    /// Reads on until there is such an event.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) {
        while !self.seen.last().is_some_and(&wanted) {
            let event = serde_json::from_str(&self.stream.next().await).unwrap();
            self.seen.push(event);
            if self.seen.len().is_multiple_of(self.every) {
                let after = self.after + self.seen.len() as u64;
                self.stream = self.session.follow(after).await;
            }
        }
    }
}

struct Stage {
    world: World,
    sessions: Vec<Session>,
}

async fn open(options: WorldOptions) -> Stage {
    let world = World::with(options.knowing(&[("held", HELD)])).await;
    let client = world.client();
    let sessions = join_all((0..N_SESSIONS).map(|_| client.new_session("scripted/held"))).await;
    join_all(sessions.iter().map(|session| session.shell("true"))).await;
    Stage { world, sessions }
}

fn is_work(event: &Value) -> bool {
    event["type"] == "tool_result" && event["data"]["partial"] == true
}

fn is_rest(event: &Value) -> bool {
    event["type"] == "status" && event["data"]["state"] == "idle"
}

/// **Feature: computer-use-backend, Property 4: WebSocket streaming behavior**
///
/// Everybody who follows a session is told of the work while it goes on (it cannot end before they
/// have been), all are told the same, and all are told the end, whenever they come and however often they lose
/// their connection.
#[test]
fn everybody_is_told_the_same_while_it_happens_and_at_the_end() {
    let cases = (0..N_SESSIONS, vec(kind(), 1..7), r"x\PC{0,200}");
    for_all(
        &cases,
        &open,
        &async |stage: &mut Stage, (which, kinds, prompt)| {
            let session = &stage.sessions[which];
            let newest = session.show().await["last_seq"].as_u64().unwrap();
            let come = |wanted: fn(&Kind) -> bool| {
                let coming = kinds.iter().filter(move |kind| wanted(kind));
                join_all(coming.map(|kind| Follower::new(session, *kind, newest)))
            };
            let mut followers = come(|kind| matches!(kind, Kind::Early | Kind::Shaky { .. })).await;
            session.prompt(&prompt).await;
            session
            .wait_for(newest, |body| {
                matches!(body, deskhand_core::event::EventBody::ToolResult(result) if result.partial)
            })
            .await;
            followers.extend(come(|kind| matches!(kind, Kind::Midway)).await);
            // The turn goes on only when all of them have seen it at work.
            join_all(followers.iter_mut().map(|follower| follower.until(is_work))).await;
            stage.world.pass(HOLD).await;
            session.turn_end(newest).await;
            followers.extend(come(|kind| matches!(kind, Kind::Late)).await);
            join_all(followers.iter_mut().map(|follower| follower.until(is_rest))).await;

            let log = session.events(newest).await;
            assert_eq!(followers.len(), kinds.len());
            for follower in &followers {
                assert_eq!(follower.seen, log);
            }
            let numbers = log.iter().map(|event| event["seq"].as_u64().unwrap());
            assert!(numbers.eq(newest + 1..=newest + log.len() as u64));
            let of_kind = |kind: &str| log.iter().filter(|event| event["type"] == kind).count();
            for once in ["thinking", "tool_use", "complete"] {
                assert_eq!(of_kind(once), 1, "{once}");
            }
            let said: String = log
                .iter()
                .filter(|event| event["type"] == "text" && event["data"]["block"] == 1)
                .map(|event| event["data"]["text"].as_str().unwrap())
                .collect();
            assert_eq!(said, prompt, "all that was said came as it was said");
        },
    );
}
