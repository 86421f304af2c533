//! Programs in sandboxes contact hosts: what is allowed, asked about, refused, recorded and ended.

mod bounds;

use std::{net::SocketAddr, time::Duration};

use deskhand_core::{
    event::{EventBody, HostContacted},
    id::SessionId,
    network::{
        NetworkAnswer, NetworkFailure, NetworkRequest,
        policy::{BlockReason, NetworkMode},
    },
};
use deskhand_testkit::{Session, sandboxes::FakeCommand};
use deskhand_world::{SandboxLine, World, WorldOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const SITE: &str = "93.184.216.34";

/// An agent that works until it is stopped.
const WORK: &str = r#"
steps:
  - text: "I work."
    calls:
      - bash: {command: "work"}
  - text: "Done."
"#;

/// A host that repeats everything, and ends when the program does.
#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await
            });
        }
    });
    address
}

/// A world with `site.example` on the public internet, at ports 80 and 443.
async fn online(change: impl FnOnce(&mut WorldOptions)) -> World {
    let mut options = WorldOptions::default().knowing(&[("work", WORK)]);
    change(&mut options);
    let world = World::with(options).await;
    let takes = Duration::from_secs(100_000);
    let work = FakeCommand {
        takes,
        ..FakeCommand::default()
    };
    world.sandboxes().on_command("work", work);
    let host = echo().await;
    world.internet().name("site.example", &[SITE]);
    world.internet().host(&format!("{SITE}:80"), host);
    world.internet().host(&format!("{SITE}:443"), host);
    world
}

/// A session with this network in which the agent is at work.
async fn at_work(world: &World, network: Value) -> (Session, SessionId) {
    let body = json!({"model": "scripted/work", "network": network});
    let made = world.client().post("/api/sessions", body).await.good();
    let session = world.client().session(made["id"].as_str().unwrap());
    session.prompt("go").await;
    let works = |body: &EventBody| matches!(body, EventBody::ToolUse(_));
    session.wait_for(0, works).await;
    let id = session.id.parse().unwrap();
    (session, id)
}

fn refused(reason: BlockReason) -> NetworkAnswer {
    NetworkAnswer::Refused {
        reason: reason.sentence().to_owned(),
    }
}

async fn says(line: &mut SandboxLine, text: &str) {
    line.send(text.as_bytes());
    let mut heard = Vec::new();
    while heard.len() < text.len() {
        let piece = line.next().await.unwrap();
        heard.extend_from_slice(&piece);
    }
    assert_eq!(String::from_utf8_lossy(&heard), text);
}

async fn ends(line: &mut SandboxLine) {
    while line.next().await.is_some() {}
}

/// Waits for the event about a host.
async fn told(session: &Session, host: &str, blocked: Option<BlockReason>) {
    let is_it = |body: &EventBody| {
        matches!(body, EventBody::Network(HostContacted { host: told, blocked: reason, .. })
            if told == host && *reason == blocked)
    };
    session.wait_for(0, is_it).await;
}

async fn network_of(session: &Session) -> Value {
    session.client.get(&session.path("/network")).await.good()
}

#[tokio::test]
async fn an_open_network_reaches_the_internet_and_records_it() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "hello").await;
    // The program ends its direction, the host answers and ends the other one.
    line.send(b"");
    assert_eq!(line.next().await.unwrap(), "");
    ends(&mut line).await;
    told(&session, "site.example", None).await;

    let mut lookup = world.line(id);
    lookup.request(&NetworkRequest::Resolve {
        name: "site.example".to_owned(),
    });
    assert_eq!(lookup.answer().await, NetworkAnswer::Found);
    let mut lookup = world.line(id);
    lookup.request(&NetworkRequest::Resolve {
        name: "nowhere.example".to_owned(),
    });
    assert_eq!(lookup.answer().await, NetworkAnswer::NotFound);
    let mut line = world.line(id);
    assert_eq!(
        line.connect("nowhere.example", 80).await,
        NetworkAnswer::NotFound
    );
    let failure = NetworkFailure::Refused;
    let mut line = world.line(id);
    assert_eq!(
        line.connect(SITE, 81).await,
        NetworkAnswer::Failed { failure }
    );

    world.pass(Duration::from_secs(3)).await;
    let network = network_of(&session).await;
    assert_eq!(network["in_force"], "open");
    assert_eq!(network["open_connections"], 0);
    assert_eq!(network["transferred_bytes"], 10);
    let destinations = network["destinations"].as_array().unwrap();
    let find = |host: &str| destinations.iter().find(|one| one["host"] == host).unwrap();
    assert_eq!(
        find(SITE)["connections"],
        0,
        "it was allowed, but not there"
    );
    let destination = find("site.example");
    assert_eq!(destinations.len(), 2, "{network}");
    assert_eq!(destination["host"], "site.example");
    assert_eq!(destination["port"], 443);
    assert_eq!(destination["connections"], 1);
    assert_eq!(
        (&destination["sent_bytes"], &destination["received_bytes"]),
        (&json!(5), &json!(5))
    );
    assert_eq!(destination["blocked"], Value::Null);
}

