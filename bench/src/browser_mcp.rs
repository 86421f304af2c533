//! The browser over the Model Context Protocol, next to Playwright's MCP server: the same Chromium, the same pages, over
//! standard input and output.

mod client;
mod orders;
mod page;
mod settings;

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command},
    time::Instant,
};

use deskhand_testkit::{Server, ServerOptions};
use serde_json::{Value, json};

use self::client::{McpClient, McpResult};
use crate::table::{Row, Table, median};

const N_TIMES: usize = 20;
const N_STARTS: usize = 10;
/// The time from the start of a program to its answer.
const START_MS: f64 = 50.0;
const PEER: &str = "bench/peer/playwright/node_modules/@playwright/mcp/cli.js";
const PORT: u16 = 8931;

/// The measurements of one server.
struct Driven {
    navigate_ms: f64,
    click_ms: f64,
    type_ms: f64,
    screenshot_ms: f64,
    snapshot_ms: f64,
    /// The snapshots of all pages together.
    snapshot_kb: f64,
    click_kb: f64,
    tools_kb: f64,
}

/// The calls of one server, which has names and arguments of its own.
struct Calls<'a> {
    /// Arguments that every call has.
    common: Value,
    url: String,
    /// Returns the arguments that name an element.
    element: &'a dyn Fn(&str) -> Value,
    picture: Value,
}

pub(crate) fn measure(program: &str) {
    println!("Measuring the browser over MCP: {N_TIMES} times each …");
    let ours = ours(program);
    let start_ms = median(ours.starts);
    let ours = ours.driven;
    let peer = peer();
    let peer_start_ms = median(peer.starts);
    let peer = peer.driven;
    let mut table = Table::next_to("playwright");
    let faster = |what, ours, peer, times| Row::times(what, ours, peer, times);
    table.add(Row::ms(
        "start until initialized",
        start_ms,
        Some(peer_start_ms),
        START_MS,
    ));
    table.add(faster("navigate", ours.navigate_ms, peer.navigate_ms, 1.0));
    table.add(faster("click", ours.click_ms, peer.click_ms, 5.0));
    table.add(faster(
        "type 50 characters",
        ours.type_ms,
        peer.type_ms,
        1.0,
    ));
    table.add(faster(
        "screenshot, JPEG",
        ours.screenshot_ms,
        peer.screenshot_ms,
        1.0,
    ));
    table.add(faster(
        "snapshot of the page",
        ours.snapshot_ms,
        peer.snapshot_ms,
        1.0,
    ));
    table.add(Row::smaller(
        "snapshots of three pages, bytes",
        ours.snapshot_kb,
        peer.snapshot_kb,
        3.0,
    ));
    table.add(Row::smaller(
        "click, bytes",
        ours.click_kb,
        peer.click_kb,
        1.0,
    ));
    table.add(
        Row::smaller("list of tools, bytes", ours.tools_kb, peer.tools_kb, 1.0).without_target(),
    );
    println!("{table}");
}

