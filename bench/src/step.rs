//! Measures a step of a turn without the model.
//!
//! That is the time between two calls of the agent if the model needs no time: the action, a settled screen, a
//! picture of it, all events of both, and the context for the model.

use std::{fmt::Write, time::Instant};

use deskhand_core::event::EventBody;
use deskhand_testkit::{Server, ServerOptions, Watcher};

use crate::{
    desktop::{ours::open_page, page},
    table::{Row, Table, median},
};

const N_STEPS: usize = 40;

/// The pause of Anthropic's demo after each action before it takes a picture, whatever the screen does.
const DEMO_WAIT_MS: f64 = 2_000.0;

const SCREENS: [(&str, u16, u16); 4] = [
    ("a step, 1024×768", 1024, 768),
    ("a step, 1280×800", 1280, 800),
    ("a step, 1920×1080", 1920, 1080),
    ("a step, 2560×1600", 2560, 1600),
];

pub(crate) async fn measure(program: &str) {
    println!(
        "Measuring {N_STEPS} steps of a turn on each screen, clicks on a page that stays as it is …"
    );
    let mut table = Table::next_to("demo's wait");
    for (what, width, height) in SCREENS {
        let ours = steps(program, width, height).await;
        table.add(Row::times(what, ours, DEMO_WAIT_MS, 10.0));
    }
    println!("{table}");
    println!(
        "A step ends when the next call is told to somebody who follows the log. The screen must be quiet for 60 ms of it."
    );
}

/// Returns the median duration of all steps of a turn.
async fn steps(program: &str, width: u16, height: u16) -> f64 {
    let variables = [
        ("DESKHAND_SCREEN_WIDTH", width.to_string()),
        ("DESKHAND_SCREEN_HEIGHT", height.to_string()),
    ];
    let server = Server::start(
        program,
        ServerOptions {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .to_vec(),
            scenarios: vec![("steps".to_owned(), scenario())],
            ..ServerOptions::default()
        },
    );
    let session = server.client().new_session("scripted/steps").await;
    let mut watcher = Watcher::open(&session).await;
    open_page(&session, &mut watcher).await;
    drop(watcher);

    session.prompt("Go.").await;
    let mut log = session.follow(0).await;
    let mut calls = Vec::new();
    loop {
        let body = log.next_event().await.body;
        if matches!(&body, EventBody::ToolUse(call) if call.turn.is_some()) {
            calls.push(Instant::now());
        } else if let EventBody::ToolResult(result) = body {
            assert!(!result.is_error, "{}", result.text);
        } else if let EventBody::Error(failure) = body {
            panic!("{}", failure.message);
        } else if matches!(body, EventBody::Complete(_)) {
            break;
        }
    }
    assert_eq!(calls.len(), N_STEPS);
    let steps = calls
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1_000.0);
    median(steps.collect())
}

/// Returns the scenario of a model that answers at once.
fn scenario() -> String {
    let (x, y) = page::NOWHERE;
    let mut yaml = "chunk_delay_ms: 0\nsteps:\n".to_owned();
    for step in 0..N_STEPS {
        // An agent that clicks on one place again and again is asked whether it is stuck.
        let x = usize::try_from(x).expect("it is on the screen") + 6 * step;
        writeln!(
            yaml,
            "  - calls: [computer: {{action: click, at: {{x: {x}, y: {y}}}}}]"
        )
        .expect("a string takes everything");
    }
    yaml + "  - text: Done.\n"
}
