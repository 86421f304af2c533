//! A host of the test that speaks TLS and wants a token: it shows the credentials it got, has a git repository, and is an
//! MCP server.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::tasks::Tasks;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};

use crate::tls::HostTls;

pub(super) const NAME: &str = "api.test";

/// The host, until it is dropped.
pub(super) struct Host {
    pub(super) address: SocketAddr,
    /// Has the certificate of its authority, `ca.pem`.
    pub(super) folder: tempfile::TempDir,
    tasks: Tasks,
}

impl Host {
    /// Starts a host that knows this token.
    pub(super) async fn start(token: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tls = HostTls::of(NAME);
        fs::write(folder.path().join("ca.pem"), &tls.authority).unwrap();
        make_repository(folder.path());
        let acceptor = tls.acceptor;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = Tasks::default();
        let (all, root) = (tasks.clone(), folder.path().to_owned());
        tasks.spawn("host", async move {
            let end = all.shutdown().clone();
            while let Some(Ok((stream, _))) = end.run_until_cancelled(listener.accept()).await {
                let (acceptor, root, end) = (acceptor.clone(), root.clone(), end.clone());
                all.spawn("host connection", async move {
                    let serving = async {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            serve(stream, &root, token).await;
                        }
                    };
                    end.run_until_cancelled(serving).await;
                });
            }
        });
        Self {
            address,
            folder,
            tasks,
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

/// Answers requests until the connection ends.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, root: &Path, token: &str) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else {
                return;
            };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap();
        let path = path.split('?').next().unwrap();
        let header = |wanted: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value).unwrap_or_default()
        };
        let mut sent = vec![0; header("content-length").parse().unwrap_or(0)];
        if stream.read_exact(&mut sent).await.is_err() {
            return;
        }
        let credentials = header("authorization");
        let (status, body) = if path == "/mcp" && credentials == format!("Bearer {token}") {
            rpc(&sent)
        } else {
            answer(path, credentials, root, token)
        };
        let kind = if path == "/mcp" {
            "application/json"
        } else {
            "text/html"
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nWWW-Authenticate: Basic realm=\"test\"\r\n\
             Content-Type: {kind}\r\n\r\n",
            body.len()
        );
        let answer = [head.as_bytes(), &body].concat();
        if stream.write_all(&answer).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

/// Answers a message of an MCP client.
fn rpc(message: &[u8]) -> (&'static str, Vec<u8>) {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "api", "version": "1"},
        }),
        Some("tools/list") => {
            json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]})
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "hello over TLS"}]}),
        _ => return ("202 Accepted", Vec::new()),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    ("200 OK", answer.to_string().into_bytes())
}

fn answer(path: &str, credentials: &str, root: &Path, token: &str) -> (&'static str, Vec<u8>) {
    if path == "/page.html" {
        return ("200 OK", b"<p>a page over TLS</p>".to_vec());
    }
    let basic = STANDARD.encode(format!("agent:{token}"));
    let is_known =
        credentials == format!("Bearer {token}") || credentials == format!("Basic {basic}");
    if !is_known {
        return ("401 Unauthorized", b"who are you?\n".to_vec());
    }
    if path == "/user" {
        return ("200 OK", format!("known by {credentials}\n").into_bytes());
    }
    match fs::read(root.join(path.trim_start_matches('/'))) {
        Ok(content) => ("200 OK", content),
        Err(_) => ("404 Not Found", Vec::new()),
    }
}

#[expect(clippy::disallowed_methods, reason = "the test prepares a repository")]
fn make_repository(folder: &Path) {
    let script = "git init -q work && cd work && echo 'in the repository' > file && git add file \
                  && git -c user.name=a -c user.email=a@b commit -q -m one && cd .. \
                  && git clone -q --bare work repository.git && cd repository.git && git update-server-info";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .env("HOME", folder)
        .status();
    assert!(made.unwrap().success());
}