/// Returns the files of the site. Times are measured on the first one.
fn pages() -> [(&'static str, String); 3] {
    [
        ("index.html", page::html()),
        ("orders.html", orders::html()),
        ("settings.html", settings::html()),
    ]
}

/// One server, and how long it takes to start.
struct Measured {
    starts: Vec<f64>,
    driven: Driven,
}

fn ours(program: &str) -> Measured {
    let server = Server::start(program, ServerOptions::default());
    let folder = server.data_dir();
    let mcp = |program: &str| {
        let mut command = command(program);
        command.args(["mcp", "--tools", "browser,shell,file", "--data-dir"]);
        command.arg(&folder);
        command
    };
    let starts = starts(|| mcp(program));
    let mut client = McpClient::start(mcp(program));
    let opened = client.call("computer_open", &json!({}));
    let id = opened.facts["sessionId"].as_str().unwrap().to_owned();
    let on = |mut input: Value| {
        input["sessionId"] = json!(id);
        input
    };
    for (name, content) in pages() {
        let write = json!({"path": format!("~/site/{name}"), "content": content});
        client.call("file_write", &on(write));
    }
    let serve =
        format!("cd ~/site && (python3 -m http.server {PORT} --bind 127.0.0.1 >/dev/null 2>&1 &)");
    client.call("shell_run", &on(json!({ "command": serve })));
    client.call(
        "shell_run",
        &on(json!({ "command": page::wait_until_served(PORT) })),
    );
    let calls = Calls {
        common: json!({ "sessionId": id }),
        url: format!("http://127.0.0.1:{PORT}/"),
        element: &|reference| json!({ "ref": reference }),
        picture: json!({ "format": "jpeg" }),
    };
    let driven = drive(&mut client, &calls);
    client.call("agent_end", &on(json!({})));
    Measured { starts, driven }
}

fn peer() -> Measured {
    let site = tempfile::tempdir().unwrap();
    for (name, content) in pages() {
        std::fs::write(site.path().join(name), content).unwrap();
    }
    let port = free_port();
    let mut serve = command("python3");
    serve.args([
        "-m",
        "http.server",
        &port.to_string(),
        "--bind",
        "127.0.0.1",
    ]);
    serve.current_dir(site.path());
    serve
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let _serving = Serving(serve.spawn().unwrap());
    let mut wait = command("bash");
    wait.args(["-c", &page::wait_until_served(port)])
        .status()
        .unwrap();

    let output = site.path().join("output");
    let mcp = || {
        let mut command = command("node");
        command
            .arg(PEER)
            .args(["--headless", "--isolated", "--no-sandbox"]);
        command.args(["--viewport-size", "1024x640", "--executable-path"]);
        command.arg(chromium()).arg("--output-dir").arg(&output);
        command
    };
    let starts = starts(mcp);
    let mut client = McpClient::start(mcp());
    let calls = Calls {
        common: json!({}),
        url: format!("http://127.0.0.1:{port}/"),
        element: &|reference| json!({ "element": "the element", "target": reference }),
        picture: json!({ "type": "jpeg" }),
    };
    let driven = drive(&mut client, &calls);
    Measured { starts, driven }
}

/// Does everything with one server, and measures it.
fn drive(client: &mut McpClient, calls: &Calls<'_>) -> Driven {
    let with = |arguments: Value| {
        let mut all = calls.common.clone();
        for (name, value) in arguments.as_object().unwrap() {
            all[name] = value.clone();
        }
        all
    };
    let tools = client.request("tools/list", &json!({})).to_string();
    let open = with(json!({ "url": calls.url }));
    client.call("browser_navigate", &open);
    let navigate = timed(client, "browser_navigate", &open);
    let snapshot = timed(client, "browser_snapshot", &with(json!({})));
    let read = &snapshot.last.text;
    let element = |role, name| with((calls.element)(&page::reference(read, role, name)));
    let click = timed(client, "browser_click", &element("button", page::BUTTON));
    let mut entry = element("textbox", page::FIELD);
    entry["text"] = json!(page::FIFTY);
    let typed = timed(client, "browser_type", &entry);
    let picture = with(calls.picture.clone());
    let screenshot = timed(client, "browser_take_screenshot", &picture);
    let mut n_bytes = 0;
    for (name, _) in pages() {
        let url = format!("{}{name}", calls.url);
        client.call("browser_navigate", &with(json!({ "url": url })));
        n_bytes += client.call("browser_snapshot", &with(json!({}))).n_bytes;
    }
    Driven {
        navigate_ms: median(navigate.times),
        click_ms: median(click.times),
        type_ms: median(typed.times),
        screenshot_ms: median(screenshot.times),
        snapshot_ms: median(snapshot.times),
        snapshot_kb: kb(n_bytes),
        click_kb: kb(click.last.n_bytes),
        tools_kb: kb(tools.len()),
    }
}

/// The times of one call, and its last result.
struct Timed {
    times: Vec<f64>,
    last: McpResult,
}

fn timed(client: &mut McpClient, tool: &str, arguments: &Value) -> Timed {
    // The first one may have to load something.
    let mut last = client.call(tool, arguments);
    let mut times = Vec::with_capacity(N_TIMES);
    for _ in 0..N_TIMES {
        let begin = Instant::now();
        last = client.call(tool, arguments);
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
    }
    Timed { times, last }
}

/// Returns the times from the start of a program until it has answered `initialize`.
fn starts(program: impl Fn() -> Command) -> Vec<f64> {
    let mut times = Vec::with_capacity(N_STARTS);
    for _ in 0..N_STARTS {
        let begin = Instant::now();
        let client = McpClient::start(program());
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
        drop(client);
    }
    times
}

/// A program that ends with its owner.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Debian's `/usr/bin/chromium` is a script that adds flags of its own.
fn chromium() -> &'static str {
    let program = "/usr/lib/chromium/chromium";
    if Path::new(program).exists() {
        program
    } else {
        "/usr/bin/chromium"
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are small")]
fn kb(n_bytes: usize) -> f64 {
    n_bytes as f64 / 1000.0
}

#[expect(clippy::disallowed_methods, reason = "the servers are programs")]
fn command(program: &str) -> Command {
    Command::new(program)
}
