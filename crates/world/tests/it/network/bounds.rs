//! Bounds on the network: who is at work, how many connections there are, and what still holds when something fails.

use deskhand_testkit::TerminalClient;

use super::*;

#[tokio::test]
async fn a_person_in_a_terminal_is_at_work_for_a_while() {
    let awake = |options: &mut WorldOptions| options.settings.limits.idle = Duration::from_hours(2);
    let world = online(awake).await;
    let body = json!({"model": "scripted/work", "network": {"mode": "open"}});
    let made = world.client().post("/api/sessions", body).await.good();
    let session = world.client().session(made["id"].as_str().unwrap());
    let id: SessionId = session.id.parse().unwrap();
    let mut terminal = TerminalClient::open(&session).await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Idle)
    );
    // Pages answer programs by themselves. That is no command.
    terminal.type_in("\x1b[1;1R").await;
    terminal.until("[1;1R").await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Idle)
    );
    terminal.type_in("git clone\r").await;
    terminal.until("git clone\r\n").await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    world.pass(Duration::from_mins(10)).await;
    says(&mut line, "hello").await;
    world.pass(Duration::from_mins(6)).await;
    ends(&mut line).await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Idle)
    );

    // Stopping the agent stops everything, until the person goes on.
    session.prompt("go").await;
    let works = |body: &EventBody| matches!(body, EventBody::ToolUse(_));
    session.wait_for(0, works).await;
    // The server has closed the first connection, which answered no pings.
    let mut terminal = TerminalClient::attach(&session, 1).await;
    terminal.type_in("again\r").await;
    terminal.until("again\r\nagain").await;
    let stop = session.path("/stop");
    session.client.post(&stop, json!({})).await.good();
    session.turn_end(0).await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Idle)
    );
}

#[tokio::test]
async fn idle_connections_end_although_nothing_can_be_recorded() {
    let world = online(|_| {}).await;
    let (first, first_id) = at_work(&world, json!({"mode": "open"})).await;
    let (second, second_id) = at_work(&world, json!({"mode": "open"})).await;
    let mut lines = Vec::new();
    for id in [first_id, second_id] {
        let mut line = world.line(id);
        assert_eq!(
            line.connect("site.example", 443).await,
            NetworkAnswer::Connected
        );
        lines.push(line);
    }
    let broken = rusqlite::Connection::open(world.folder().join("deskhand.db")).unwrap();
    broken
        .execute_batch("ALTER TABLE network_destinations RENAME TO lost")
        .unwrap();
    for session in [first, second] {
        let stop = session.path("/stop");
        session.client.post(&stop, json!({})).await.good();
        session.turn_end(0).await;
    }
    for line in &mut lines {
        line.send(b"hello");
    }
    world.pass(Duration::from_secs(15)).await;
    for line in &mut lines {
        ends(line).await;
    }
    broken
        .execute_batch("ALTER TABLE lost RENAME TO network_destinations")
        .unwrap();
}

#[tokio::test]
async fn all_sessions_of_an_owner_share_their_places() {
    let world = online(|options| options.settings.network.owner_connections = 2).await;
    let (_one, one) = at_work(&world, json!({"mode": "open"})).await;
    let (_two, two) = at_work(&world, json!({"mode": "open"})).await;
    let (mut first, mut second) = (world.line(one), world.line(two));
    for line in [&mut first, &mut second] {
        let answer = line.connect("site.example", 443).await;
        assert_eq!(answer, NetworkAnswer::Connected);
    }
    let answer = world.line(one).connect("site.example", 443).await;
    assert_eq!(answer, refused(BlockReason::Busy));

    let bob = world.client().new_user("bob").await;
    let body = json!({"model": "scripted/work", "network": {"mode": "open"}});
    let made = bob.post("/api/sessions", body).await.good();
    let bobs = bob.session(made["id"].as_str().unwrap());
    bobs.prompt("go").await;
    let works = |body: &EventBody| matches!(body, EventBody::ToolUse(_));
    bobs.wait_for(0, works).await;
    let id = bobs.id.parse().unwrap();
    let answer = world.line(id).connect("site.example", 443).await;
    assert_eq!(answer, NetworkAnswer::Connected);
}

#[tokio::test]
async fn a_user_sees_their_list_and_takes_hosts_back() {
    let world = online(|_| {}).await;
    let client = world.client();
    let list = async |allow: Value| {
        let body = json!({ "allow": allow });
        client.put("/api/me/network", body).await
    };
    let shown = client.get("/api/me/network").await.good();
    assert_eq!(shown, json!({"allow": []}));
    list(json!(["site.example:443"])).await.good();
    let (_session, id) = at_work(&world, json!({"mode": "allow"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "hello").await;
    // Others have lists of their own.
    let bob = client.new_user("bob").await;
    let of_bob = bob.get("/api/me/network").await.good();
    assert_eq!(of_bob, json!({"allow": []}));

    let set = list(json!(["*.other.example"])).await.good();
    assert_eq!(set, json!({"allow": ["*.other.example"]}));
    ends(&mut line).await;
    let audited = client.get("/api/me/audit").await.good();
    let newest = &audited["entries"][0];
    assert_eq!(newest["action"], "network.list_changed", "{newest}");

    let many: Vec<_> = (0..201).map(|n| format!("{n}.example")).collect();
    let refusal = list(json!(many)).await;
    assert_eq!(
        (refusal.status, refusal.code().as_str()),
        (400, "bad_network")
    );
    assert_eq!(list(json!(["http://a"])).await.status, 400);
}

#[tokio::test]
async fn the_list_of_a_session_is_kept_while_it_is_closed() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let network = json!({"mode": "closed", "allow": ["site.example"]});
    let body = json!({ "network": network });
    let shown = session.client.patch(&session.path(""), body).await.good();
    assert_eq!(shown["network"], network);
    let answer = world.line(id).connect("site.example", 443).await;
    assert_eq!(answer, refused(BlockReason::Closed));
}

#[tokio::test]
async fn the_result_of_a_command_names_the_hosts_of_it_that_were_blocked() {
    let world = online(|_| {}).await;
    let command = "contact SITE.example evil.example";
    world.set_scenario("work", &WORK.replace("\"work\"", &format!("{command:?}")));
    let contact = FakeCommand {
        takes: Duration::from_secs(100_000),
        ..FakeCommand::default()
    };
    world.sandboxes().on_command(command, contact);
    let (session, id) = at_work(&world, json!({"mode": "closed"})).await;
    let answer = world.line(id).connect("site.example", 443).await;
    assert_eq!(answer, refused(BlockReason::Closed));
    let mut lookup = world.line(id);
    lookup.request(&NetworkRequest::Resolve {
        name: "evil.example".to_owned(),
    });
    assert_eq!(lookup.answer().await, refused(BlockReason::Closed));
    // The browser looks for its updates by itself.
    let answer = world.line(id).connect("update.example", 443).await;
    assert_eq!(answer, refused(BlockReason::Closed));
    let stop = session.path("/stop");
    session.client.post(&stop, json!({})).await.good();
    let done = |body: &EventBody| matches!(body, EventBody::ToolResult(_));
    let result = session.wait_for(0, done).await;
    let EventBody::ToolResult(result) = result.body else {
        unreachable!()
    };
    let text = serde_json::to_string(&result).unwrap();
    let reason = BlockReason::Closed.sentence();
    for place in ["site.example:443", "evil.example"] {
        let note = format!("[network: {place} was blocked: {reason}]");
        assert!(text.contains(&note), "{note} in {text}");
    }
    assert!(!text.contains("update.example"), "{text}");
}
