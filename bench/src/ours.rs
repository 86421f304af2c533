//! Deskhand, through its HTTP API.

use std::time::{Duration, Instant};

use deskhand_testkit::{Server, ServerOptions, Session, processes_with_mount, rss_bytes};
use serde_json::{Value, json};

use crate::{page, table::median};

/// The background of the browser's first page.
const START_PAGE: [u8; 3] = [0xf7, 0xf4, 0xee];
/// So many pixels of a colour are no accident.
const MANY: usize = 2_000;

pub(crate) struct Ours {
    pub(crate) start_ms: f64,
    pub(crate) idle_mb: f64,
    pub(crate) first_screenshot_ms: f64,
    pub(crate) painted_ms: f64,
    pub(crate) screenshot_ms: f64,
    pub(crate) screenshot_kb: usize,
    pub(crate) click_ms: f64,
    pub(crate) click_look_ms: f64,
    pub(crate) key_ms: f64,
    pub(crate) scroll_ms: f64,
    pub(crate) type_50_ms: f64,
    pub(crate) type_500_ms: f64,
    pub(crate) shell_ms: f64,
    pub(crate) first_session_mb: f64,
    pub(crate) further_session_mb: f64,
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

    let (mut firsts, mut paints) = (Vec::new(), Vec::new());
    let mut sessions: Vec<Session> = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..3 {
        let created = Instant::now();
        let session = client.new_session("scripted/demo").await;
        firsts.push(seen(&session, created, |_| true).await);
        paints.push(
            seen(&session, created, |picture| {
                n_pixels(picture, START_PAGE) > 100_000
            })
            .await,
        );
        sessions.push(session);
        memory.push(pss_mb(&server.mark()));
    }
    for session in sessions.drain(1..) {
        session.terminate().await;
    }
    let session = sessions.remove(0);
    open_page(&session).await;

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
        first_screenshot_ms: median(firsts),
        painted_ms: median(paints),
        screenshot_ms: median(shots),
        screenshot_kb: screenshot.body.len() / 1_000,
        click_ms: act(&session, 60, std::slice::from_ref(&click), false).await,
        click_look_ms: act(&session, 20, &[click], true).await,
        key_ms: act(&session, 60, &[key], false).await,
        scroll_ms: act(&session, 30, &[down, up], false).await,
        type_50_ms: types(&session, 50, page::FIFTY).await,
        type_500_ms: types(&session, 500, page::FIVE_HUNDRED).await,
        shell_ms: shell(&session).await,
        first_session_mb: memory[0],
        further_session_mb: (memory[2] - memory[0]) / 2.0,
    }
}

/// Opens the page in the sandbox's browser.
async fn open_page(session: &Session) {
    let create =
        json!({"command": "create", "path": "/home/agent/page.html", "file_text": page::html()});
    session.act("editor", create).await;
    let focus = json!({"action": "key", "keys": "ctrl+l"});
    let address = json!({"action": "type", "text": "file:///home/agent/page.html"});
    let enter = json!({"action": "key", "keys": "Delete Return"});
    act(session, 1, &[focus, address, enter], true).await;
    seen(session, Instant::now(), |picture| {
        n_pixels(picture, page::EMPTY) > MANY
    })
    .await;
}

/// The median of doing these in turn.
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

/// From the request until the page shows that every character is there.
async fn types(session: &Session, n_characters: usize, colour: [u8; 3]) -> f64 {
    let (x, y) = page::FIELD;
    let click = json!({"action": "click", "at": {"x": x, "y": y}});
    let clear = json!({"action": "key", "keys": "ctrl+a Delete"});
    let mut samples = Vec::new();
    for _ in 0..7 {
        // The field must have the focus before anything is typed.
        act(session, 1, &[click.clone(), clear.clone()], true).await;
        seen(session, Instant::now(), |picture| {
            n_pixels(picture, page::EMPTY) > MANY
        })
        .await;
        let asked = Instant::now();
        let text = page::text(n_characters);
        session
            .act("computer", json!({"action": "type", "text": text}))
            .await;
        samples.push(seen(session, asked, |picture| n_pixels(picture, colour) > MANY).await);
    }
    median(samples)
}

/// How long after `since` the screen shows what is wanted.
async fn seen(session: &Session, since: Instant, wanted: impl Fn(&[u8]) -> bool) -> f64 {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        let answer = session.client.get(&session.path("/screenshot")).await;
        let elapsed = millis(since);
        if answer.status == 200 && wanted(&answer.body) {
            return elapsed;
        }
        if answer.status != 200 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    panic!("the screen never showed what was waited for");
}

fn n_pixels(picture: &[u8], colour: [u8; 3]) -> usize {
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels[..info.buffer_size()]
        .chunks_exact(info.color_type.samples())
        .filter(|pixel| pixel[..3] == colour)
        .count()
}

/// The memory of everything in this server's sandboxes, shared pages counted once.
fn pss_mb(mark: &str) -> f64 {
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

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
