//! Programs in a sandbox ask models, and the keys stay outside.

mod vendor;

use std::path::Path;

use deskhand_core::event::{EventBody, GatewayUse};
use deskhand_testkit::{Client, Server, ServerOptions, Session, processes_with_mount};
use serde_json::{Value, json};

use self::vendor::{SLOW, TELLTALE, Vendor};
use crate::world::serve_with;

/// What keys begin with here. It looks like nothing that is taken out of text by its shape.
const CANARY: &str = "canary-4711";

/// A turn in which a program asks a model that takes its time.
const ASKS: &str = r#"
steps:
  - text: "I let a program ask."
    calls:
      - bash: {command: "curl -sN $ANTHROPIC_BASE_URL/v1/messages -H \"x-api-key: $ANTHROPIC_API_KEY\" -d '{\"model\": \"claude-opus-5-5\", \"stream\": true}'"}
  - text: "It said: {{ result.1 }}"
"#;

fn serve(vendor: &Vendor, more: &[(&str, &str)]) -> Server {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut variables = vendor.settings(CANARY);
    variables.extend(more.iter().map(owned));
    serve_with(ServerOptions {
        variables,
        scenarios: vec![("asks".to_owned(), ASKS.to_owned())],
        ..ServerOptions::default()
    })
}

/// A session whose computer a person has, so that its programs may ask.
async fn session_in_hand(server: &Server) -> Session {
    let session = server.client().new_session("scripted/demo").await;
    session.take_control(600).await.good();
    session
}

/// A session whose agent lets a program ask, and asks nobody before.
async fn asking_session(client: &Client) -> Session {
    let session = json!({"model": "scripted/asks", "approvals": {"mode": "never"}});
    let session = client.post("/api/sessions", session).await.good();
    client.session(session["id"].as_str().unwrap())
}

/// Asks with `curl` in the sandbox; answers the status and the body.
async fn curl(session: &Session, arguments: &str) -> (String, String) {
    let told = session
        .shell(&format!("curl -s -m 20 -w '\\n%{{http_code}}' {arguments}"))
        .await;
    let (body, status) = told.trim_end().rsplit_once('\n').unwrap_or(("", &told));
    (status.to_owned(), body.to_owned())
}

/// What the log says about programs.
async fn used(session: &Session) -> Vec<GatewayUse> {
    let events = session.events(0).await;
    let data = events
        .into_iter()
        .filter(|event| event["type"] == "gateway")
        .map(|mut event| event["data"].take());
    data.map(|data| serde_json::from_value(data).unwrap())
        .collect()
}

