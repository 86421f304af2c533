//! A client of an MCP server over standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A running server.
pub(super) struct McpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

/// The result of a tool.
pub(super) struct McpResult {
    /// The texts of the result, one after the other.
    pub(super) text: String,
    pub(super) facts: Value,
    /// The size of the message.
    pub(super) n_bytes: usize,
}

impl McpClient {
    /// Starts a server and does the handshake.
    pub(super) fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let mut client = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            last_id: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        client.request("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Calls a tool, which must not fail.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> McpResult {
        let params = json!({"name": tool, "arguments": arguments});
        let (result, n_bytes) = self.exchange("tools/call", &params);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let content = result["content"].as_array().expect("a result");
        let texts = content.iter().filter_map(|block| block["text"].as_str());
        McpResult {
            text: texts.collect::<Vec<_>>().join("\n"),
            facts: result["structuredContent"].clone(),
            n_bytes,
        }
    }

    /// Sends a request and returns its result.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.exchange(method, params).0
    }

    fn exchange(&mut self, method: &str, params: &Value) -> (Value, usize) {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            let n_bytes = self.output.read_line(&mut line).expect("an answer");
            assert!(
                n_bytes > 0,
                "the server has ended before it answered {method}"
            );
            let mut message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return (message["result"].take(), n_bytes);
            }
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
        self.input.flush().expect("the server reads");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
