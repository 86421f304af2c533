//! The link to the runner, with and without failures.

use std::{fs, path::PathBuf, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    action::Action,
    id::{RequestId, SessionId, UserId},
    sandbox::{Act, Actor, Call, ComputerError, ComputerExt, LeaseHolder, Sandbox, StreamTarget},
    shell::ShellOutput,
};
use futures::{SinkExt, StreamExt, channel::mpsc};
use rustix::process::geteuid;
use tokio::{io::AsyncReadExt, net::UnixStream, time::timeout};

use crate::support::{World, said, shell};

/// Runs a command with this request id.
async fn ask(
    sandbox: &dyn Sandbox,
    id: RequestId,
    command: &str,
) -> Result<ShellOutput, ComputerError> {
    let call = Call {
        id,
        ..Call::by(Actor::Agent)
    };
    sandbox.perform(call, shell(command)).await
}

#[tokio::test]
async fn a_broken_connection_costs_no_request_and_does_nothing_twice() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    assert_eq!(said(&*sandbox, ":drop").await, "after all");
    assert_eq!(said(&*sandbox, ":drop").await, "after all");
    assert_eq!(said(&*sandbox, ":count").await, "3");
    world.end().await;
}

#[tokio::test]
async fn an_id_that_was_used_is_answered_from_memory() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let id = RequestId::new();
    let first = ask(&*sandbox, id, ":count").await;
    let again = ask(&*sandbox, id, ":count").await;
    assert_eq!(first, again);
    assert_eq!(said(&*sandbox, ":count").await, "2");
    world.end().await;
}

#[tokio::test]
async fn two_callers_with_one_id_get_one_answer() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let id = RequestId::new();
    let (one, two) = tokio::join!(ask(&*sandbox, id, ":count"), ask(&*sandbox, id, ":count"),);
    assert_eq!(one, two);
    world.end().await;
}

#[tokio::test]
async fn a_request_can_be_cancelled() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let id = RequestId::new();
    let (answer, ()) = tokio::join!(ask(&*sandbox, id, ":hang"), async {
        // This is answered only after it was sent, so the other request was sent too.
        said(&*sandbox, "true").await;
        sandbox.cancel(id).await;
    });
    assert_eq!(answer, Err(ComputerError::Cancelled));
    world.end().await;
}

#[tokio::test]
async fn a_stop_during_a_request_leaves_its_fate_unknown() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let (answer, ()) = tokio::join!(ask(&*sandbox, RequestId::new(), ":hang"), async {
        said(&*sandbox, "true").await;
        sandbox.stop().await;
    });
    assert_eq!(answer, Err(ComputerError::FateUnknown));
    world.end().await;
}

#[tokio::test]
async fn progress_and_refusals_reach_the_caller() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let (sender, receiver) = mpsc::channel(8);
    let call = Call {
        progress: Some(sender),
        ..Call::by(Actor::Agent)
    };
    let answer = sandbox.perform(call, shell(":progress")).await;
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(
        receiver.collect::<Vec<_>>().await,
        [Bytes::from("one"), Bytes::from("two")]
    );

    let act = Act {
        action: Action::Screenshot,
        look: true,
        shown: None,
    };
    let answer = sandbox.perform(Call::by(Actor::Agent), act).await;
    assert!(matches!(answer, Err(ComputerError::Failed(text)) if text.starts_with("not here")));
    world.end().await;
}

#[tokio::test]
async fn a_stream_carries_bytes_both_ways_and_holds_back_who_is_too_fast() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let mut stream = sandbox
        .open(StreamTarget::Screen, Actor::Agent)
        .await
        .unwrap();

    // Nothing reads the bytes that come back, so sooner or later nothing more can be sent.
    let piece = Bytes::from(vec![7; 64 * 1024]);
    let mut n_sent: usize = 0;
    while let Ok(sent) = timeout(
        Duration::from_millis(500),
        stream.outgoing.feed(piece.clone()),
    )
    .await
    {
        sent.unwrap();
        n_sent += piece.len();
        assert!(n_sent < 16 * 1024 * 1024, "nothing holds it back");
    }
    println!("{n_sent} bytes were under way");

    let mut n_received = 0;
    while n_received < n_sent {
        let (piece, flushed) = tokio::join!(
            stream.incoming.next(),
            timeout(Duration::from_millis(1), stream.outgoing.flush())
        );
        // The flush may finish in a later round.
        let _ = flushed;
        let piece = piece.unwrap();
        assert!(piece.iter().all(|byte| *byte == 7));
        n_received += piece.len();
    }
    sandbox.stop().await;
    assert_eq!(stream.incoming.next().await, None);
    world.end().await;
}

#[tokio::test]
async fn other_processes_than_the_runner_take_no_places_on_its_link() {
    let world = World::new();
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    let socket = socket_of(&world, session);
    // More than there are places for handshakes, none of which is ever finished.
    let mut others = Vec::new();
    for _ in 0..32 {
        others.push(UnixStream::connect(&socket).await.unwrap());
    }
    let opened = sandbox.open(StreamTarget::Screen, Actor::Agent).await;
    assert!(opened.is_ok(), "{opened:?}");
    for mut other in others {
        let mut answer = String::new();
        other.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "");
    }
    assert_eq!(said(&*sandbox, "echo here").await, "here");
    world.end().await;
}

#[tokio::test]
async fn the_runner_knows_the_lease_holder_even_if_the_link_breaks() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let user = UserId::new();
    let hanging = RequestId::new();
    let (cut_off, ()) = tokio::join!(ask(&*sandbox, hanging, ":hang"), async {
        said(&*sandbox, "true").await;
        sandbox.set_lease_holder(LeaseHolder::Person(user)).await;
    });
    assert_eq!(cut_off, Err(ComputerError::Refused { was_begun: true }));
    let ask = async |actor, command| sandbox.perform(Call::by(actor), shell(command)).await;
    let refused = Err(ComputerError::Refused { was_begun: false });
    assert_eq!(ask(Actor::Agent, "true").await, refused);
    // The stand-in forgets the lease holder when it dials again, so the server has to send it first.
    let dropped = ask(Actor::Person(user), ":forget").await;
    assert!(dropped.is_ok(), "{dropped:?}");
    assert_eq!(ask(Actor::Agent, "true").await, refused);
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    assert_eq!(said(&*sandbox, "echo here").await, "here");
    world.end().await;
}

/// Returns the path of a runner's socket. For a server that is root, it is in memory, where bubblewrap sees it.
fn socket_of(world: &World, session: SessionId) -> PathBuf {
    if !geteuid().is_root() {
        return world.folder(session).join("run/runner.sock");
    }
    let name = format!("deskhand-sandbox-{session}");
    let is_it = |process: &PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        line.starts_with(name.as_bytes())
    };
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let outer = processes.find_map(|entry| Some(entry.path()).filter(is_it));
    let sockets = outer.unwrap().join("root/mnt/sockets");
    sockets.join(session.to_string()).join("runner.sock")
}
