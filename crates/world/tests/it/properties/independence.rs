use std::{collections::HashSet, sync::Arc, time::Duration};

use deskhand_testkit::Session;
use deskhand_world::{World, WorldOptions};
use futures::future::join_all;
use proptest::{collection::vec, option, prelude::*};

use super::for_all;

const N_SESSIONS: usize = 4;
/// How long a session is stuck, which no test waits for.
const STUCK: Duration = Duration::from_mins(1);

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
    Append(String),
    Show,
    Nap { ms: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z]{1,8}".prop_map(Step::Append),
        Just(Step::Show),
        (0..10_u32).prop_map(|ms| Step::Nap { ms }),
    ]
}

/// The command for a step on a computer with this file. What it prints is added to `printed`.
fn command(step: &Step, file: &mut String, printed: &mut String) -> String {
    match step {
        Step::Append(text) => {
            file.push_str(text);
            format!("printf {text} >> ~/kept")
        }
        Step::Show => {
            printed.push_str(&format!("{file}\n"));
            "cat ~/kept; echo".to_owned()
        }
        Step::Nap { ms } => format!("sleep {}", f64::from(*ms) / 1000.0),
    }
}

struct Stage {
    world: World,
    sessions: Vec<Session>,
}

async fn open(options: WorldOptions) -> Stage {
    let world = World::with(options.knowing(&[("does", DOES)])).await;
    let client = world.client();
    let sessions = join_all((0..N_SESSIONS).map(|_| client.new_session("scripted/does"))).await;
    Stage { world, sessions }
}

/// **Feature: computer-use-backend, Property 1: Concurrent session independence**
///
/// Sessions made at once and working at once have computers of their own: each does what it would
/// do alone, also when one of them is stuck.
#[test]
fn sessions_that_work_at_once_do_what_each_would_do_alone() {
    let turns = vec(vec(step(), 1..5), 1..3);
    let cases = (vec(turns, N_SESSIONS), option::of(0..N_SESSIONS));
    for_all(&cases, &open, &async |stage: &mut Stage, (plans, stuck)| {
        let Stage { world, sessions } = stage;
        let newest = join_all(sessions.iter().map(|session| async {
            session.shell("printf '' > ~/kept").await;
            session.show().await["last_seq"].as_u64().unwrap()
        }))
        .await;
        let mut expected = Vec::new();
        for ((n, turns), session) in plans.iter().enumerate().zip(&*sessions) {
            let mut file = String::new();
            for (turn, steps) in turns.iter().enumerate() {
                let mut printed = String::new();
                let mut commands: Vec<_> = steps
                    .iter()
                    .map(|step| command(step, &mut file, &mut printed))
                    .collect();
                if stuck == Some(n) && turn == 0 {
                    commands.insert(0, format!("sleep {}", STUCK.as_secs()));
                }
                commands.push(format!("echo end {n}"));
                session.prompt(&commands.join("; ")).await;
                expected.push((n, format!("{printed}end {n}").trim().to_owned()));
            }
        }
        let finish = async |n: usize| {
            let mut end = newest[n];
            for _ in &plans[n] {
                end = sessions[n].turn_end(end).await.seq;
            }
        };
        let others = (0..N_SESSIONS).filter(|n| stuck != Some(*n));
        join_all(others.map(finish)).await;
        if let Some(n) = stuck {
            let state = sessions[n].show().await["state"].clone();
            assert_eq!(state, "running", "the others did not wait for it");
            world.pass(STUCK).await;
            finish(n).await;
        }

        let mut answered = Vec::new();
        for ((n, session), newest) in sessions.iter().enumerate().zip(newest) {
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
        let computers = sessions.iter().map(|session| {
            let computer = world.sandboxes().running(session.id.parse().unwrap());
            Arc::as_ptr(&computer.unwrap())
        });
        assert_eq!(computers.collect::<HashSet<_>>().len(), N_SESSIONS);
    });
}
