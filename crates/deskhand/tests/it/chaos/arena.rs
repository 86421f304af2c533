//! A server, its database, sessions at work, and people who talk and read.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use deskhand_testkit::{
    Client, Postgres, Server, ServerOptions, Session, eventually, processes_with_mount,
};
use rand::Rng;
use reqwest::Method;
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};

use super::{
    audit::{self, Story},
    blow::Blow,
    reader::Reader,
    talk::Talk,
};
use crate::world::{serve_with, unlimited};

/// The longest until a server and its database answer again.
const BACK: Duration = Duration::from_secs(60);
/// The longest until everything that was asked for is done.
const REST: Duration = Duration::from_secs(240);
/// How many places of a log are taken up in the end.
const N_RESUMED: usize = 50;
/// How many messages wait at most before more are sent.
const ENOUGH: usize = 3;
/// The longest that the database is away.
const LONGEST_OUTAGE_MS: u64 = 1_500;

/// Turns whose actions leave marks that can be counted from outside.
const SCENARIOS: [(&str, &str); 3] = [
    (
        "writes",
        r#"
chunk_delay_ms: 2
steps:
  - thinking: "One after the other, so that it can be counted."
    text: "I begin with {{ prompt }}."
    calls:
      - bash: {command: "cat >> ~/marks <<'END'\n⟦{{ prompt }}-a⟧\nEND\nsleep 0.1"}
      - editor: {command: insert, path: /home/agent/edits, insert_line: 0, insert_text: "⟦{{ prompt }}-b⟧\n"}
      - bash: {command: "sleep 0.1; cat >> ~/marks <<'END'\n⟦{{ prompt }}-c⟧\nEND\n"}
  - text: "And on with {{ prompt }}."
    calls:
      - bash: {command: "for i in 1 2 3; do echo $i; sleep 0.05; done; cat >> ~/marks <<'END'\n⟦{{ prompt }}-d⟧\nEND\n"}
  - text: "That was {{ prompt }}."
"#,
    ),
    (
        "looks",
        r#"
chunk_delay_ms: 2
steps:
  - text: "I look around for {{ prompt }}."
    calls:
      - computer: {action: move, at: {x: 300, y: 200}}
      - computer: {action: click, at: {x: 500, y: 700}}
      - computer: {action: screenshot}
  - text: "I note it."
    calls:
      - bash: {command: "cat >> ~/marks <<'END'\n⟦{{ prompt }}-a⟧\nEND\n"}
      - computer: {action: key, keys: Escape}
      - editor: {command: insert, path: /home/agent/edits, insert_line: 0, insert_text: "⟦{{ prompt }}-b⟧\n"}
  - text: "I have seen {{ prompt }}."
"#,
    ),
    (
        "talks",
        r#"
chunk_delay_ms: 10
steps:
  - thinking: "A long thought about {{ prompt }}, which comes in many pieces and may break off at any of them."
    text: "A long speech about {{ prompt }}, which comes in many pieces and may break off at any of them as well."
    calls:
      - bash: {command: "cat >> ~/marks <<'END'\n⟦{{ prompt }}-a⟧\nEND\n"}
  - text: "A long answer about {{ prompt }}, which comes in many pieces, and is whole in the end."
"#,
    ),
];

pub(crate) struct Arena {
    server: Server,
    postgres: Option<Postgres>,
    /// Where the server is.
    door: watch::Sender<Client>,
    corners: Vec<Corner>,
    readers: JoinSet<()>,
}

/// One session, with whoever is interested in it.
struct Corner {
    session: String,
    talk: Talk,
    readers: [Reader; 2],
    /// The log as it was last read.
    log: Vec<Value>,
}

impl Arena {
    pub(crate) async fn open(n_sessions: u64, postgres: Option<Postgres>) -> Self {
        let owned = |(name, yaml): (&str, &str)| (name.to_owned(), yaml.to_owned());
        let mut variables = unlimited();
        variables.extend(postgres.as_ref().map(|postgres| {
            let name = "DESKHAND_DATABASE".to_owned();
            (name, postgres.url())
        }));
        let server = serve_with(ServerOptions {
            scenarios: SCENARIOS.map(owned).into(),
            variables,
            ..ServerOptions::default()
        });
        let door = watch::Sender::new(server.client());
        let mut readers = JoinSet::new();
        let mut corners = Vec::new();
        let names = SCENARIOS.iter().map(|(name, _)| name).cycle();
        for (_, name) in (0..n_sessions).zip(names) {
            let session = server
                .client()
                .new_session(&format!("scripted/{name}"))
                .await;
            session.shell("touch ~/marks ~/edits").await;
            let mut read = || Reader::start(&mut readers, door.subscribe(), session.id.clone());
            corners.push(Corner {
                talk: Talk::default(),
                readers: [read(), read()],
                log: Vec::new(),
                session: session.id,
            });
        }
        Self {
            server,
            postgres,
            door,
            corners,
            readers,
        }
    }