#[tokio::test]
async fn programs_ask_every_vendor_without_its_key() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let session = session_in_hand(&server).await;

    let anthropic = r#"$ANTHROPIC_BASE_URL/v1/messages -H "x-api-key: $ANTHROPIC_API_KEY" -H 'anthropic-beta: b1' -H 'cookie: c' -d '{"model": "claude-opus-5-5"}'"#;
    let openai = r#"$OPENAI_BASE_URL/responses -H "authorization: Bearer $OPENAI_API_KEY" -d '{"model": "gpt-6-sol"}'"#;
    let chat = r#"$OPENAI_BASE_URL/chat/completions -H "authorization: Bearer $OPENAI_API_KEY" -d '{"model": "ollama/some/model"}'"#;
    let gemini = r#""$GOOGLE_GEMINI_BASE_URL/v1beta/models/gemini-3.6-flash:generateContent?key=$GEMINI_API_KEY" -d '{}'"#;
    for (arguments, said) in [
        (anthropic, "from anthropic"),
        (openai, "from openai"),
        (chat, "from chat"),
        (gemini, "from gemini"),
    ] {
        let (status, body) = curl(&session, arguments).await;
        assert_eq!(status, "200", "{body}");
        assert!(body.contains(said), "{body}");
    }

    let seen = vendor.seen();
    let key = |n: usize, header: &str| seen[n].headers.get(header).cloned();
    let expected = |vendor: &str| Some(format!("{CANARY}-{vendor}"));
    assert_eq!(key(0, "x-api-key"), expected("anthropic"));
    assert_eq!(key(0, "anthropic-beta").as_deref(), Some("b1"));
    assert_eq!(
        key(1, "authorization"),
        Some(format!("Bearer {CANARY}-openai"))
    );
    assert_eq!(
        key(2, "authorization"),
        Some(format!("Bearer {CANARY}-ollama"))
    );
    assert_eq!(seen[2].body["model"], "some/model");
    assert_eq!(key(3, "x-goog-api-key"), expected("gemini"));
    assert_eq!(
        seen[3].path,
        "/v1beta/models/gemini-3.6-flash:generateContent"
    );
    assert!(!format!("{seen:?}").contains("dhg_"), "{seen:?}");
    assert_eq!(key(0, "cookie"), None);

    let used = used(&session).await;
    let counted: Vec<_> = used
        .iter()
        .map(|used| (used.model.as_str(), used.usage.tokens(), used.unpriced))
        .collect();
    assert_eq!(
        counted,
        [
            ("anthropic/claude-opus-5-5", 1100, false),
            ("openai/gpt-6-sol", 1100, false),
            ("ollama/some/model", 30, true),
            ("gemini/gemini-3.6-flash", 1100, false),
        ]
    );
    // 1000 tokens read at $4 and 100 written at $20 a million.
    assert!((used[0].usd - 0.006).abs() < 1e-9, "{used:?}");
    let shown = session.show().await;
    let spent: f64 = used.iter().map(|used| used.usd).sum();
    assert!(
        (shown["cost_usd"].as_f64().unwrap() - spent).abs() < 1e-9,
        "{shown}"
    );
}

#[tokio::test]
async fn an_answer_comes_as_it_is_said() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let session = session_in_hand(&server).await;
    let ask = format!(
        r#"(curl -sN $ANTHROPIC_BASE_URL/v1/messages -H "x-api-key: $ANTHROPIC_API_KEY" -d '{{"model": "{SLOW}", "stream": true}}' > ~/said; echo over >> ~/said) & until grep -q message_start ~/said; do sleep 0.05; done; cat ~/said"#
    );
    let begun = session.shell(&ask).await;
    assert!(!begun.contains("the end"), "{begun}");
    vendor.go_on();
    let ended = session
        .shell("until grep -q over ~/said; do sleep 0.05; done; cat ~/said")
        .await;
    assert!(ended.contains("the end"), "{ended}");
    let used = used(&session).await;
    assert_eq!(used.len(), 1);
    assert_eq!((used[0].usage.input, used[0].usage.output), (1000, 100));
    assert!(!used[0].unfinished);
}

#[tokio::test]
async fn a_program_that_hangs_up_is_counted_all_the_same() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let session = session_in_hand(&server).await;
    let ask = format!(
        r#"curl -sN $ANTHROPIC_BASE_URL/v1/messages -H "x-api-key: $ANTHROPIC_API_KEY" -d '{{"model": "{SLOW}", "stream": true}}' > ~/said & until grep -q message_start ~/said; do sleep 0.05; done; kill $!; wait $!; echo code $?"#
    );
    let told = session.shell(&ask).await;
    assert!(told.contains("code 143"), "it was ended: {told}");
    vendor.go_on();
    let is_use = |body: &EventBody| matches!(body, EventBody::Gateway(_));
    session.wait_for(0, is_use).await;
    let used = used(&session).await;
    assert_eq!((used[0].usage.output, used[0].unfinished), (100, false));
}

