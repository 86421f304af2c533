//! A small MCP client over streamable HTTP, so that tests see every byte.

use std::sync::atomic::{AtomicU64, Ordering};

use deskhand_testkit::Client;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

/// The revision with a handshake and sessions.
const WITH_SESSIONS: &str = "2025-11-25";
/// The revision without them.
pub(super) const STATELESS: &str = "2026-07-28";

/// A client in a session of its own.
#[derive(Debug)]
pub(super) struct Mcp {
    http: reqwest::Client,
    url: String,
    token: String,
    pub(super) session: String,
    next_id: AtomicU64,
}

impl Mcp {
    /// Does the handshake for the user of a client.
    pub(super) async fn connect(client: &Client, url: &str) -> Self {
        Self::connect_with(client, url, json!({})).await
    }

    /// Does the handshake for a client that can do more.
    pub(super) async fn connect_with(client: &Client, url: &str, capabilities: Value) -> Self {
        let mut mcp = Self {
            http: reqwest::Client::new(),
            url: url.to_owned(),
            token: client.token().to_owned(),
            session: String::new(),
            next_id: AtomicU64::new(1),
        };
        let hello = json!({
            "protocolVersion": WITH_SESSIONS,
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let response = mcp.post(&message).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let session = response.headers()["mcp-session-id"].to_str().unwrap();
        mcp.session = session.to_owned();
        let answer = messages(response).await.pop().unwrap();
        assert_eq!(answer["result"]["protocolVersion"], WITH_SESSIONS);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(mcp.post(&ready).send().await.unwrap().status(), 202);
        mcp
    }

    /// Uses the session of another client.
    pub(super) fn with_session_of(mut self, other: &Self) -> Self {
        other.session.clone_into(&mut self.session);
        self
    }

    /// Sends a request and returns everything that the server says about it. The answer is last.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Vec<Value> {
        let response = self.send(method, params).await;
        assert_eq!(response.status(), 200, "{method}");
        messages(response).await
    }

    /// Sends a request and returns the result, which must be good.
    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await.pop().unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool and returns its result.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.result("tools/call", params).await
    }

    /// Calls a tool and returns its facts.
    pub(super) async fn facts(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must refuse, and returns its code.
    pub(super) async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let code = &result["_meta"]["deskhand/error"]["code"];
        code.as_str().unwrap().to_owned()
    }

    /// Sends a request and returns the response before its body has come.
    pub(super) async fn send(&self, method: &str, params: Value) -> Response {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(&message).send().await.unwrap()
    }

    /// Answers a request of the server.
    pub(super) async fn answer(&self, id: &Value, result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
        assert_eq!(self.post(&message).send().await.unwrap().status(), 202);
    }

    /// Calls a tool and returns the text of its result, which must be good.
    pub(super) async fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that must fail, and returns the text of its result.
    pub(super) async fn failure(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert_eq!(self.post(&message).send().await.unwrap().status(), 202);
    }

    /// Opens the stream for messages that belong to no request.
    pub(super) async fn listen(&self) -> Response {
        let request = self.http.get(&self.url).bearer_auth(&self.token);
        let request = request.header("Accept", "text/event-stream");
        request
            .header("Mcp-Session-Id", &self.session)
            .send()
            .await
            .unwrap()
    }

    fn post(&self, message: &Value) -> RequestBuilder {
        let mut request = self
            .http
            .post(&self.url)
            .bearer_auth(&self.token)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(message.to_string());
        if !self.session.is_empty() {
            request = request
                .header("Mcp-Session-Id", &self.session)
                .header("MCP-Protocol-Version", WITH_SESSIONS);
        }
        request
    }
}

/// Calls a tool without a session, as clients of the newest revision do.
pub(super) async fn call_stateless(client: &Client, url: &str, tool: &str, input: Value) -> Value {
    let params = json!({"name": tool, "arguments": input});
    call_stateless_with(client, url, params, json!({})).await
}

/// Calls a tool without a session, as a client that can do more.
pub(super) async fn call_stateless_with(
    client: &Client,
    url: &str,
    mut params: Value,
    capabilities: Value,
) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let tool = params["name"].as_str().unwrap().to_owned();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = reqwest::Client::new()
        .post(url)
        .bearer_auth(client.token())
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", STATELESS)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", tool)
        .body(message.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    messages(response).await.pop().unwrap()
}

/// Reads messages of a response that goes on, up to one of the server's own requests.
pub(super) async fn until_asked(response: &mut Response) -> Value {
    until(response, |message| {
        message.get("method").is_some() && message.get("id").is_some()
    })
    .await
}

/// Reads messages of a response that goes on, up to the one that is looked for.
pub(super) async fn until(response: &mut Response, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let mut body = Vec::new();
    loop {
        let Some(piece) = response.chunk().await.unwrap() else {
            panic!("the response has ended");
        };
        body.extend_from_slice(&piece);
        let text = String::from_utf8_lossy(&body);
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let wanted = data
            .filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok())
            .find(&is_wanted);
        if let Some(wanted) = wanted {
            return wanted;
        }
    }
}

/// Reads all messages of a response, be it one as JSON or a stream of them.
pub(super) async fn messages(response: Response) -> Vec<Value> {
    let body = response.text().await.unwrap();
    if let Ok(message) = serde_json::from_str(&body) {
        return vec![message];
    }
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect()
}
