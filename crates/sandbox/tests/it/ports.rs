//! Programs in a real sandbox that listen on ports: they are reported, reached, and obey the lease.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use bytes::Bytes;
use deskhand_core::{
    id::{SessionId, UserId},
    sandbox::{Actor, ComputerError, LeaseHolder, ListeningPort, Sandbox, StreamTarget},
};
use deskhand_sandbox::code_server;
use futures::{SinkExt, StreamExt};

use crate::support::{World, example, run, said};

/// Two web servers of Python: one for IPv4, and one for IPv6 only.
const SERVERS: &str = "mkdir -p site && echo hello >site/index.html && \
    for on in '127.0.0.1 8123' '::1 8124'; do set -- $on; \
    (python3 -m http.server \"$2\" --directory site --bind \"$1\" >/dev/null 2>&1 &); done";

async fn fetch(sandbox: &dyn Sandbox, target: StreamTarget, path: &str) -> String {
    let mut stream = sandbox.open(target, Actor::Agent).await.unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.outgoing.send(request.into()).await.unwrap();
    let mut answer = Vec::new();
    while let Some(piece) = stream.incoming.next().await {
        answer.extend_from_slice(&piece);
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_web_server_is_reported_and_reached_by_those_who_may() {
    let world = World::with(|config| config.runner = example("runner"));
    let sandbox = world.start(SessionId::new()).await;
    run(&*sandbox, SERVERS).await.unwrap();
    let listening = [8123, 8124].map(|port| ListeningPort {
        port,
        program: Some("python3".to_owned()),
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    while sandbox.ports() != listening {
        assert!(Instant::now() < deadline, "{:?}", sandbox.ports());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for port in [8123, 8124] {
        let answer = fetch(&*sandbox, StreamTarget::Port { port }, "/").await;
        assert!(answer.ends_with("hello\n"), "{answer}");
    }
    let nothing = sandbox
        .open(StreamTarget::Port { port: 9 }, Actor::Agent)
        .await;
    assert_eq!(nothing.unwrap_err(), ComputerError::NothingListens(9));

    // Control: streams of others have ended when the holder is confirmed, and no new one is opened.
    let target = StreamTarget::Port { port: 8123 };
    let mut before = sandbox.open(target, Actor::Agent).await.unwrap();
    let (holder, other) = (UserId::new(), UserId::new());
    let mut own = sandbox.open(target, Actor::Person(holder)).await.unwrap();
    sandbox.set_lease_holder(LeaseHolder::Person(holder)).await;
    assert_eq!(before.incoming.next().await, None);
    for actor in [Actor::Agent, Actor::Person(other)] {
        let refused = sandbox.open(target, actor).await.unwrap_err();
        assert_eq!(refused, ComputerError::Refused { was_begun: false });
    }
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    // The holder's own stream has outlived it.
    let request = Bytes::from_static(b"GET / HTTP/1.0\r\n\r\n");
    own.outgoing.send(request).await.unwrap();
    assert!(own.incoming.next().await.is_some());
    world.end().await;
}

#[tokio::test]
async fn vs_code_starts_when_it_is_opened_and_ends_when_control_changes() {
    let folder = std::env::var("DESKHAND_APPS_CODE_SERVER");
    let folder = PathBuf::from(folder.unwrap_or_else(|_unset| "/opt/deskhand-code".to_owned()));
    if !code_server::is_installed(&folder) {
        deskhand_testkit::not_run("VS Code is not installed; `scripts/setup code` installs it");
        return;
    }
    let world = World::with(|config| {
        config.runner = example("runner");
        config.code_server = Some(folder);
    });
    let sandbox = world.start(SessionId::new()).await;
    let processes = "pgrep -fc '[o]pt/deskhand-code' || true";
    assert_eq!(said(&*sandbox, processes).await, "0");
    let health = fetch(&*sandbox, StreamTarget::Code, "/healthz").await;
    assert!(health.contains("\"status\""), "{health}");
    assert_ne!(said(&*sandbox, processes).await, "0");
    // Its port is not one of a program, also not after the ports have been reported anew.
    run(&*sandbox, SERVERS).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while sandbox.ports().len() < 2 {
        assert!(Instant::now() < deadline, "{:?}", sandbox.ports());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let listed: Vec<u16> = sandbox.ports().iter().map(|one| one.port).collect();
    assert_eq!(listed, [8123, 8124]);
    // The person's own instance is another one.
    let holder = UserId::new();
    sandbox.set_lease_holder(LeaseHolder::Person(holder)).await;
    let refused = sandbox.open(StreamTarget::Code, Actor::Agent).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused, ComputerError::Refused { was_begun: false });
    let own = sandbox
        .open(StreamTarget::Code, Actor::Person(holder))
        .await;
    drop(own.unwrap());
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    assert_eq!(said(&*sandbox, processes).await, "0");
    world.end().await;
}
