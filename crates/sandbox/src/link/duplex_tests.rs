//! The link without a socket: both real ends over memory.

use std::{io, sync::Arc, time::Duration};

use deskhand_core::{
    action::{Action, Point, ScreenSize},
    computer::ComputerKind,
    id::UserId,
    sandbox::{
        Act, Actor, Call, ComputerError, LeaseHolder, LeaseOutcome, RunnerReply, RunnerRequest,
        StreamTarget,
    },
    secret::Secret,
    shell::ShellRequest,
    tasks::Tasks,
};
use deskhand_runner::Dialler;
use deskhand_runner_protocol::{Connection, RunnerConfig};
use futures::{FutureExt, StreamExt, channel::mpsc, future::BoxFuture};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    Link, Status,
    accept::{Dialled, accept_all},
};

const BUFFER_BYTES: usize = 64 * 1024;

/// Hands the other end of a new in-memory pipe to the server.
#[derive(Debug)]
struct MemoryDialler(mpsc::UnboundedSender<io::Result<Dialled>>);

impl Dialler for MemoryDialler {
    fn connect(&self) -> BoxFuture<'_, io::Result<Connection>> {
        let (here, there) = tokio::io::duplex(BUFFER_BYTES);
        let dialled = Dialled {
            connection: Box::new(there),
            pid: None,
        };
        let sent = self.0.unbounded_send(Ok(dialled));
        let connected = sent.map(|()| Box::new(here) as Connection);
        let connected = connected.map_err(|_closed| io::ErrorKind::ConnectionRefused.into());
        std::future::ready(connected).boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_needs_no_socket() {
    let token = Secret::new("a token for the test");
    let link = Arc::new(Link::new(token.clone(), None, None));
    let tasks = Tasks::default();
    let (dialled, connections) = mpsc::unbounded();
    tasks.spawn(
        "link",
        accept_all(connections, Arc::clone(&link), tasks.clone()),
    );
    let config = RunnerConfig {
        variables: Default::default(),
        socket: String::new(),
        token,
        computer: ComputerKind::Desktop,
        screen: ScreenSize {
            width: 640,
            height: 480,
        },
        settle_quiet_ms: 20,
        settle_max_ms: 500,
        shell_output_bytes: 64 * 1024,
        browser_scripts: false,
        browser: Vec::new(),
        is_alone: false,
        gateway: None,
        network: None,
        network_connections: 0,
        code: Vec::new(),
    };
    let dialler = Arc::new(MemoryDialler(dialled));
    let runner = tasks.spawn("runner", deskhand_runner::run_over(config, None, dialler));
    assert!(matches!(link.started().await, Status::Ready(_)));

    let ask = |request: RunnerRequest| link.carry_out(Call::by(Actor::Agent), request);
    let echo = || ShellRequest::Run {
        command: "echo over memory".to_owned(),
        timeout_ms: 20_000,
    };
    let RunnerReply::Shell(output) = ask(RunnerRequest::Shell(echo())).await.unwrap() else {
        panic!("a shell command has a shell's reply");
    };
    assert_eq!(output.output, "over memory\n");
    let at = Point { x: 30, y: 40 };
    let look = Act {
        action: Action::Move { at },
        look: true,
        shown: None,
    };
    let RunnerReply::Act(acted) = ask(RunnerRequest::Act(look)).await.unwrap() else {
        panic!("an action has an action's reply");
    };
    assert_eq!(acted.pointer, Some(at));
    assert!(acted.frame.unwrap().bytes.starts_with(b"\x89PNG"));

    let mut screen = link
        .open_stream(StreamTarget::Screen, Actor::Agent)
        .await
        .unwrap();
    assert_eq!(&*screen.incoming.next().await.unwrap(), b"RFB 003.008\n");
    let holder = LeaseHolder::Person(deskhand_core::id::UserId::new());
    link.set_lease_holder(holder).await;
    let refused = ask(RunnerRequest::Shell(echo())).await;
    assert_eq!(refused, Err(ComputerError::Refused { was_begun: false }));

    runner.abort();
    link.end();
    assert!(tasks.end(Duration::from_secs(60)).await);
}

#[tokio::test]
async fn callers_without_the_token_are_refused() {
    let link = Arc::new(Link::new(Secret::new("a token for the test"), None, None));
    let tasks = Tasks::default();
    let (dialled, connections) = mpsc::unbounded();
    tasks.spawn(
        "link",
        accept_all(connections, Arc::clone(&link), tasks.clone()),
    );
    let dialler = MemoryDialler(dialled);
    let wrong = "Authorization: Bearer another token\r\n";
    for path in ["/runner", "/runner/streams/1", "/"] {
        for authorization in ["", "Authorization: Bearer \r\n", wrong] {
            let mut stream = dialler.connect().await.unwrap();
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: runner\r\nConnection: Upgrade\r\n\
                 Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{authorization}\r\n"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 401 "), "{path}: {answer}");
        }
    }
    link.end();
    assert!(tasks.end(Duration::from_secs(60)).await);
}

#[tokio::test]
async fn slow_programs_do_not_keep_people_from_the_screen() {
    let link = Link::new(Secret::new("a token for the test"), None, None);
    let open = |target| Box::pin(link.open_stream(target, Actor::Agent));
    let mut ports: Vec<_> = (0..20)
        .map(|_| open(StreamTarget::Port { port: 3000 }))
        .collect();
    for port in &mut ports {
        assert!(futures::poll!(port).is_pending());
    }
    let n_asked = link.state().streams.len();
    assert!(n_asked < ports.len(), "some wait for others");
    let mut screen = open(StreamTarget::Screen);
    assert!(futures::poll!(&mut screen).is_pending());
    assert_eq!(link.state().streams.len(), n_asked + 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_over_while_the_runner_is_away() {
    let link = Link::new(Secret::new("a token for the test"), None, None);
    let person = LeaseHolder::Person(UserId::new());
    assert_eq!(link.set_lease_holder(person).await, LeaseOutcome::Set);

    // The programs that it started run on meanwhile.
    link.state().was_ready = true;
    let another = LeaseHolder::Person(UserId::new());
    let outcome = link.set_lease_holder(another).await;
    assert!(matches!(outcome, LeaseOutcome::Watched(_)), "{outcome:?}");
}
