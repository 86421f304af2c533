//! `deskhand mcp`: the protocol over standard input and output, with a server that runs and without one.

mod pages;

use serde_json::{Value, json};

use crate::{
    program::{Ended, Place},
    world::serve,
};

/// The messages of a client that says hello, lists the tools, and asks about a session that does not exist.
fn conversation() -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let call = json!({"name": "agent_status", "arguments": {"sessionId": "nobody"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}),
    ];
    messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect()
}

/// Checks that nothing but the three answers was written.
fn check(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let answers = ended.stdout.lines();
    let mut answers: Vec<Value> = answers
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3], "{}", ended.stdout);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "deskhand");
    assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 6);
    assert_eq!(answers[2]["result"]["isError"], true);
}

#[test]
fn a_running_server_is_used() {
    let server = serve(&[]);
    let folder = server.data_dir();
    let place = Place::new();
    let args = ["mcp", "--data-dir", folder.to_str().unwrap()];
    check(&place.run_with(&args, &conversation()));
    let unknown = [&args[..], &["--tools", "cars"]].concat();
    let ended = place.run_with(&unknown, "");
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("choose from agent"),
        "{}",
        ended.stderr
    );
}

#[test]
fn without_a_server_one_is_started_for_the_client() {
    let place = Place::new();
    check(&place.run_with(&["mcp"], &conversation()));
    assert!(!place.data_dir().join("server.json").exists());
}

#[tokio::test]
async fn a_named_server_needs_a_token() {
    let server = serve(&[]);
    let place = Place::new();
    let url = server.url();
    let args = ["mcp", "--server", url.as_str()];
    let ended = place.run_with(&args, &conversation());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ended.stderr
    );
    let place = place.with("DESKHAND_TOKEN", &server.token());
    check(&place.run_with(&args, &conversation()));
    let place = Place::new().with("DESKHAND_TOKEN", "nonsense");
    let ended = place.run_with(&args, &conversation());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ended.stderr
    );
}