#[tokio::test]
async fn bytes_of_an_older_connection_do_not_hide_a_later_block() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut older = world.line(id);
    assert_eq!(
        older.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    says(&mut older, "hello").await;
    let mut lying = world.line(id);
    assert_eq!(
        lying.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    lying.send(b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n");
    ends(&mut lying).await;
    told(&session, "site.example", Some(BlockReason::OtherName)).await;

    says(&mut older, "more").await;
    world.pass(Duration::from_secs(3)).await;
    let network = network_of(&session).await;
    let destination = &network["destinations"][0];
    assert_eq!(destination["sent_bytes"], 9, "{network}");
    assert_eq!(destination["blocked"], "other_name", "{network}");
}

#[tokio::test]
async fn private_addresses_are_refused_by_name_by_number_and_after_a_change() {
    let world = online(|_| {}).await;
    let internet = world.internet();
    let host = echo().await;
    let inner = [
        "127.0.0.1",
        "10.0.0.5",
        "169.254.169.254",
        "100.64.0.1",
        "::1",
        "::ffff:10.0.0.5",
        "64:ff9b::a00:5",
        "2002:a00:5::1",
        "fd00::5",
    ];
    for address in inner {
        let address: std::net::IpAddr = address.parse().unwrap();
        let address = SocketAddr::new(address, 80).to_string();
        internet.host(&address, host);
    }
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    for address in inner {
        internet.name("evil.example", &[address]);
        for host in ["evil.example", address] {
            let answer = world.line(id).connect(host, 80).await;
            assert_eq!(answer, refused(BlockReason::Private), "{host} {address}");
        }
    }
    assert_eq!(internet.dialled(), [], "nothing was dialled");
    told(&session, "evil.example", Some(BlockReason::Private)).await;

    // Of several addresses, those that are public are dialled.
    internet.name("evil.example", &["10.0.0.5", SITE]);
    let mut line = world.line(id);
    assert_eq!(
        line.connect("evil.example", 80).await,
        NetworkAnswer::Connected
    );
    let public: SocketAddr = format!("{SITE}:80").parse().unwrap();
    assert_eq!(internet.dialled(), [public]);

    // The name is public for the check and private for any later look: the address of the check is dialled.
    internet.name_in_turn("turning.example", &[&[SITE], &["10.0.0.5"]]);
    let mut line = world.line(id);
    assert_eq!(
        line.connect("turning.example", 80).await,
        NetworkAnswer::Connected
    );
    assert_eq!(internet.dialled(), [public, public]);

    let resolvers = [
        ("dns.google", 443),
        ("8.8.8.8", 443),
        ("site.example", 853),
        ("site.example", 53),
    ];
    for (host, port) in resolvers {
        let answer = world.line(id).connect(host, port).await;
        assert_eq!(answer, refused(BlockReason::Resolver), "{host}:{port}");
    }
}

#[tokio::test]
async fn a_range_of_the_deployment_opens_internal_hosts() {
    let allow = |options: &mut WorldOptions| {
        let allow = &mut options.settings.network.bounds.allow;
        allow.push("10.0.0.0/8:5432".parse().unwrap());
    };
    let world = online(allow).await;
    world.internet().host("10.0.0.5:5432", echo().await);
    world.internet().name("db.internal", &["10.0.0.5"]);
    let (_session, id) = at_work(&world, json!({"mode": "open"})).await;
    for host in ["db.internal", "10.0.0.5"] {
        assert_eq!(
            world.line(id).connect(host, 5432).await,
            NetworkAnswer::Connected
        );
        assert_eq!(
            world.line(id).connect(host, 80).await,
            refused(BlockReason::Private)
        );
    }
}

#[tokio::test]
async fn a_program_cannot_use_another_name_than_it_asked_for() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "GET / HTTP/1.1\r\nHost: site.example\r\n\r\n").await;

    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    line.send(b"GET / HTTP/1.1\r\nHo");
    line.send(b"st: other.example\r\n\r\n");
    assert_eq!(
        line.next().await,
        None,
        "nothing passes, and the connection ends"
    );
    told(&session, "site.example", Some(BlockReason::OtherName)).await;

    let mut line = world.line(id);
    assert_eq!(line.connect(SITE, 80).await, NetworkAnswer::Connected);
    line.send(b"GET / HTTP/1.1\r\nHost: dns.google\r\n\r\n");
    assert_eq!(line.next().await, None);
    told(&session, SITE, Some(BlockReason::Resolver)).await;
}

