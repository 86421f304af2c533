//! Terminals: the time from a key to its echo, in peace and while another terminal writes 100 MB.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use deskhand_testkit::{Server, ServerOptions, Session, TerminalClient};
use serde_json::json;

use crate::table::{Row, Table, median, part};

const N_KEYS: usize = 1_000;
const N_KEYS_IN_FLOOD: usize = 100;
const N_ACTIONS: usize = 20;
/// A pause between two keys, so that each is a key of its own.
const PAUSE: Duration = Duration::from_millis(2);
/// Writes again and again until the file is there. The same work without output is what it is compared with: on a
/// small machine, the programs that write take time from everything, with and without a terminal.
const FLOOD: &str = "while [ ! -e ~/enough ]; do echo xxxx; head -c 100000000 /dev/zero | tr '\\0' x | fold -w 99; done; echo over $((1+1))\r";
const SILENT_FLOOD: &str = "while [ ! -e ~/enough ]; do echo xxxx; head -c 100000000 /dev/zero | tr '\\0' x | fold -w 99 > /dev/null; done; echo over $((1+1))\r";
/// The part of its speed that a terminal or an action keeps while another terminal writes.
const KEPT: f64 = 0.5;
const PEER: &str = include_str!("../peer/echo.py");

pub(crate) async fn measure(program: &str, python: &str) {
    println!("Measuring terminals: {N_KEYS} keys and their echoes …");
    let server = Server::start(program, ServerOptions::default());
    let session = server.client().new_session("scripted/demo").await;
    let mut quiet = TerminalClient::open_with(&session, json!({"command": "cat"})).await;
    quiet.type_in("ready\r").await;
    quiet.until("ready\r\nready").await;
    let calm = echoes(&mut quiet, N_KEYS).await;
    let calm_action = actions(&session).await;

    let bare = bare_echoes(python);
    let mut table = Table::next_to("bare PTY");
    let row = |what, at, target| {
        let [ours, bare] = [&calm, &bare].map(|samples| part(samples.clone(), at));
        Row::ms(what, ours, Some(bare), target)
    };
    table.add(row("echo of a key, median", 0.5, 5.0));
    table.add(row("echo of a key, p99", 0.99, 0.0).without_target());
    table.add(Row::ms("an action", calm_action, None, 0.0).without_target());
    println!("{table}");

    let busy = during(SILENT_FLOOD, &session, &mut quiet).await;
    let flooded = during(FLOOD, &session, &mut quiet).await;
    session.terminate().await;
    let mut table = Table::next_to("no output");
    for (what, ours, other) in [
        ("echo during 100 MB of another", flooded.echo, busy.echo),
        ("an action during 100 MB", flooded.action, busy.action),
    ] {
        table.add(Row::times(what, ours, other, KEPT));
    }
    println!("{table}");
    println!(
        "Beside the same programs without output. The viewer of the other terminal missed output {} times, and was told so.",
        flooded.n_missed
    );
}

/// The median times in milliseconds while another terminal is busy.
struct Meanwhile {
    echo: f64,
    action: f64,
    n_missed: usize,
}

/// Measures while another terminal runs a command, which ends when a file is there.
async fn during(command: &str, session: &Session, quiet: &mut TerminalClient) -> Meanwhile {
    session.shell("rm -f ~/enough").await;
    let mut noisy = TerminalClient::open(session).await;
    noisy.type_in(command).await;
    // Once in the echo of the command, and once in its output.
    noisy.until("xxxx\r\n").await;
    let reading = async {
        noisy.until("over 2").await;
        noisy.n_missed
    };
    let meanwhile = async {
        let echo = median(echoes(quiet, N_KEYS_IN_FLOOD).await);
        let action = actions(session).await;
        session.shell("touch ~/enough").await;
        (echo, action)
    };
    let (n_missed, (echo, action)) = tokio::join!(reading, meanwhile);
    Meanwhile {
        echo,
        action,
        n_missed,
    }
}

/// Returns the time from each key to its echo at a client of the server, in milliseconds.
async fn echoes(terminal: &mut TerminalClient, n_keys: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(n_keys);
    for _ in 0..n_keys {
        terminal.forget();
        let begin = Instant::now();
        terminal.type_in("k").await;
        terminal.until("k").await;
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
        tokio::time::sleep(PAUSE).await;
    }
    times
}

/// Returns the median time of a small action by hand, in milliseconds.
async fn actions(session: &Session) -> f64 {
    let mut times = Vec::new();
    for _ in 0..N_ACTIONS {
        let begin = Instant::now();
        session.shell("true").await;
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    median(times)
}

/// Returns the same for a pseudoterminal without anything between, in milliseconds.
#[expect(clippy::disallowed_methods, reason = "the peer is a program")]
fn bare_echoes(python: &str) -> Vec<f64> {
    let measured = Command::new(python)
        .args(["-c", PEER, &N_KEYS.to_string()])
        .output()
        .unwrap();
    let printed = String::from_utf8(measured.stdout).unwrap();
    printed.lines().map(|line| line.parse().unwrap()).collect()
}
