//! MCP servers in practice: a program in a real sandbox, and a host on loopback that the settings name.

use deskhand_core::event::EventBody;
use deskhand_testkit::ServerOptions;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::world::serve_with;

const PROGRAM: &str = include_str!("tool_servers/server.py");

/// Calls a tool of each server, then kills the program and calls it again.
fn scenario() -> String {
    let bash = |command: &str| json!({"calls": [{"bash": {"command": command}}]});
    json!({"chunk_delay_ms": 0, "steps": [
        {"calls": [{"inside__whoami": {}}]},
        {"calls": [{"outside__double": {"n": 21}}]},
        bash("pkill -f mcp-server.py; echo killed"),
        // This call may be the one that finds out.
        {"calls": [{"inside__whoami": {}}]},
        {"calls": [{"inside__whoami": {}}]},
        {"text": "Done."},
    ]})
    .to_string()
}

/// Answers one request of an MCP client.
async fn answer(mut stream: TcpStream) -> Option<()> {
    let mut seen = String::new();
    let body = loop {
        let mut piece = [0; 4096];
        let n_read = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|n_read| *n_read > 0)?;
        seen.push_str(&String::from_utf8_lossy(&piece[..n_read]));
        let parsed = seen
            .split_once("\r\n\r\n")
            .map(|(_, body)| serde_json::from_str(body));
        if let Some(Ok(body)) = parsed {
            break Value::clone(&body);
        }
    };
    let result = match body["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "outside", "version": "1"},
        }),
        "tools/list" => {
            json!({"tools": [{"name": "double", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => {
            let doubled = body["params"]["arguments"]["n"].as_i64()? * 2;
            json!({"content": [{"type": "text", "text": format!("twice is {doubled}")}]})
        }
        _ => Value::Null,
    };
    let (status, body) = if result.is_null() {
        ("202 Accepted", String::new())
    } else {
        let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        ("200 OK", answer.to_string())
    };
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).await.ok()
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the server of the test ends with it"
)]
async fn an_agent_uses_a_program_in_its_sandbox_and_a_host_of_the_settings() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.toml");
    let settings = format!("[mcp_servers.outside]\nurl = \"http://localhost:{port}/mcp\"\n");
    std::fs::write(&file, settings).unwrap();
    let server = serve_with(ServerOptions {
        scenarios: vec![("tools".to_owned(), scenario())],
        variables: vec![("DESKHAND_CONFIG".to_owned(), file.display().to_string())],
        ..ServerOptions::default()
    });
    let client = server.client();
    // The program is part of its own command line, so nothing has to be installed.
    let start = format!("cat > mcp-server.py <<'END'\n{PROGRAM}\nEND\nexec python3 mcp-server.py");
    let inside = json!({
        "name": "inside",
        "transport": {"type": "stdio", "command": "sh", "args": ["-c", start], "env": {"WHO": "the program"}},
    });
    let made = client
        .post(
            "/api/sessions",
            json!({
                "model": "scripted/tools", "network": {"mode": "open"}, "mcp_servers": [inside],
                "approvals": {"mode": "never"},
            }),
        )
        .await
        .good();
    let session = client.session(made["id"].as_str().unwrap());
    session.prompt("go").await;
    let mut stream = session.follow(0).await;
    let mut results = Vec::new();
    loop {
        let body = stream.next_event().await.body;
        if let EventBody::ToolResult(result) = body {
            results.extend((!result.partial).then_some(result.text));
        } else if let EventBody::Complete(_) = body {
            break;
        } else if let EventBody::Error(failure) = body {
            panic!("{failure:?}");
        }
    }
    let [first, outside, _, _, again] = &results[..] else {
        panic!("{results:?}");
    };
    assert!(first.contains("the program in /home/"), "{first}");
    assert!(outside.contains("twice is 42"), "{outside}");
    // The killed program was started again, in the same sandbox.
    assert!(again.contains("the program in /home/"), "{again}");
    session.terminate().await;
}
