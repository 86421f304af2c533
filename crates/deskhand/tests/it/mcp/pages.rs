//! A real browser that a client drives: a form, and pages that do not open.

use deskhand_core::browser::page_elements;
use deskhand_testkit::{Server, eventually, processes_with_mount};
use serde_json::{Value, json};

use crate::world::serve;

const REVISION: &str = "2026-07-28";

/// Reports what it was shown.
const REPORTS: &str = r#"
steps:
  - text: "I have begun."
"#;

/// A page with a form, whose button writes what was typed.
const FORM: &str = "<!doctype html><title>A form</title><label>Tea <input id=i></label> \
    <button onclick='o.textContent = `Ordered ${i.value}`'>Order</button><p id=o></p>";

/// Serves the page over http, the same with a certificate that nobody knows, and a port that never answers.
const HOSTS: &str = r#"
cd ~/site
printf '[req]\ndistinguished_name=dn\n[dn]\n' > openssl.cnf
openssl req -x509 -config openssl.cnf -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -subj /CN=localhost -keyout key.pem -out cert.pem > hosts.log 2>&1
cat > hosts.py <<'END'
import http.server, socket, ssl, threading
plain = http.server.ThreadingHTTPServer(("127.0.0.1", 8101), http.server.SimpleHTTPRequestHandler)
secure = http.server.ThreadingHTTPServer(("127.0.0.1", 8102), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
secure.socket = context.wrap_socket(secure.socket, server_side=True)
silent = socket.create_server(("127.0.0.1", 8103))
threading.Thread(target=plain.serve_forever).start()
threading.Thread(target=secure.serve_forever).start()
open("ready", "w").close()
END
python3 hosts.py >> hosts.log 2>&1 &
for _ in $(seq 300); do [ -e ready ] && break; sleep 0.1; done
[ -e ready ] || { cat hosts.log; false; }
"#;

/// Calls a tool and returns its result.
async fn call(server: &Server, tool: &str, arguments: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let url = format!("{}/mcp?tools=agent,browser,shell,file", server.url());
    let response = reqwest::Client::new()
        .post(url)
        .bearer_auth(server.token())
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", REVISION)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", tool)
        .body(message.to_string());
    let body = response.send().await.unwrap().text().await.unwrap();
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut answers = events.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    let answer = serde_json::from_str(&body).ok();
    let answer: Value = answer.or_else(|| answers.next_back()).unwrap();
    answer["result"].clone()
}

fn text(result: &Value) -> String {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn a_client_fills_in_a_form_and_is_told_what_does_not_open() {
    let server = serve(&[("reports", REPORTS)]);
    let opened = call(&server, "computer_open", json!({"title": "By hand"})).await;
    let id = opened["structuredContent"]["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let on = |tool: &'static str, mut input: Value| {
        input["sessionId"] = json!(id);
        call(&server, tool, input)
    };
    let page = json!({"path": "~/site/index.html", "content": FORM});
    on("file_write", page).await;
    let hosts = on("shell_run", json!({ "command": HOSTS })).await;
    assert_eq!(hosts["isError"], false, "{hosts}");

    let url = json!({"url": "http://127.0.0.1:8101/", "snapshot": true});
    let read = text(&on("browser_navigate", url).await);
    let elements = page_elements(&read);
    let element = |role: &str| {
        let found = elements
            .iter()
            .find(|one| read[one.place.clone()].contains(role));
        found.unwrap().reference.to_string()
    };
    let (field, button) = (element("textbox"), element("button"));
    on(
        "browser_fill_form",
        json!({"fields": [{"ref": field, "value": "green tea"}]}),
    )
    .await;
    let order = json!({"ref": button, "snapshot": true});
    let ordered = text(&on("browser_click", order).await);
    assert!(ordered.contains("Ordered green tea"), "{ordered}");
    let shown = on("browser_take_screenshot", json!({})).await;
    assert_eq!(shown["content"][1]["mimeType"], "image/jpeg");

    // Nothing listens at the page of an agent. Its computer starts while other pages are refused, each by its reason.
    let nowhere = json!({
        "startUrl": "http://127.0.0.1:8104/",
        "instructions": "Report.",
        "model": "scripted/reports",
    });
    let started = call(&server, "agent_start", nowhere).await;
    let agent = started["structuredContent"]["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    for (url, reason) in [
        ("https://127.0.0.1:8102/", "ERR_CERT"),
        ("http://127.0.0.1:8104/", "ERR_CONNECTION_REFUSED"),
        ("http://nothing.invalid/", "net::ERR_"),
        ("file:///etc/passwd", "http and https only"),
        ("javascript:alert(1)", "http and https only"),
    ] {
        let refused = on("browser_navigate", json!({ "url": url })).await;
        assert_eq!(refused["isError"], true, "{url}");
        assert!(text(&refused).contains(reason), "{url}: {refused}");
    }
    let never = on("browser_navigate", json!({"url": "http://127.0.0.1:8103/"})).await;
    assert!(text(&never).contains("did not answer"), "{never}");
    let wait = json!({"sessionId": agent, "waitSeconds": 60});
    let status = call(&server, "agent_status", wait).await;
    assert_eq!(
        status["structuredContent"]["answer"], "I have begun.",
        "{status}"
    );
    let log = call(&server, "agent_log", json!({"sessionId": agent})).await;
    let log = log["structuredContent"].to_string();
    assert!(
        log.contains("Could not open http://127.0.0.1:8104/"),
        "{log}"
    );

    for session in [&id, &agent] {
        let ended = call(&server, "agent_end", json!({"sessionId": session})).await;
        assert_eq!(ended["structuredContent"]["ended"], true, "{ended}");
    }
    let folder = server.data_dir().join("sandboxes");
    eventually("nothing is left", || {
        let has_folder = [&id, &agent].iter().any(|id| folder.join(id).exists());
        !has_folder && processes_with_mount(&server.mark()).is_empty()
    });
}