#[tokio::test]
async fn less_than_a_line_passes_and_a_request_in_pieces_is_still_compared() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "GET").await;
    says(&mut line, " / HTTP/1.1\r").await;
    line.send(b"\nHost: other.example\r\n\r\n");
    assert_eq!(line.next().await, None, "the host never sees the name");
    told(&session, "site.example", Some(BlockReason::OtherName)).await;

    // A program that ends within its first line has said everything.
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 80).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "QUIT").await;
    line.send(b"");
    assert_eq!(line.next().await.unwrap(), "");
}

#[tokio::test]
async fn a_closed_network_looks_nothing_up() {
    let world = online(|_| {}).await;
    let session = world.client().new_session("scripted/work").await;
    assert_eq!(session.show().await["network"], json!({"mode": "closed"}));
    let (session, id) = at_work(&world, json!({"mode": "closed"})).await;
    let answer = world.line(id).connect("site.example", 443).await;
    assert_eq!(answer, refused(BlockReason::Closed));
    let mut lookup = world.line(id);
    lookup.request(&NetworkRequest::Resolve {
        name: "site.example".to_owned(),
    });
    assert_eq!(lookup.answer().await, refused(BlockReason::Closed));
    assert_eq!(world.internet().looked_up(), Vec::<String>::new());
    told(&session, "site.example", Some(BlockReason::Closed)).await;
}

#[tokio::test]
async fn a_blocked_host_is_asked_about_once_and_goes_on_when_allowed() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "allow"})).await;
    let client = world.client();
    let question = async |after: u64| {
        let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
        let raised = raised.await;
        let EventBody::Decision(decision) = raised.body else {
            unreachable!()
        };
        (
            session.path(&format!("/decisions/{}/answer", decision.decision)),
            raised.seq,
        )
    };

    // Two connections to one host wait for one answer. Not even the name is looked up before.
    let (mut first, mut second) = (world.line(id), world.line(id));
    first.request(&deskhand_world::connect("site.example", 443));
    second.request(&deskhand_world::connect("site.example", 443));
    let (path, seq) = question(0).await;
    assert_eq!(world.internet().looked_up(), Vec::<String>::new());
    assert_eq!(
        session.show().await["state"],
        "running",
        "the agent goes on"
    );
    client
        .post(&path, json!({"choices": ["once"]}))
        .await
        .good();
    assert_eq!(first.answer().await, NetworkAnswer::Connected);
    assert_eq!(second.answer().await, NetworkAnswer::Connected);
    says(&mut first, "hello").await;
    drop(second);

    // The permission counts until the turn ends, and for this port only.
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    assert_eq!(session.show().await["network"], json!({"mode": "allow"}));
    world.internet().host(&format!("{SITE}:8443"), echo().await);
    let mut third = world.line(id);
    third.request(&deskhand_world::connect("site.example", 8443));
    let (path, seq) = question(seq).await;
    client
        .post(&path, json!({"choices": ["session"]}))
        .await
        .good();
    assert_eq!(third.answer().await, NetworkAnswer::Connected);
    assert_eq!(
        session.show().await["network"]["allow"],
        json!(["site.example:8443"])
    );
    assert_eq!(
        world.line(id).connect("site.example", 8443).await,
        NetworkAnswer::Connected
    );

    // A no counts for the turn.
    let mut other = world.line(id);
    other.request(&deskhand_world::connect("site.example", 80));
    let (path, _) = question(seq).await;
    client.post(&path, json!({"choices": ["no"]})).await.good();
    assert_eq!(other.answer().await, refused(BlockReason::Denied));
    assert_eq!(
        world.line(id).connect("site.example", 80).await,
        refused(BlockReason::Denied)
    );

    // Private addresses are never asked about.
    assert_eq!(
        world.line(id).connect("10.0.0.5", 80).await,
        refused(BlockReason::Private)
    );
}

