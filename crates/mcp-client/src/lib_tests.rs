use std::io;

use bytes::Bytes;
use deskhand_core::{
    sandbox::ByteStream,
    tool_server::{RemoteCall, ToolServerError},
};
use futures::{SinkExt, StreamExt, channel::mpsc};
use serde_json::{Value, json};

use super::*;

/// The other end of a program's standard streams.
struct Program {
    from_client: mpsc::UnboundedReceiver<Bytes>,
    to_client: mpsc::UnboundedSender<Bytes>,
    unread: Vec<u8>,
}

impl Program {
    fn new() -> (Self, ByteStream) {
        let (to_client, incoming) = mpsc::unbounded();
        let (outgoing, from_client) = mpsc::unbounded();
        let stream = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
        };
        let program = Self {
            from_client,
            to_client,
            unread: Vec::new(),
        };
        (program, stream)
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            self.unread
                .extend_from_slice(&self.from_client.next().await?);
        }
    }

    fn say(&self, message: &Value) {
        let line = format!("{message}\n").into();
        self.to_client.unbounded_send(line).unwrap();
    }

    /// Answers requests with what `answer` returns for their method and parameters, until nobody asks.
    async fn serve(mut self, answer: impl Fn(&str, &Value) -> Value) {
        while let Some(message) = self.next().await {
            let Some(id) = message.get("id") else {
                continue;
            };
            let method = message["method"].as_str().unwrap();
            let result = match method {
                "initialize" => json!({
                    "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "test", "version": "1"},
                }),
                method => answer(method, &message["params"]),
            };
            self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }
}

fn clients() -> McpClients {
    McpClients::trusting(RootCertStore::empty(), Tasks::default())
}

fn call(tool: &str) -> RemoteCall {
    RemoteCall {
        tool: tool.to_owned(),
        input: serde_json::Map::new(),
        progress: None,
    }
}

#[tokio::test]
async fn a_program_lists_its_tools_and_is_called() {
    let (program, stream) = Program::new();
    let answer = |method: &str, params: &Value| match method {
        "tools/list" if params["cursor"].is_null() => {
            json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": "2"})
        }
        "tools/list" => json!({"tools": [{"name": "b", "inputSchema": {"type": "object"}}]}),
        _ => json!({"content": [
            {"type": "text", "text": params["name"]},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
            {"type": "resource_link", "uri": "file:///y", "name": "y"},
            {"type": "audio", "data": "", "mimeType": "audio/wav"},
        ]}),
    };
    let using = async {
        let server = clients().connect(ServerWay::Program(stream)).await.unwrap();
        let tools = server.tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let answered = server.call(call("b")).await.unwrap();
        assert_eq!(
            answered.text,
            "b\n[file:///x]\ninside\n[A link to file:///y.]\n[Sound: audio/wav.]"
        );
        assert!(!server.is_closed());
    };
    tokio::join!(program.serve(answer), using);
}

#[tokio::test]
async fn a_list_without_an_end_is_cut() {
    let (program, stream) = Program::new();
    let answer = |_: &str, _: &Value| {
        let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
        json!({"tools": vec![tool; 100], "nextCursor": "again"})
    };
    let using = async {
        let server = clients().connect(ServerWay::Program(stream)).await.unwrap();
        assert_eq!(server.tools().await.unwrap().len(), 512);
    };
    tokio::join!(program.serve(answer), using);
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let (mut program, stream) = Program::new();
    let serving = async {
        let hello = program.next().await.unwrap();
        program.say(&json!({"jsonrpc": "2.0", "id": hello["id"], "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }}));
        program.next().await.unwrap();
        let called = program.next().await.unwrap();
        assert_eq!(called["method"], "tools/call");
        let cancelled = program.next().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], called["id"]);
    };
    let using = async {
        let server = clients().connect(ServerWay::Program(stream)).await.unwrap();
        {
            let mut calling = server.call(call("slow"));
            for _ in 0..100 {
                assert!(futures::poll!(&mut calling).is_pending());
                tokio::task::yield_now().await;
            }
        }
        server
    };
    let ((), _server) = tokio::join!(serving, using);
}

#[tokio::test]
async fn a_program_that_ends_is_gone() {
    let (program, stream) = Program::new();
    drop(program);
    let connected = clients().connect(ServerWay::Program(stream)).await;
    let error = connected.map(drop).unwrap_err();
    assert!(
        matches!(error, ToolServerError::Gone | ToolServerError::Protocol(_)),
        "{error:?}"
    );
}
