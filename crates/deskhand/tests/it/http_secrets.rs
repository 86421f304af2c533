//! A secret for an HTTP API in a real desktop: programs use it through its stand-in, and its value is found nowhere.

mod host;

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    event::{EventBody, HostContacted, Outcome},
    network::policy::BlockReason,
};
use deskhand_testkit::{Server, ServerOptions, Session, not_run};
use serde_json::{Value, json};

use self::host::{Host, NAME};
use crate::world::serve_with;

const CANARY: &str = "canary-9b02-Zq7-of-a-token";
const SEARCH: &str = include_str!("http_secrets/search.py");
const BROWSER: &str = "/usr/lib/chromium/chromium";

/// The commands of the agent, with a part of the expected output.
fn commands(port: u16) -> Vec<(String, &'static str)> {
    let at = format!("https://{NAME}:{port}");
    let plain = STANDARD.encode(CANARY);
    let basic = STANDARD.encode(STANDARD.encode(format!("agent:{CANARY}")));
    let mut commands = vec![
        (
            format!("curl -sS -m 60 -H \"Authorization: Bearer $API_TOKEN\" {at}/user"),
            "known by Bearer dhs-api-",
        ),
        (
            format!(
                "git clone -q {} /tmp/cloned && cat /tmp/cloned/file",
                format!("{at}/repository.git").replace("https://", "https://agent:$API_TOKEN@")
            ),
            "in the repository",
        ),
        (
            format!(
                "/usr/bin/python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request(\"{at}/user\", headers=\
                 {{\"Authorization\": \"Bearer \" + os.environ[\"API_TOKEN\"]}})).read())'"
            ),
            "known by Bearer dhs-api-",
        ),
        (
            format!("curl -sS -m 60 -w '%{{http_code}}' --data \"token=$API_TOKEN\" {at}/user"),
            "in a place that the secret is not for",
        ),
        (
            format!(
                "cat > /tmp/search.py <<'END'\n{SEARCH}\nEND\n/usr/bin/python3 /tmp/search.py {plain} {basic}"
            ),
            "searched enough and found []",
        ),
    ];
    if Path::new(BROWSER).exists() {
        let command = format!(
            "{BROWSER} --headless=new --disable-gpu --user-data-dir=/tmp/profile --dump-dom {at}/page.html 2>/dev/null"
        );
        commands.insert(3, (command, "a page over TLS"));
    } else {
        not_run("Chromium is not installed");
    }
    commands
}

fn scenario(commands: &[(String, &str)]) -> String {
    let step = |(command, _): &(String, &str)| json!({"calls": [{"bash": {"command": command}}]});
    let mut steps: Vec<_> = commands.iter().map(step).collect();
    steps.push(json!({"calls": [{"api__hello": {}}]}));
    steps.push(json!({"text": "Done."}));
    // What is JSON is YAML as well.
    json!({"chunk_delay_ms": 0, "steps": steps}).to_string()
}

/// Starts a server that finds the host and trusts its authority.
fn start(host: &Host, scenario: String) -> Server {
    let authority = host.folder.path().join("ca.pem").display().to_string();
    let variables = [
        ("SSL_CERT_FILE", authority.as_str()),
        ("DESKHAND_NETWORK_ALLOW", "127.0.0.0/8"),
        ("DESKHAND_LOG_LEVEL", "trace"),
    ];
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    serve_with(ServerOptions {
        scenarios: vec![("calls".to_owned(), scenario)],
        variables: variables.map(owned).into(),
        hosts: vec![(NAME.to_owned(), "127.0.0.1".to_owned())],
        ..ServerOptions::default()
    })
}

/// Says yes to every question until the turn ends. Returns the questions and the texts of the results.
async fn agree(session: &Session) -> (Vec<String>, Vec<String>) {
    let mut stream = session.follow(0).await;
    let (mut questions, mut results) = (Vec::new(), Vec::new());
    loop {
        let body = stream.next_event().await.body;
        if let EventBody::Complete(complete) = body {
            assert_eq!(complete.outcome, Outcome::Done);
            return (questions, results);
        } else if let EventBody::Decision(asked) = body {
            let path = session.path(&format!("/decisions/{}/answer", asked.decision));
            let yes = json!({"yes": true});
            session.client.post(&path, yes).await.good();
            questions.push(asked.ask.prompt);
        } else if let EventBody::ToolResult(result) = body {
            results.extend((!result.partial).then_some(result.text));
        } else if let EventBody::Error(failure) = body {
            panic!("{failure:?}");
        }
    }
}

fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_with(&path, text));
            continue;
        }
        let content = std::fs::read(&path).unwrap_or_default();
        if content
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_use_a_secret_through_its_stand_in_and_its_value_is_found_nowhere() {
    let host = Host::start(CANARY).await;
    let port = host.address.port();
    let commands = commands(port);
    let server = start(&host, scenario(&commands));
    let client = server.client();
    let secret = json!({
        "value": CANARY,
        "origins": [format!("https://{NAME}:{port}")],
        "http": {"headers": ["authorization"], "env": "API_TOKEN"},
    });
    client.put("/api/secrets/api", secret).await.good();
    let rule = json!({"tool": "http_secret", "then": "ask"});
    let new = json!({
        "model": "scripted/calls",
        "approvals": {"mode": "never", "rules": [rule]},
        "network": {"mode": "open"},
        "mcp_servers": [{"name": "api", "transport": {
            "type": "http", "url": format!("https://{NAME}:{port}/mcp"),
            "headers": {"Authorization": "Bearer ${secret:api}"},
        }}],
    });
    let made = client.post("/api/sessions", new).await.good();
    let session = client.session(made["id"].as_str().unwrap());
    session.prompt("Call the API.").await;
    let (questions, results) = agree(&session).await;
    let asked = format!(
        "A program wants to use the secret api in requests to https://{NAME}:{port}. A yes holds until the desktop stops."
    );
    assert_eq!(questions, [asked]);
    for ((command, expected), result) in commands.iter().zip(&results) {
        assert!(result.contains(expected), "{command}: {result}");
    }
    // The server of Deskhand used it for an MCP server at the same host.
    let last = results.last().unwrap();
    assert!(last.contains("hello over TLS"), "{last}");
    let is_reported = |body: &EventBody| {
        let reason = Some(BlockReason::StandIn);
        matches!(body, EventBody::Network(HostContacted { host, blocked, .. }) if host == NAME && *blocked == reason)
    };
    session.wait_for(0, is_reported).await;

    let basic = STANDARD.encode(format!("agent:{CANARY}"));
    for text in [CANARY, &basic] {
        for path in [
            session.path("/events?limit=5000"),
            session.path("/messages"),
            "/metrics".to_owned(),
        ] {
            let answer = client.get(&path).await;
            assert_eq!(answer.status, 200, "{path}");
            assert!(
                !String::from_utf8_lossy(&answer.body).contains(text),
                "{path}"
            );
        }
        assert!(!server.log().contains(text));
        assert_eq!(files_with(&server.data_dir(), text), Vec::<String>::new());
    }
    let listed: Value = client.get("/api/secrets").await.good();
    assert_eq!(listed["secrets"][0]["last_used_in"], json!(session.id));
}