#[tokio::test]
async fn only_the_owner_allows_a_host_for_ever_and_nobody_means_no() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "allow"})).await;
    let bob = world.client().new_user("bob").await;
    let right = json!({"right": "drive"});
    world
        .client()
        .put(&session.path("/people/bob"), right)
        .await
        .good();
    let mut line = world.line(id);
    line.request(&deskhand_world::connect("site.example", 443));
    let raised = session.wait_for(0, |body| matches!(body, EventBody::Decision(_)));
    let EventBody::Decision(decision) = raised.await.body else {
        unreachable!()
    };
    let path = session.path(&format!("/decisions/{}/answer", decision.decision));
    let always = json!({"choices": ["always"]});
    let answer = bob.post(&path, always.clone()).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "not_allowed")
    );
    world.client().post(&path, always).await.good();
    assert_eq!(line.answer().await, NetworkAnswer::Connected);

    // It counts in another session of the owner.
    let (other, other_id) = at_work(&world, json!({"mode": "allow"})).await;
    assert_eq!(
        world.line(other_id).connect("site.example", 443).await,
        NetworkAnswer::Connected
    );

    let mut line = world.line(other_id);
    line.request(&deskhand_world::connect("site.example", 80));
    other
        .wait_for(0, |body| matches!(body, EventBody::Decision(_)))
        .await;
    world.pass(Duration::from_secs(130)).await;
    assert_eq!(line.answer().await, refused(BlockReason::NotListed));
}

#[tokio::test]
async fn a_change_of_the_policy_counts_at_once_and_ends_connections() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "hello").await;
    let bob = world.client().new_user("bob").await;
    let right = json!({"right": "drive"});
    world
        .client()
        .put(&session.path("/people/bob"), right)
        .await
        .good();
    let closed = json!({"network": {"mode": "closed"}});
    assert_eq!(
        bob.patch(&session.path(""), closed.clone()).await.status,
        403
    );

    let shown = world.client().patch(&session.path(""), closed).await.good();
    assert_eq!(shown["network"], json!({"mode": "closed"}));
    ends(&mut line).await;
    let is_told = |body: &EventBody| matches!(body, EventBody::Changed(changed) if changed.network.as_ref().is_some_and(|network| network.mode == NetworkMode::Closed));
    session.wait_for(0, is_told).await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Closed)
    );
}

#[tokio::test]
async fn nothing_leaves_while_nobody_is_at_work() {
    let world = online(|_| {}).await;
    let (session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    says(&mut line, "hello").await;
    session
        .client
        .post(&session.path("/stop"), json!({}))
        .await
        .good();
    session.turn_end(0).await;
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Idle)
    );
    world.pass(Duration::from_secs(15)).await;
    ends(&mut line).await;

    // A person who has control may.
    session.take_control(600).await.good();
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
}

#[tokio::test]
async fn the_ceiling_and_the_caps_of_the_deployment_hold() {
    let strict = |options: &mut WorldOptions| {
        let network = &mut options.settings.network;
        network.bounds.ceiling = NetworkMode::Allow;
        network.bounds.allow = vec!["site.example:443".parse().unwrap()];
        network.connections = 2;
        network.session_bytes = Some(20);
    };
    let world = online(strict).await;
    let body = json!({"model": "scripted/work", "network": {"mode": "open"}});
    let answer = world.client().post("/api/sessions", body).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "network_ceiling")
    );

    let own = json!({"mode": "allow", "allow": ["other.example"]});
    let (session, id) = at_work(&world, own).await;
    let open = json!({"network": {"mode": "open"}});
    let answer = session.client.patch(&session.path(""), open).await;
    assert_eq!(answer.code(), "network_ceiling");
    assert_eq!(
        world.line(id).connect("other.example", 443).await,
        refused(BlockReason::NotListed)
    );
    let (mut first, mut second) = (world.line(id), world.line(id));
    assert_eq!(
        first.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    assert_eq!(
        second.connect("site.example", 443).await,
        NetworkAnswer::Connected
    );
    assert_eq!(
        world.line(id).connect("site.example", 443).await,
        refused(BlockReason::Busy)
    );

    says(&mut first, "hello").await;
    says(&mut first, "again").await;
    first.send(b"too much");
    ends(&mut first).await;
    drop(second);
    told(&session, "site.example", Some(BlockReason::Bytes)).await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
async fn a_host_that_speaks_first_is_heard_before_the_program_speaks() {
    let world = online(|_| {}).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    world
        .internet()
        .host(&format!("{SITE}:22"), listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"SSH-2.0-test\r\n").await.unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.unwrap();
        heard
    });
    let (_session, id) = at_work(&world, json!({"mode": "open"})).await;
    let mut line = world.line(id);
    assert_eq!(
        line.connect("site.example", 22).await,
        NetworkAnswer::Connected
    );
    assert_eq!(line.next().await.unwrap(), "SSH-2.0-test\r\n");
    line.send(b"SSH-2.0-client\r\n");
    line.send(b"");
    assert_eq!(serving.await.unwrap(), "SSH-2.0-client\r\n");
}