    pub(crate) fn has_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// Sees to it that every session has something to do.
    pub(crate) async fn keep_busy(&mut self, random: &mut impl Rng) {
        let client = self.server.client();
        for corner in &mut self.corners {
            let mut n_waiting = Story::read(&corner.log).n_unanswered();
            while n_waiting < ENOUGH && random.random_bool(0.7) {
                corner.talk.say(&client, &corner.session, random).await;
                n_waiting += 1;
            }
        }
    }

    /// Lets something die, and brings back what does not come back by itself.
    pub(crate) async fn strike(&mut self, blow: Blow, random: &mut impl Rng) -> String {
        let mark = self.server.mark();
        match blow {
            Blow::Runner | Blow::Screen | Blow::Browser => blow.kill_one(&mark, random),
            Blow::Server => {
                self.server.kill();
                eventually("no process is left", || {
                    processes_with_mount(&mark).is_empty()
                });
                self.server.start_again();
                self.door.send_replace(self.server.client());
                "started again".to_owned()
            }
            Blow::Clients => {
                let readers = self.corners.iter().flat_map(|corner| &corner.readers);
                let cut: Vec<_> = readers.filter(|_| random.random_bool(0.5)).collect();
                cut.iter().for_each(|reader| reader.cut());
                format!("{} of them", cut.len())
            }
            Blow::Database => {
                let away = Duration::from_millis(random.random_range(0..LONGEST_OUTAGE_MS));
                let postgres = self.postgres.as_mut().unwrap();
                postgres.stop_at_once();
                tokio::time::sleep(away).await;
                postgres.start_again().await;
                format!("away for {} ms", away.as_millis())
            }
        }
    }

    /// Holds all that must always be so against what is.
    pub(crate) async fn audit(&mut self) {
        for corner in &mut self.corners {
            let session = self.server.client().session(&corner.session);
            corner.audit(&session, &self.server.home_of(&session)).await;
        }
        assert!(
            !self.server.log().contains("panicked"),
            "{}",
            self.server.log()
        );
        let mark = self.server.mark();
        eventually("no session has two desktops", || {
            let mut n_screens = BTreeMap::<usize, usize>::new();
            for (pid, command) in processes_with_mount(&mark) {
                if command.contains("Xvnc") {
                    *n_screens.entry(self.owner(pid)).or_default() += 1;
                }
            }
            n_screens.values().all(|n| *n == 1)
        });
    }

    /// Which session a process belongs to; the number of sessions if to none.
    fn owner(&self, pid: i32) -> usize {
        let mounts = std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        let mut corners = self.corners.iter();
        corners
            .position(|corner| mounts.contains(&corner.session))
            .unwrap_or(self.corners.len())
    }

