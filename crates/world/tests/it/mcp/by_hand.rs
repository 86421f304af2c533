//! Clients that use a computer themselves.

use std::collections::BTreeSet;

use deskhand_world::World;
use serde_json::{Value, json};

use super::{client::Mcp, endpoint, start, wait, world};

async fn connect(world: &World, groups: &str) -> Mcp {
    let url = format!("{}?tools={groups}", endpoint(world));
    Mcp::connect(&world.client(), &url).await
}

/// Gets a computer and returns the id of its session.
async fn open(mcp: &Mcp) -> String {
    let opened = mcp.facts("computer_open", json!({})).await;
    opened["sessionId"].as_str().unwrap().to_owned()
}

async fn names(mcp: &Mcp) -> BTreeSet<String> {
    let listed = mcp.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.map(name).collect()
}

#[tokio::test]
async fn a_client_is_offered_the_groups_that_it_chooses() {
    let world = world().await;
    let usual = names(&Mcp::connect(&world.client(), &endpoint(&world)).await).await;
    assert!(
        usual.iter().all(|name| name.starts_with("agent_")),
        "{usual:?}"
    );
    assert_eq!(usual.len(), 6);
    let shell = names(&connect(&world, "shell").await).await;
    let wanted = ["agent_end", "computer_open", "shell_restart", "shell_run"];
    assert_eq!(shell.iter().collect::<Vec<_>>(), wanted);
    let all = names(&connect(&world, "agent,computer,browser,shell,file").await).await;
    assert!(all.is_superset(&usual) && all.is_superset(&shell));
    for group in ["computer_", "browser_", "file_"] {
        let n_tools = all.iter().filter(|name| name.starts_with(group)).count();
        assert!(n_tools >= 7, "{group}: {n_tools}");
    }
    // Scripts are not allowed here, and the tool would be refused.
    assert!(!all.contains("browser_evaluate"));
    // A tool of another group does not exist for the client.
    let shell = connect(&world, "shell").await;
    let call = json!({"name": "browser_tabs", "arguments": {}});
    let answer = shell.ask("tools/call", call).await.pop().unwrap();
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_browser_is_driven_by_its_pages() {
    let world = world().await;
    let mcp = connect(&world, "browser").await;
    let opened = json!({"startUrl": "https://shop.example/", "title": "A look at the shop"});
    let opened = mcp.facts("computer_open", opened).await;
    let page = opened["page"].as_str().unwrap();
    assert!(page.contains("https://shop.example/"), "{page}");
    let id = opened["sessionId"].as_str().unwrap();
    let on = |mut input: Value| {
        input["sessionId"] = json!(id);
        input
    };

    let read = mcp.text("browser_snapshot", on(json!({}))).await;
    assert!(
        read.contains("<page>\nA page at https://shop.example/"),
        "{read}"
    );
    let moved = on(json!({"url": "https://shop.example/tea", "snapshot": true}));
    let moved = mcp.text("browser_navigate", moved).await;
    assert!(
        moved.contains("A page at https://shop.example/tea"),
        "{moved}"
    );
    let back = mcp
        .text("browser_navigate", on(json!({"url": "back"})))
        .await;
    assert!(back.ends_with("https://shop.example/"), "{back}");
    let tabs = mcp.text(
        "browser_tabs",
        on(json!({"action": "new", "url": "https://b.example"})),
    );
    assert!(tabs.await.contains("2 (current)"));
    let shown = mcp.call("browser_take_screenshot", on(json!({}))).await;
    assert_eq!(shown["content"][1]["type"], "image", "{shown}");
    assert!(shown.get("structuredContent").is_none(), "{shown}");
    for (tool, input) in [
        ("browser_click", json!({"ref": "e1"})),
        (
            "browser_click",
            json!({"x": 3, "y": 4, "doubleClick": true}),
        ),
        (
            "browser_type",
            json!({"ref": "e1", "text": "tea", "submit": true}),
        ),
        (
            "browser_fill_form",
            json!({"fields": [{"ref": "e1", "value": "a"}, {"ref": "e2", "checked": true}]}),
        ),
        (
            "browser_select_option",
            json!({"ref": "e1", "options": ["a"]}),
        ),
        ("browser_press_key", json!({"key": "Enter"})),
        ("browser_scroll", json!({"dy": 100})),
        ("browser_hover", json!({"ref": "e1"})),
        ("browser_drag", json!({"ref": "e1", "toX": 1, "toY": 2})),
        ("browser_wait_for", json!({"textGone": "Loading"})),
        ("browser_resize", json!({"width": 400, "height": 700})),
        ("browser_console_messages", json!({})),
    ] {
        mcp.text(tool, on(input)).await;
    }

    // People see in the log what the client did.
    let events = world.client().session(id).events(0).await;
    let did = |text: &str| {
        events
            .iter()
            .any(|event| event["data"]["description"] == text)
    };
    assert!(
        did("Opened https://shop.example/tea") && did("Clicked e1"),
        "{events:?}"
    );
    mcp.facts("agent_end", on(json!({}))).await;
    let after = mcp.refusal("browser_snapshot", on(json!({}))).await;
    assert_eq!(after, "session_ended");
}

#[tokio::test]
async fn a_computer_a_shell_and_files_are_used() {
    let world = world().await;
    let mcp = connect(&world, "computer,shell,file").await;
    let id = open(&mcp).await;
    let on = |mut input: Value| {
        input["sessionId"] = json!(id);
        input
    };

    let seen = mcp.call("computer_screenshot", on(json!({}))).await;
    assert_eq!(seen["content"][1]["mimeType"], "image/png", "{seen}");
    let click = on(json!({"x": 10, "y": 20, "screenshot": true}));
    let clicked = mcp.call("computer_click", click).await;
    assert_eq!(clicked["content"].as_array().unwrap().len(), 2, "{clicked}");
    let typed = mcp.call("computer_type", on(json!({"text": "tea"}))).await;
    assert_eq!(typed["content"].as_array().unwrap().len(), 1, "{typed}");

    let ran = mcp
        .text(
            "shell_run",
            on(json!({"command": "echo tea > a.txt; cat a.txt"})),
        )
        .await;
    assert!(ran.contains("tea"), "{ran}");
    let failed = mcp.text("shell_run", on(json!({"command": "false"}))).await;
    assert!(failed.contains('1'), "{failed}");

    let write = on(json!({"path": "~/notes/b.txt", "content": "green tea"}));
    mcp.text("file_write", write).await;
    let read = mcp
        .text("file_read", on(json!({"path": "~/notes/b.txt"})))
        .await;
    assert_eq!(read, "green tea");
    let part = on(json!({"path": "~/notes/b.txt", "offset": 2, "limit": 3}));
    let part = mcp.call("file_read", part).await;
    assert_eq!(part["content"][0]["text"], "een", "{part}");
    let rest = part["content"][1]["text"].as_str().unwrap();
    assert!(rest.contains("offset 5"), "{rest}");
    let bytes = on(json!({"path": "~/notes/b.txt", "base64": true}));
    assert_eq!(mcp.text("file_read", bytes).await, "Z3JlZW4gdGVh");
    let listed = mcp.text("file_list", on(json!({"path": "~/notes"}))).await;
    assert!(listed.contains("b.txt (9 bytes)"), "{listed}");
    mcp.text(
        "file_move",
        on(json!({"from": "~/notes/b.txt", "to": "~/c.txt"})),
    )
    .await;
    mcp.text("file_delete", on(json!({"path": "~/c.txt"})))
        .await;
    let gone = mcp
        .refusal("file_read", on(json!({"path": "~/c.txt"})))
        .await;
    assert_eq!(gone, "no_file");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_in_words() {
    let world = world().await;
    let mcp = connect(&world, "agent,computer,browser,shell,file").await;
    let id = open(&mcp).await;
    let misfits = pages(&id).into_iter().chain(others(&id));
    for (tool, input, code) in misfits {
        assert_eq!(
            mcp.refusal(tool, input.clone()).await,
            code,
            "{tool} {}",
            clip(&input)
        );
    }
    // A page that does not open is a result, and the computer is there.
    let nowhere = mcp.failure(
        "browser_navigate",
        json!({"sessionId": id, "url": "https://nowhere.invalid/"}),
    );
    assert!(nowhere.await.contains("ERR_NAME_NOT_RESOLVED"));
    let opened = json!({"startUrl": "https://nowhere.invalid/"});
    let opened = mcp.facts("computer_open", opened).await;
    assert!(
        opened["page"]
            .as_str()
            .unwrap()
            .contains("ERR_NAME_NOT_RESOLVED")
    );
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
}

/// A call that is refused, with the code of the refusal.
type Misfit = (&'static str, Value, &'static str);

fn pages(id: &str) -> Vec<Misfit> {
    let nobody = "0190a000-0000-7000-8000-000000000000";
    vec![
        (
            "browser_navigate",
            json!({"sessionId": nobody, "url": "https://a.example"}),
            "no_session",
        ),
        (
            "browser_navigate",
            json!({"sessionId": "nobody", "url": "https://a.example"}),
            "bad_id",
        ),
        (
            "browser_navigate",
            json!({"url": "https://a.example"}),
            "malformed",
        ),
        (
            "browser_navigate",
            json!({"sessionId": id, "url": 7}),
            "malformed",
        ),
        (
            "browser_navigate",
            json!({"sessionId": id, "url": "file:///etc/passwd"}),
            "bad_action",
        ),
        (
            "browser_navigate",
            json!({"sessionId": id, "url": "javascript:alert(1)"}),
            "bad_action",
        ),
        (
            "browser_tabs",
            json!({"sessionId": id, "action": "new", "url": "chrome://settings"}),
            "bad_action",
        ),
        ("browser_click", json!({"sessionId": id}), "bad_action"),
        (
            "browser_click",
            json!({"sessionId": id, "ref": "the button"}),
            "bad_action",
        ),
        (
            "browser_type",
            json!({"sessionId": id, "text": "x".repeat(200_000)}),
            "bad_action",
        ),
        (
            "browser_fill_form",
            json!({"sessionId": id, "fields": []}),
            "malformed",
        ),
        (
            "browser_wait_for",
            json!({"sessionId": id, "timeoutSeconds": 3_600}),
            "bad_action",
        ),
        (
            "browser_snapshot",
            json!({"sessionId": id, "extra": 1}),
            "malformed",
        ),
    ]
}

fn others(id: &str) -> Vec<Misfit> {
    vec![
        (
            "computer_click",
            json!({"sessionId": id, "x": 1}),
            "malformed",
        ),
        (
            "computer_click",
            json!({"sessionId": id, "x": -1, "y": 1}),
            "bad_action",
        ),
        (
            "computer_wait",
            json!({"sessionId": id, "seconds": 9_999}),
            "bad_action",
        ),
        (
            "shell_run",
            json!({"sessionId": id, "command": "true", "timeoutSeconds": -1}),
            "malformed",
        ),
        (
            "file_read",
            json!({"sessionId": id, "path": "../etc/passwd"}),
            "malformed",
        ),
        (
            "file_read",
            json!({"sessionId": id, "path": "~/nothing"}),
            "no_file",
        ),
        (
            "file_write",
            json!({"sessionId": id, "path": "~/a", "content": "?", "base64": true}),
            "malformed",
        ),
        (
            "computer_open",
            json!({"startUrl": "file:///etc/passwd"}),
            "bad_url",
        ),
        (
            "computer_open",
            json!({"startUrl": "javascript:alert(1)"}),
            "bad_url",
        ),
    ]
}

fn clip(input: &Value) -> String {
    input.to_string().chars().take(120).collect()
}

#[tokio::test]
async fn one_at_a_time_uses_a_computer() {
    let world = world().await;
    let admin = world.client();
    let mcp = connect(&world, "agent,browser").await;
    // The agent works.
    let session = start(&mcp, "works").await;
    let at_work = admin.session(&session);
    at_work.wait_for(0, |body| body.kind() == "tool_use").await;
    let look = json!({"sessionId": session});
    assert_eq!(
        mcp.refusal("browser_snapshot", look).await,
        "agent_is_driving"
    );
    // Another user's computer does not exist, and a token that may only read does not use one.
    let id = open(&mcp).await;
    let bob = admin.new_user("bob").await;
    let url = format!("{}?tools=browser", endpoint(&world));
    let bob = Mcp::connect(&bob, &url).await;
    let look = json!({"sessionId": id});
    assert_eq!(
        bob.refusal("browser_snapshot", look.clone()).await,
        "no_session"
    );
    let wanted = json!({"name": "read", "scope": "read"});
    let made = admin.post("/api/tokens", wanted).await.good();
    let reading = admin.with_token(made["token"].as_str().unwrap());
    let reader = Mcp::connect(&reading, &url).await;
    assert_eq!(
        reader.refusal("browser_snapshot", look).await,
        "narrow_scope"
    );
}

#[tokio::test]
async fn the_first_page_is_open_before_the_model_is_asked() {
    let world = world().await;
    let mcp = Mcp::connect(&world.client(), &endpoint(&world)).await;
    let session = start(&mcp, "looks").await;
    wait(&mcp, &session).await;
    let events = world.client().session(&session).events(0).await;
    let at = |kind: &str| events.iter().position(|event| event["type"] == kind);
    let (opened, cost) = (at("opened").unwrap(), at("cost").unwrap());
    assert!(opened < cost, "{events:?}");
    assert_eq!(events[opened]["data"]["url"], "https://shop.example/");
    assert_eq!(events[opened]["data"]["title"], "A page");
    assert_eq!(events[opened + 1]["type"], "screenshot");
    let prompt = at("message").unwrap();
    assert_eq!(events[prompt]["data"]["content"], "See what they sell.");

    let nowhere = json!({
        "startUrl": "https://nowhere.invalid/",
        "instructions": "See what they sell.",
        "model": "scripted/looks",
    });
    let started = mcp.facts("agent_start", nowhere).await;
    let session = started["sessionId"].as_str().unwrap();
    let status = wait(&mcp, session).await;
    assert_eq!(
        status["status"], "completed",
        "the model can go on: {status}"
    );
    let log = mcp.facts("agent_log", json!({"sessionId": session})).await;
    let failed = super::entries(&log).find(|entry| entry["kind"] == "error");
    let failed = failed.unwrap()["text"].as_str().unwrap();
    assert!(
        failed.contains("Could not open https://nowhere.invalid/: "),
        "{failed}"
    );
    assert!(failed.contains("ERR_NAME_NOT_RESOLVED"), "{failed}");
}