#[tokio::test]
async fn nobody_gets_in_by_another_way() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let session = session_in_hand(&server).await;
    let other = session_in_hand(&server).await;
    let token = session
        .shell("echo $ANTHROPIC_API_KEY")
        .await
        .trim()
        .to_owned();
    let others = other
        .shell("echo $ANTHROPIC_API_KEY")
        .await
        .trim()
        .to_owned();
    assert!(token.starts_with("dhg_") && token.len() > 40, "{token}");
    assert_ne!(token, others);

    let messages = "$ANTHROPIC_BASE_URL/v1/messages -d '{\"model\": \"claude-opus-5-5\"}'";
    let with = |token: &str| format!("{messages} -H 'x-api-key: {token}'");
    let path = |path: &str| format!("$ANTHROPIC_BASE_URL{path} -H 'x-api-key: {token}'");
    let asked = |body: Value| {
        format!("$ANTHROPIC_BASE_URL/v1/messages -H 'x-api-key: {token}' -d '{body}'")
    };
    for (arguments, status, kind) in [
        (messages.to_owned(), "401", "authentication_error"),
        (with("dhg_wrong"), "401", "authentication_error"),
        (with(&others), "401", "authentication_error"),
        (with(&server.token()), "401", "authentication_error"),
        (path("/v1/models"), "404", "error"),
        (path("/api/sessions"), "404", "error"),
        (path("/health"), "404", "error"),
        (path("/v1/messages"), "404", "error"),
        (asked(json!({})), "400", "invalid_request_error"),
        (
            asked(json!({"model": "m", "tools": [{"type": "web_fetch_20250910"}]})),
            "400",
            "no network",
        ),
    ] {
        let (got, body) = curl(&session, &arguments).await;
        assert_eq!(got, status, "{arguments}: {body}");
        assert!(body.contains(kind), "{arguments}: {body}");
    }
    let large = format!(
        "head -c 34000000 /dev/zero > /tmp/large; curl -s -o /dev/null -w '%{{http_code}}' $ANTHROPIC_BASE_URL/v1/messages -H 'x-api-key: {token}' --data-binary @/tmp/large"
    );
    assert_eq!(session.shell(&large).await.trim(), "413");
    assert!(vendor.seen().is_empty(), "{:?}", vendor.seen());

    // It is no token of the API, and nobody spends when nobody is at work.
    let client = server.client().with_token(&token);
    assert_eq!(client.get("/api/sessions").await.status, 401);
    session.hand_back().await.good();
    let (status, body) = curl(&session, &with(&token)).await;
    assert_eq!(status, "403", "{body}");
    assert!(body.contains("this session is idle"), "{body}");

    let (status, _) = curl(&other, &with(&others)).await;
    assert_eq!(status, "200", "the other's own is good");
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_refused_before_the_call() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let client = server.client();
    let session = json!({"model": "scripted/demo", "budget": {"usd": 0.01}});
    let session = client.post("/api/sessions", session).await.good();
    let session = client.session(session["id"].as_str().unwrap());
    session.take_control(600).await.good();
    let ask = |model: &str| {
        format!(
            r#"$ANTHROPIC_BASE_URL/v1/messages -H "x-api-key: $ANTHROPIC_API_KEY" -d '{{"model": "{model}"}}'"#
        )
    };
    // Each costs $0.006.
    for _ in 0..2 {
        let (status, body) = curl(&session, &ask("claude-opus-5-5")).await;
        assert_eq!(status, "200", "{body}");
    }
    let (status, body) = curl(&session, &ask("claude-opus-5-5")).await;
    assert_eq!(status, "402", "{body}");
    assert!(body.contains("billing_error"), "{body}");
    assert_eq!(vendor.seen().len(), 2);
    let today = client.get("/api/me/usage").await.good();
    let used = today["today"]["usd"]["used"].as_f64().unwrap();
    assert!((used - 0.012).abs() < 1e-9, "{today}");

    let more = json!({"budget": {"usd": 1.0}});
    client.patch(&session.path(""), more).await.good();
    let (status, body) = curl(&session, &ask("claude-unknown")).await;
    assert_eq!(status, "400", "{body}");
    assert!(body.contains("the price of"), "{body}");
    let (status, _) = curl(&session, &ask("claude-opus-5-5")).await;
    assert_eq!(status, "200");
}

