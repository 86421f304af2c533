//! The link to the runner, in good times and bad.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    action::Action,
    id::{RequestId, SessionId, UserId},
    sandbox::{Actor, ComputerError, ComputerReply, ComputerRequest, Driver},
};
use futures::{SinkExt, StreamExt, channel::mpsc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use crate::support::{World, said, shell};

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
    let first = sandbox
        .perform(id, Actor::Agent, shell(":count"), None)
        .await;
    let again = sandbox
        .perform(id, Actor::Agent, shell(":count"), None)
        .await;
    assert_eq!(first, again);
    assert_eq!(said(&*sandbox, ":count").await, "2");
    world.end().await;
}

#[tokio::test]
async fn two_callers_with_one_id_get_one_answer() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let id = RequestId::new();
    let (one, two) = tokio::join!(
        sandbox.perform(id, Actor::Agent, shell(":count"), None),
        sandbox.perform(id, Actor::Agent, shell(":count"), None),
    );
    assert_eq!(one, two);
    world.end().await;
}

#[tokio::test]
async fn a_request_can_be_cancelled() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let id = RequestId::new();
    let (answer, ()) = tokio::join!(
        sandbox.perform(id, Actor::Agent, shell(":hang"), None),
        async {
            // It is answered only after it was sent, so this tells that the other was too.
            said(&*sandbox, "true").await;
            sandbox.cancel(id).await;
        }
    );
    assert_eq!(answer, Err(ComputerError::Cancelled));
    world.end().await;
}

#[tokio::test]
async fn a_stop_during_a_request_leaves_its_fate_unknown() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let (answer, ()) = tokio::join!(
        sandbox.perform(RequestId::new(), Actor::Agent, shell(":hang"), None),
        async {
            said(&*sandbox, "true").await;
            sandbox.stop().await;
        }
    );
    assert_eq!(answer, Err(ComputerError::FateUnknown));
    world.end().await;
}

#[tokio::test]
async fn progress_and_refusals_reach_the_caller() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let (sender, receiver) = mpsc::channel(8);
    let answer = sandbox
        .perform(
            RequestId::new(),
            Actor::Agent,
            shell(":progress"),
            Some(sender),
        )
        .await;
    assert!(matches!(answer, Ok(ComputerReply::Shell(_))), "{answer:?}");
    assert_eq!(
        receiver.collect::<Vec<_>>().await,
        [Bytes::from("one"), Bytes::from("two")]
    );

    let act = ComputerRequest::Act {
        action: Action::Screenshot,
        look: true,
        shown: None,
    };
    let answer = sandbox
        .perform(RequestId::new(), Actor::Agent, act, None)
        .await;
    assert!(matches!(answer, Err(ComputerError::Failed(text)) if text.starts_with("not here")));
    world.end().await;
}

#[tokio::test]
async fn a_stream_carries_bytes_both_ways_and_holds_back_who_is_too_fast() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let mut stream = sandbox.open_screen().await.unwrap();

    // Nobody reads what comes back, so sooner or later nothing more goes in.
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
        // It is finished in a later round if it was not in this one.
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
async fn callers_without_the_token_are_refused() {
    let world = World::new();
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    let socket = world.folder(session).join("run/runner.sock");
    let wrong = format!("Authorization: Bearer {}\r\n", "0".repeat(64));
    for path in ["/runner", "/runner/streams/1", "/"] {
        for authorization in ["", "Authorization: Bearer \r\n", &wrong] {
            let mut stream = UnixStream::connect(&socket).await.unwrap();
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
    // And the runner was not disturbed.
    assert_eq!(said(&*sandbox, "echo here").await, "here");
    world.end().await;
}

#[tokio::test]
async fn who_drives_is_known_to_the_runner_whatever_happens_to_the_link() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let user = UserId::new();
    let hanging = RequestId::new();
    let (cut_off, ()) = tokio::join!(
        sandbox.perform(hanging, Actor::Agent, shell(":hang"), None),
        async {
            said(&*sandbox, "true").await;
            sandbox.set_driver(Driver::Only(user)).await;
        }
    );
    assert_eq!(cut_off, Err(ComputerError::Refused { was_begun: true }));
    let ask = async |actor, command| {
        let id = RequestId::new();
        sandbox.perform(id, actor, shell(command), None).await
    };
    let refused = Err(ComputerError::Refused { was_begun: false });
    assert_eq!(ask(Actor::Agent, "true").await, refused);
    // The stand-in forgets who drives when it dials again; the server has to say it first.
    let dropped = ask(Actor::Person(user), ":forget").await;
    assert!(dropped.is_ok(), "{dropped:?}");
    assert_eq!(ask(Actor::Agent, "true").await, refused);
    sandbox.set_driver(Driver::Anybody).await;
    assert_eq!(said(&*sandbox, "echo here").await, "here");
    world.end().await;
}
