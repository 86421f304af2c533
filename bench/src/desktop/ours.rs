//! Measures Deskhand through its HTTP API.

use std::time::{Duration, Instant};

use deskhand_testkit::{Server, ServerOptions, Session, Watcher, processes_with_mount, rss_bytes};
use serde_json::{Value, json};

use super::page;
use crate::{
    process::{cpu_ticks, own_mb},
    table::median,
};

/// The background of the browser's first page, and an empty place on it.
const START_PAGE: [u8; 3] = [0xf7, 0xf4, 0xee];
const EMPTY_PLACE: (usize, usize) = (500, 740);

pub(crate) struct Ours {
    pub(crate) start_ms: f64,
    pub(crate) idle_mb: f64,
    pub(crate) idle_own_mb: f64,
    pub(crate) first_screenshot_ms: f64,
    pub(crate) painted_ms: f64,
    pub(crate) screenshot_ms: f64,
    pub(crate) screenshot_kb: usize,
    pub(crate) click_ms: f64,
    pub(crate) click_look_ms: f64,
    pub(crate) key_ms: f64,
    pub(crate) scroll_ms: f64,
    pub(crate) type_50: Typing,
    pub(crate) type_500: Typing,
    pub(crate) shell_ms: f64,
    pub(crate) first_session_mb: f64,
    pub(crate) further_session_mb: f64,
}

/// The duration of typing.
pub(crate) struct Typing {
    /// The time until the action is done and answered.
    pub(crate) done_ms: f64,
    /// The time until a watcher sees that the page has every character.
    pub(crate) seen_ms: f64,
}

pub(crate) async fn measure(program: &str) -> Ours {
    let started = Instant::now();
    let server = Server::start(program, ServerOptions::default());
    let first_start = millis(started);
    let mut starts = vec![first_start];
    for _ in 0..4 {
        let started = Instant::now();
        drop(Server::start(program, ServerOptions::default()));
        starts.push(millis(started));
    }
    let client = server.client();
    client.get("/health").await.good();
    let idle_mb = rss_bytes(server.pid()) as f64 / 1e6;
    let idle_own_mb = own_mb(server.pid());

    let (mut firsts, mut paints) = (Vec::new(), Vec::new());
    let mut sessions: Vec<Session> = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..3 {
        quiet(&server.mark()).await;
        let created = Instant::now();
        let session = client.new_session("scripted/demo").await;
        first_screenshot(&session).await;
        firsts.push(millis(created));
        let mut watcher = Watcher::open(&session).await;
        watcher.until(EMPTY_PLACE, START_PAGE).await;
        paints.push(millis(created));
        sessions.push(session);
        memory.push(pss_mb(&server.mark()));
    }
    for session in sessions.drain(1..) {
        session.terminate().await;
    }
    quiet(&server.mark()).await;
    let session = sessions.remove(0);
    let mut watcher = Watcher::open(&session).await;
    open_page(&session, &mut watcher).await;
    let type_50 = types(&session, &mut watcher, 50, page::FIFTY).await;
    let type_500 = types(&session, &mut watcher, 500, page::FIVE_HUNDRED).await;
    drop(watcher);

    let screenshot = client.get(&session.path("/screenshot")).await;
    let mut shots = Vec::new();
    for _ in 0..60 {
        let asked = Instant::now();
        let answer = client.get(&session.path("/screenshot")).await;
        shots.push(millis(asked));
        assert_eq!(answer.status, 200);
    }
    let at = |(x, y): (i32, i32)| json!({"x": x, "y": y});
    let click = json!({"action": "click", "at": at(page::NOWHERE)});
    let key = json!({"action": "key", "keys": "shift"});
    let down = json!({"action": "scroll", "at": at(page::NOWHERE), "dy": 3});
    let up = json!({"action": "scroll", "at": at(page::NOWHERE), "dy": -3});
    Ours {
        start_ms: median(starts),
        idle_mb,
        idle_own_mb,
        first_screenshot_ms: median(firsts),
        painted_ms: median(paints),
        screenshot_ms: median(shots),
        screenshot_kb: screenshot.body.len() / 1_000,
        click_ms: act(&session, 60, std::slice::from_ref(&click), false).await,
        click_look_ms: act(&session, 20, &[click], true).await,
        key_ms: act(&session, 60, &[key], false).await,
        scroll_ms: act(&session, 30, &[down, up], false).await,
        type_50,
        type_500,
        shell_ms: shell(&session).await,
        first_session_mb: memory[0],
        further_session_mb: (memory[2] - memory[0]) / 2.0,
    }
}