#[tokio::test]
async fn an_agent_that_is_stopped_spends_nothing_more() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[]);
    let session = asking_session(&server.client()).await;
    session.prompt("ask").await;
    vendor.asked(1).await;
    let stop = session.path("/stop");
    server.client().post(&stop, json!({})).await.good();
    vendor.hung_up().await;
    let is_use = |body: &EventBody| matches!(body, EventBody::Gateway(_));
    session.wait_for(0, is_use).await;
    let used = used(&session).await;
    // What it had taken by then.
    assert_eq!((used[0].usage.input, used[0].unfinished), (1000, true));
    assert!(used[0].turn.is_some(), "{used:?}");
    session.turn_end(0).await;

    vendor.go_on();
    let after = session.show().await["last_seq"].as_u64().unwrap();
    session.prompt("again").await;
    session.turn_end(after).await;
    let messages = session.messages().await;
    let said = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(said.contains("the end"), "{said}");
}

#[tokio::test]
async fn a_server_without_the_gateway_gives_programs_nothing() {
    let vendor = Vendor::start().await;
    let server = serve(&vendor, &[("DESKHAND_GATEWAY_ENABLED", "false")]);
    let session = session_in_hand(&server).await;
    let told = session
        .shell("env; curl -sS http://127.0.0.1:7879/ 2>&1; echo code $?")
        .await;
    assert!(!told.contains("API_KEY"), "{told}");
    assert!(told.contains("code 7"), "{told}");
}

/// Files below `dir` that hold `text`.
fn files_with(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let content = std::fs::read(&path).unwrap_or_default();
            let holds = content
                .windows(text.len())
                .any(|window| window == text.as_bytes());
            found.extend(holds.then(|| path.display().to_string()));
        }
    }
    found
}

#[tokio::test]
async fn keys_are_nowhere() {
    let vendor = Vendor::start().await;
    vendor.go_on();
    let server = serve(&vendor, &[("DESKHAND_LOG_LEVEL", "trace")]);

    // The agent asks with a key, and is told it in an error. So is a program.
    let client = server.client();
    let agent = client.new_session(&format!("anthropic/{TELLTALE}")).await;
    agent.prompt("hello").await;
    agent.turn_end(0).await;
    let session = asking_session(&client).await;
    session.prompt("ask").await;
    session.turn_end(0).await;
    session.take_control(600).await.good();
    let telltale = format!(
        r#"$ANTHROPIC_BASE_URL/v1/messages -H "x-api-key: $ANTHROPIC_API_KEY" -d '{{"model": "{TELLTALE}"}}'"#
    );
    let (status, body) = curl(&session, &telltale).await;
    assert_eq!(
        (status.as_str(), body.contains("not with ***")),
        ("400", true),
        "{body}"
    );
    let seen = format!("{:?}", vendor.seen());
    assert!(seen.contains(CANARY), "the keys were in use: {seen}");

    // In the sandbox: environment, processes and files that can be read there. The word is put together only by the
    // shell that looks for it, which would find itself otherwise.
    let (begin, end) = CANARY.split_at(4);
    let look = format!(
        "word={begin}; word=${{word}}{end}; echo $word > /tmp/planted; grep -a -l \"$word\" /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; \
         env | grep \"$word\"; grep -r -a -s -l \"$word\" ~ /tmp /run /etc /var /dev/shm; echo looked"
    );
    // What was planted is found, and nothing else.
    assert_eq!(session.shell(&look).await.trim(), "/tmp/planted\nlooked");

    // Outside: events, the data folder with database, pictures and homes, the log, and the sandboxes' processes.
    for session in [&agent, &session] {
        let events = session.events(0).await;
        assert!(!json!(events).to_string().contains(CANARY), "{events:?}");
    }
    assert_eq!(files_with(&server.data_dir(), CANARY), [""; 0]);
    assert!(!server.log().contains(CANARY));
    assert!(server.log().contains("a turn ended"), "there is a log");
    let processes = processes_with_mount(&server.mark());
    assert!(!processes.is_empty());
    for (pid, command) in processes {
        assert!(!command.contains(CANARY), "{command}");
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(!environment.contains(CANARY), "{command}: {environment}");
    }
}