    /// Waits until all sessions have done what they were asked for.
    pub(crate) async fn come_to_rest(&mut self) {
        let deadline = Instant::now() + REST;
        loop {
            self.audit().await;
            let mut busy = Vec::new();
            for corner in &self.corners {
                let session = self.server.client().session(&corner.session);
                let shown = session.show().await;
                let n_unanswered = Story::read(&corner.log).n_unanswered();
                if n_unanswered > 0 || shown["state"] != "idle" {
                    busy.push(format!("{n_unanswered} unanswered in {shown}"));
                }
            }
            if busy.is_empty() {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "no rest: {busy:#?}\n{}",
                self.server.log()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        for corner in &self.corners {
            Story::read(&corner.log).check_rest();
            let deadline = Instant::now() + BACK;
            while !corner.all_have_seen_it() {
                assert!(Instant::now() < deadline, "{}", corner.missing());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            corner.check_readers();
            let session = self.server.client().session(&corner.session);
            corner.check_resuming(&session).await;
        }
    }

    /// How many of what there was.
    pub(crate) fn summary(&self) -> String {
        let mut ends = BTreeMap::<String, usize>::new();
        for corner in &self.corners {
            for end in Story::read(&corner.log).ends() {
                *ends.entry(end.to_owned()).or_default() += 1;
            }
        }
        let n_events: usize = self.corners.iter().map(|corner| corner.log.len()).sum();
        let accepted = self.corners.iter().map(|corner| corner.talk.n_accepted());
        let n_accepted: usize = accepted.sum();
        format!("{n_accepted} messages accepted, {n_events} events, turns ended: {ends:?}")
    }

    /// Ends all sessions and looks for what is left of them.
    pub(crate) async fn close(mut self) {
        self.readers.abort_all();
        let client = self.server.client();
        for corner in &self.corners {
            client.session(&corner.session).terminate().await;
        }
        let mark = self.server.mark();
        eventually("no process is left", || {
            processes_with_mount(&mark).is_empty()
        });
        let left: Vec<_> = files(&self.server.data_dir().join("sandboxes"))
            .into_iter()
            .filter(|path| path.file_name().is_some_and(|name| name != ".system"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(self.server.terminate(), Some(0), "{}", self.server.log());
    }
}

impl Corner {
    async fn audit(&mut self, session: &Session, home: &Path) {
        let log = whole_log(session).await;
        assert_eq!(
            log[..self.log.len()],
            self.log[..],
            "what was in the log stays as it was"
        );
        let story = Story::read(&log);
        self.talk.check(&story.messages);
        let listed = said_by_people(session).await;
        assert_eq!(listed[..story.messages.len()], story.messages[..]);
        let marks = marks(home);
        story.check_marks(&marks);
        self.log = whole_log(session).await;
        Story::read(&self.log).check_known(&marks);
        self.check_readers();
    }

    /// Whether the log can be taken up after any number.
    async fn check_resuming(&self, session: &Session) {
        for after in (0..self.log.len()).step_by(self.log.len() / N_RESUMED + 1) {
            let event = session.follow(after as u64).await.next().await;
            let event: Value = serde_json::from_str(&event).unwrap();
            assert_eq!(event, self.log[after]);
        }
    }

    /// Whether everybody has read the log, or more of it: it may have grown since.
    fn all_have_seen_it(&self) -> bool {
        let mut readers = self.readers.iter();
        readers.all(|reader| reader.seen().events.len() >= self.log.len())
    }

    /// What somebody does not get to see.
    fn missing(&self) -> String {
        let n_seen = self
            .readers
            .each_ref()
            .map(|reader| reader.seen().events.len());
        let first = n_seen.into_iter().min().unwrap_or_default();
        format!(
            "readers have seen {n_seen:?} of {}; missing: {:#?}",
            self.log.len(),
            &self.log[first..]
        )
    }

    /// Whether everybody saw what is in the log, as far as they have come.
    fn check_readers(&self) {
        for reader in &self.readers {
            let seen = reader.seen();
            assert!(seen.faults.is_empty(), "{:?}", seen.faults);
            let n = seen.events.len().min(self.log.len());
            assert_eq!(seen.events[..n], self.log[..n]);
        }
    }
}

async fn whole_log(session: &Session) -> Vec<Value> {
    let mut log: Vec<Value> = Vec::new();
    loop {
        let path = format!("/events?after={}&limit=5000", log.len());
        let page = get(session, &path).await;
        let page = page["events"].as_array().unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page.iter().cloned());
    }
}

/// All messages of people, id and content.
async fn said_by_people(session: &Session) -> Vec<(String, String)> {
    let mut said = Vec::new();
    let mut path = "/messages?limit=100".to_owned();
    loop {
        let page = get(session, &path).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for message in page["messages"].as_array().unwrap() {
            if message["role"] == "user" {
                said.push((text(&message["id"]), text(&message["content"])));
            }
        }
        match page["next"].as_str() {
            Some(next) => path = format!("/messages?limit=100&after={next}"),
            None => return said,
        }
    }
}

/// The marks that actions have left.
fn marks(home: &Path) -> Vec<String> {
    let files = ["marks", "edits"].map(|file| std::fs::read_to_string(home.join(file)).unwrap());
    files.iter().flat_map(|text| audit::marks(text)).collect()
}

/// Asks until there is an answer: a server whose database was away may have to find out first.
async fn get(session: &Session, path: &str) -> Value {
    let deadline = Instant::now() + BACK;
    loop {
        let answer = session
            .client
            .try_send(Method::GET, &session.path(path), None)
            .await;
        match answer {
            Ok(answer) if answer.status == 200 => return answer.json(),
            other => assert!(Instant::now() < deadline, "{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.path()).collect()
}