/// Opens the page in the sandbox's browser, once the browser is up.
pub(crate) async fn open_page(session: &Session, watcher: &mut Watcher) {
    watcher.until(EMPTY_PLACE, START_PAGE).await;
    let create =
        json!({"command": "create", "path": "/home/agent/page.html", "file_text": page::html()});
    session.act("editor", create).await;
    let focus = json!({"action": "key", "keys": "ctrl+l"});
    let address = json!({"action": "type", "text": "file:///home/agent/page.html"});
    let enter = json!({"action": "key", "keys": "Delete Return"});
    act(session, 1, &[focus, address, enter], true).await;
    watcher.until(page::BAND, page::EMPTY).await;
}

/// Returns the median duration of these actions in turn.
async fn act(session: &Session, n_times: usize, inputs: &[Value], look: bool) -> f64 {
    let mut samples = Vec::new();
    for _ in 0..n_times {
        for input in inputs {
            let body = json!({"tool": "computer", "input": input, "look": look});
            let asked = Instant::now();
            let answer = session.client.post(&session.path("/actions"), body).await;
            samples.push(millis(asked));
            assert_eq!(answer.good()["is_error"], false);
        }
    }
    median(samples)
}

async fn shell(session: &Session) -> f64 {
    let mut samples = Vec::new();
    for _ in 0..60 {
        let asked = Instant::now();
        let text = session.shell("echo hi").await;
        samples.push(millis(asked));
        assert_eq!(text.trim(), "hi");
    }
    median(samples)
}

async fn types(
    session: &Session,
    watcher: &mut Watcher,
    n_characters: usize,
    colour: [u8; 3],
) -> Typing {
    let (x, y) = page::FIELD;
    let click = json!({"action": "click", "at": {"x": x, "y": y}});
    let clear = json!({"action": "key", "keys": "ctrl+a Delete"});
    let (mut done, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        // The field must have the focus before anything is typed.
        act(session, 1, &[click.clone(), clear.clone()], true).await;
        watcher.until(page::BAND, page::EMPTY).await;
        let text = page::text(n_characters);
        let asked = Instant::now();
        session
            .act("computer", json!({"action": "type", "text": text}))
            .await;
        done.push(millis(asked));
        watcher.until(page::BAND, colour).await;
        seen.push(millis(asked));
    }
    Typing {
        done_ms: median(done),
        seen_ms: median(seen),
    }
}

async fn first_screenshot(session: &Session) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while session
        .client
        .get(&session.path("/screenshot"))
        .await
        .status
        != 200
    {
        assert!(Instant::now() < deadline, "there is no screen");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Returns the memory of everything in this server's sandboxes, with shared pages counted once.
pub(crate) fn pss_mb(mark: &str) -> f64 {
    let pss_kb = |pid: i32| {
        let rollup =
            std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|line| {
            line.trim()
                .trim_end_matches(" kB")
                .trim()
                .parse::<f64>()
                .ok()
        })
        .unwrap_or(0.0)
    };
    processes_with_mount(mark)
        .into_iter()
        .map(|(pid, _)| pss_kb(pid))
        .sum::<f64>()
        / 1_000.0
}

/// Waits until the sandboxes are idle: a browser continues to start long after it has painted.
async fn quiet(mark: &str) {
    let ticks = || -> u64 {
        processes_with_mount(mark)
            .iter()
            .map(|(pid, _)| cpu_ticks(*pid))
            .sum()
    };
    let mut before = ticks();
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = ticks();
        if now.saturating_sub(before) <= 2 {
            return;
        }
        before = now;
    }
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
