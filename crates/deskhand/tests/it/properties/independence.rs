use std::collections::BTreeSet;

use deskhand_testkit::{Server, ServerOptions, Session, processes_with_mount};
use futures::future::join_all;
use proptest::{collection::vec, option, prelude::*};

use super::{for_all, knowing};
use crate::world::serve_with;

const N_SESSIONS: usize = 4;

/// The screen, the browser and the runner.
const PROGRAMS: [&str; 3] = ["Xvnc", "--user-data-dir", "deskhand runner"];

/// Does in the shell what it is asked for, and answers what that printed.
const DOES: &str = r#"
chunk_delay_ms: 0
steps:
  - calls:
      - bash: {command: "{{ prompt }}"}
  - text: "{{ result.1 }}"
"#;

#[derive(Debug, Clone)]
enum Step {
    SetVariable(String),
    AppendToFile(String),
    AppendToTemporary(String),
    ShowAll,
    Nap { ms: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z]{1,8}".prop_map(Step::SetVariable),
        "[a-z]{1,8}".prop_map(Step::AppendToFile),
        "[a-z]{1,8}".prop_map(Step::AppendToTemporary),
        Just(Step::ShowAll),
        (0..40_u32).prop_map(|ms| Step::Nap { ms }),
    ]
}

/// What a session's computer should be like by itself.
#[derive(Debug, Default)]
struct Model {
    variable: String,
    file: String,
    temporary: String,
}

impl Model {
    /// The command for a step; what it prints is added to `printed`.
    fn command(&mut self, step: &Step, printed: &mut String) -> String {
        match step {
            Step::SetVariable(text) => {
                self.variable.clone_from(text);
                format!("kept={text}")
            }
            Step::AppendToFile(text) => {
                self.file.push_str(text);
                format!("printf {text} >> ~/kept")
            }
            Step::AppendToTemporary(text) => {
                self.temporary.push_str(text);
                format!("printf {text} >> /tmp/kept")
            }
            Step::ShowAll => {
                let Self {
                    variable,
                    file,
                    temporary,
                } = self;
                printed.push_str(&format!("{variable}/{file}/{temporary}\n"));
                "echo $kept/$(cat ~/kept)/$(cat /tmp/kept)".to_owned()
            }
            Step::Nap { ms } => format!("sleep {}", f64::from(*ms) / 1000.0),
        }
    }
}

struct World {
    server: Server,
    sessions: Vec<Session>,
}

async fn open(options: ServerOptions) -> World {
    let server = serve_with(knowing(options, &[("does", DOES)]));
    let client = server.client();
    let sessions = join_all((0..N_SESSIONS).map(|_| client.new_session("scripted/does"))).await;
    join_all(sessions.iter().map(|session| session.shell("true"))).await;
    World { server, sessions }
}

/// **Feature: computer-use-backend, Property 1: Concurrent session independence**
///
/// Sessions made at once and working at once have computers of their own: each does what it would
/// do alone, also when one of them is stuck, and shares no process with another.
#[test]
fn sessions_that_work_at_once_do_what_each_would_do_alone() {
    let turns = vec(vec(step(), 1..5), 1..3);
    let cases = (vec(turns, N_SESSIONS), option::of(0..N_SESSIONS));
    for_all(&cases, &open, &async |world: &mut World, (plans, stuck)| {
        let newest = join_all(world.sessions.iter().map(|session| async {
            session
                .shell("rm -f ~/go ~/kept /tmp/kept; touch ~/kept /tmp/kept; kept=")
                .await;
            session.show().await["last_seq"].as_u64().unwrap()
        }))
        .await;
        let mut expected = Vec::new();
        for ((n, turns), session) in plans.iter().enumerate().zip(&world.sessions) {
            let mut model = Model::default();
            for (turn, steps) in turns.iter().enumerate() {
                let mut printed = String::new();
                let mut commands: Vec<_> = steps
                    .iter()
                    .map(|step| model.command(step, &mut printed))
                    .collect();
                if stuck == Some(n) && turn == 0 {
                    commands.insert(0, "until [ -e ~/go ]; do sleep 0.01; done".to_owned());
                }
                commands.push(format!("echo end {n}"));
                session.prompt(&commands.join("; ")).await;
                expected.push((n, format!("{printed}end {n}")));
            }
        }
        let finish = async |n: usize| {
            let mut end = newest[n];
            for _ in &plans[n] {
                end = world.sessions[n].turn_end(end).await.seq;
            }
        };
        let others = (0..N_SESSIONS).filter(|n| stuck != Some(*n));
        join_all(others.map(finish)).await;
        if let Some(n) = stuck {
            let state = world.sessions[n].show().await["state"].clone();
            assert_eq!(state, "running", "the others did not wait for it");
            let home = world.server.home_of(&world.sessions[n]);
            std::fs::write(home.join("go"), "").unwrap();
            finish(n).await;
        }

        let mut answered = Vec::new();
        for ((n, session), newest) in world.sessions.iter().enumerate().zip(newest) {
            let events = session.events(newest).await;
            let answers = events
                .iter()
                .filter(|event| event["data"]["role"] == "assistant");
            answered.extend(answers.map(|event| {
                let content = event["data"]["content"].as_str().unwrap();
                (n, content.trim().to_owned())
            }));
        }
        assert_eq!(answered, expected);
        check_processes(world);
    });
}

/// Every session has a screen, a browser and a runner of its own, and every process one session.
fn check_processes(world: &World) {
    let mut programs = BTreeSet::new();
    for (pid, command) in processes_with_mount(&world.server.mark()) {
        let Ok(mounts) = std::fs::read_to_string(format!("/proc/{pid}/mountinfo")) else {
            continue;
        };
        let owners: Vec<_> = (0..N_SESSIONS)
            .filter(|n| mounts.contains(&world.sessions[*n].id))
            .collect();
        assert!(owners.len() <= 1, "{command} belongs to {owners:?}");
        for program in PROGRAMS {
            if command.contains(program) {
                programs.extend(owners.iter().map(|owner| (*owner, program)));
            }
        }
    }
    assert_eq!(programs.len(), N_SESSIONS * PROGRAMS.len(), "{programs:?}");
}
