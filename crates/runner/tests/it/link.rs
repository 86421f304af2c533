//! A whole run: a real desktop, shell and editor behind the link, and a fake server.

mod server;

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    action::{Action, Button, Point, ScreenSize},
    blob::BlobFormat,
    edit::EditCommand,
    id::{RequestId, UserId},
    sandbox::{Act, Actor, Edited, LeaseHolder, Look, RunnerReply, RunnerRequest, StreamTarget},
    shell::{ShellEnding, ShellRequest},
};
use deskhand_runner::RunError;
use deskhand_runner_protocol::{FromRunner, Outcome, ToRunner, stream_path};
use futures::SinkExt;
use tokio_tungstenite::tungstenite::Message;
use x11rb::{
    connection::Connection,
    protocol::xproto::{ConnectionExt, KeyButMask},
    rust_connection::RustConnection,
};

use self::server::{PATIENCE, SCREEN, Server};

fn shell(command: impl Into<String>) -> RunnerRequest {
    RunnerRequest::Shell(ShellRequest::Run {
        command: command.into(),
        timeout_ms: 20_000,
    })
}

fn act(action: Action) -> RunnerRequest {
    RunnerRequest::Act(Act {
        action,
        look: false,
        shown: None,
    })
}

fn look(format: BlobFormat) -> RunnerRequest {
    RunnerRequest::Look(Look {
        format,
        shown: None,
    })
}

fn shown(outcome: Outcome) -> String {
    let Outcome::Done(RunnerReply::Shell(output)) = outcome else {
        panic!("{outcome:?}")
    };
    output.output
}

#[tokio::test(flavor = "multi_thread")]
async fn the_computer_is_served_over_the_link() {
    let server = Server::start();
    let mut control = server.ready().await;

    let outcome = control.outcome_of(shell("echo $DISPLAY")).await;
    assert!(shown(outcome).starts_with(':'));

    let path = server.file("note.txt").to_str().unwrap().to_owned();
    let create = EditCommand::Create {
        path: path.clone(),
        file_text: "hello\n".to_owned(),
    };
    let outcome = control.outcome_of(RunnerRequest::Edit(create)).await;
    assert_eq!(
        outcome,
        Outcome::Done(RunnerReply::Edit(Edited {
            text: format!("Created {path}.")
        }))
    );
    let missing = EditCommand::View {
        path: "/nonexistent".to_owned(),
        view_range: None,
    };
    let outcome = control.outcome_of(RunnerRequest::Edit(missing)).await;
    assert!(matches!(outcome, Outcome::Failed { .. }));

    control
        .outcome_of(act(Action::Move {
            at: Point { x: 30, y: 40 },
        }))
        .await;
    let outcome = control.outcome_of(look(BlobFormat::Png)).await;
    let Outcome::Done(RunnerReply::Look(frame)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (frame.size, frame.pointer),
        (SCREEN, Point { x: 30, y: 40 })
    );
    assert!(frame.bytes.starts_with(b"\x89PNG"));

    let screenshot = RunnerRequest::Act(Act {
        action: Action::Screenshot,
        look: true,
        shown: None,
    });
    let outcome = control.outcome_of(screenshot).await;
    let Outcome::Done(RunnerReply::Act(acted)) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(acted.frame.unwrap().bytes.starts_with(b"\x89PNG"));

    let outside = act(Action::Move {
        at: Point { x: 640, y: 0 },
    });
    let outcome = control.outcome_of(outside).await;
    assert!(matches!(outcome, Outcome::Failed { problem } if problem.contains("outside")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_never_done_twice() {
    let server = Server::start();
    let mut control = server.ready().await;
    let file = server.file("done");
    let request = shell(format!("echo x >>{}; echo done", file.display()));
    let id = RequestId::new();
    let message = ToRunner::Request {
        id,
        actor: Actor::Agent,
        request,
    };
    control.send(&message).await;
    control.send(&message).await;
    let (done, first) = control.result().await;
    assert_eq!(done, id);
    control.send(&message).await;
    let (again, second) = control.result().await;
    assert_eq!((again, &second), (id, &first));

    // The runner forgets the acknowledged result, but not that there was one.
    control.send(&ToRunner::Ack { id }).await;
    control.send(&message).await;
    let (_, outcome) = control.result().await;
    // A repeat that arrived while it ran may have been answered from memory as well.
    let outcome = if outcome == first {
        control.result().await.1
    } else {
        outcome
    };
    assert_eq!(
        outcome,
        Outcome::Failed {
            problem: "the request was already done".to_owned()
        }
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_survive_a_broken_link() {
    let server = Server::start();
    let mut control = server.ready().await;
    let file = server.file("count");
    let go = server.file("go");
    let acknowledged = control.request(shell("echo first")).await;
    control.result().await;
    control.send(&ToRunner::Ack { id: acknowledged }).await;
    let unacknowledged = control.request(shell("echo second")).await;
    let (_, second) = control.result().await;
    let command = format!(
        "mkfifo {0}; read x <{0}; echo x >>{1}; echo third",
        go.display(),
        file.display()
    );
    let running = control.request(shell(command)).await;
    // Wait until it runs before the link breaks.
    while !go.exists() {
        tokio::task::yield_now().await;
    }
    drop(control);

    let mut control = server.ready().await;
    let (id, outcome) = control.result().await;
    assert_eq!((id, outcome), (unacknowledged, second));
    // The server asks again, because it does not know if the request had arrived.
    control
        .send(&ToRunner::Request {
            actor: Actor::Agent,
            id: running,
            request: shell("echo never"),
        })
        .await;
    tokio::task::spawn_blocking(move || std::fs::write(go, "x\n").unwrap())
        .await
        .unwrap();
    let (id, outcome) = control.result().await;
    assert_eq!((id, shown(outcome).as_str()), (running, "third\n"));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_can_be_cancelled_and_do_not_hold_each_other_up() {
    let server = Server::start();
    let mut control = server.ready().await;
    let wait = control.request(act(Action::Wait { ms: 60_000 })).await;
    let behind = control.request(act(Action::CursorPosition)).await;
    let sleep = control.request(shell("echo begun; sleep 100")).await;
    // The screen can be looked at while both are busy, and the command's output arrives while it runs.
    let look = control.request(look(BlobFormat::Jpeg)).await;
    let (mut has_looked, mut has_output) = (false, false);
    while !(has_looked && has_output) {
        let (message, bytes) = control.next().await;
        if message == (FromRunner::Progress { id: sleep }) {
            assert_eq!(&*bytes, b"begun\n");
            has_output = true;
        } else {
            let is_look = matches!(
                &message,
                FromRunner::Result { id, outcome: Outcome::Done(RunnerReply::Look(_)) } if *id == look
            );
            assert!(is_look, "{message:?}");
            has_looked = true;
        }
    }
    control.send(&ToRunner::Cancel { id: sleep }).await;
    let (id, outcome) = control.result().await;
    assert_eq!(id, sleep);
    assert!(
        matches!(&outcome, Outcome::Done(RunnerReply::Shell(output)) if output.ending == ShellEnding::Interrupted),
        "{outcome:?}"
    );
    control.send(&ToRunner::Cancel { id: wait }).await;
    assert_eq!(control.result().await, (wait, Outcome::Cancelled));
    // Actions run in order of arrival.
    assert_eq!(control.result().await.0, behind);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_screen_is_joined_to_a_stream() {
    let server = Server::start();
    let mut control = server.ready().await;
    control
        .send(&ToRunner::OpenStream {
            stream: 7,
            target: StreamTarget::Screen,
            actor: Actor::Agent,
        })
        .await;
    let mut stream = server.accept().await;
    assert_eq!(stream.path, stream_path(7));
    assert_eq!(&*stream.bytes().await, b"RFB 003.008\n");
    stream
        .socket
        .send(Message::Binary(Bytes::from_static(b"RFB 003.008\n")))
        .await
        .unwrap();
    // One security type: none.
    assert_eq!(&*stream.bytes().await, b"\x01\x01");
    // The end of a stream affects nothing else.
    drop(stream);
    let outcome = control.outcome_of(shell("echo on")).await;
    assert_eq!(shown(outcome), "on\n");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desktop_that_does_not_come_up_is_told_and_ends_the_runner() {
    let server = Server::start_with(ScreenSize {
        width: 0,
        height: 0,
    });
    let mut control = server.accept().await;
    let (message, _) = control.next().await;
    assert!(
        matches!(&message, FromRunner::StartFailed { problem } if !problem.is_empty()),
        "{message:?}"
    );
    let ended = tokio::time::timeout(PATIENCE, server.runner)
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(ended, Err(RunError::Desktop(_))), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_runner_ends_when_the_desktop_has_ended() {
    let server = Server::start();
    let _control = server.ready().await;
    assert!(
        kill_own_x_server(),
        "there is an X server below this process"
    );
    let ended = tokio::time::timeout(PATIENCE, server.runner)
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(ended, Err(RunError::DesktopEnded(_))), "{ended:?}");
}

/// Kills the X server among this process's children.
fn kill_own_x_server() -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let me = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    let mut killed = false;
    for stat in stats {
        let (before, after) = stat.rsplit_once(')').unwrap();
        let (pid, name) = before.split_once(" (").unwrap();
        let parent = after.split_whitespace().nth(1).unwrap();
        if parent == me && name.contains("vnc") {
            kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
            killed = true;
        }
    }
    killed
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_person_holds_the_lease_all_others_are_refused() {
    let server = Server::start();
    let mut control = server.ready().await;
    let (user, other) = (UserId::new(), UserId::new());
    let marks = server.file("marks");
    let mark = |text: &str| shell(format!("echo {text} >>{}", marks.display()));

    // Running requests are ended, and nothing of their output is reported.
    let long = control
        .request(shell("echo secret; sleep 300; echo more"))
        .await;
    loop {
        if matches!(control.next().await.0, FromRunner::Progress { id } if id == long) {
            break;
        }
    }
    let queued = control.request(mark("queued")).await;
    let holder = LeaseHolder::Person(user);
    control
        .send(&ToRunner::SetLeaseHolder { number: 1, holder })
        .await;
    let (mut ended, mut is_set) = (Vec::new(), false);
    while ended.len() < 2 || !is_set {
        match control.next().await.0 {
            FromRunner::LeaseHolderSet { number, .. } => is_set = number == 1,
            FromRunner::Result { id, outcome } => ended.push((id, outcome)),
            other @ (FromRunner::Ready { .. }
            | FromRunner::StartFailed { .. }
            | FromRunner::Progress { .. }
            | FromRunner::Notice { .. }
            | FromRunner::LastWords { .. }
            | FromRunner::Ports { .. }
            | FromRunner::StreamFailed { .. }) => panic!("{other:?}"),
        }
    }
    let refused = |was_begun| Outcome::Refused { was_begun };
    assert_eq!(ended, [(long, refused(true)), (queued, refused(false))]);

    for actor in [Actor::Agent, Actor::Person(other)] {
        for request in [
            mark("no"),
            act(Action::Screenshot),
            look(BlobFormat::Png),
            RunnerRequest::Edit(EditCommand::View {
                path: "/etc/hostname".to_owned(),
                view_range: None,
            }),
        ] {
            let asked = control.request_by(actor, request).await;
            assert_eq!(control.result().await, (asked, refused(false)));
        }
    }
    let own = control.request_by(Actor::Person(user), mark("own")).await;
    assert_eq!(control.result().await.0, own);

    // The lease holder is still in force on another link, until the runner is told otherwise.
    drop(control);
    let mut control = server.ready().await;
    let asked = control.request(mark("still no")).await;
    // Unacknowledged results come first.
    let outcome = loop {
        let (id, outcome) = control.result().await;
        if id == asked {
            break outcome;
        }
    };
    assert_eq!(outcome, refused(false));
    let holder = LeaseHolder::Nobody;
    control
        .send(&ToRunner::SetLeaseHolder { number: 2, holder })
        .await;
    let after = control.request(mark("after")).await;
    while control.result().await.0 != after {}
    assert_eq!(std::fs::read_to_string(marks).unwrap(), "own\nafter\n");
    server.stop().await;
}

/// The state of the buttons and keys of a display.
#[derive(Debug, PartialEq, Eq)]
struct Down {
    a_button: bool,
    a_key: bool,
}

fn down(display: &str) -> Down {
    let (x, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = x.setup().roots[screen].root;
    let mask = x.query_pointer(root).unwrap().reply().unwrap().mask;
    let keys = x.query_keymap().unwrap().reply().unwrap().keys;
    let buttons = KeyButMask::BUTTON1 | KeyButMask::BUTTON2 | KeyButMask::BUTTON3;
    Down {
        a_button: mask.intersects(buttons),
        a_key: keys.iter().any(|keys| *keys != 0),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_hold_is_let_go_before_somebody_takes_over() {
    let server = Server::start();
    let mut control = server.ready().await;
    let display = shown(control.outcome_of(shell("echo $DISPLAY")).await);
    let display = display.trim();
    let person = UserId::new();
    let press = || {
        act(Action::MouseDown {
            button: Button::Left,
        })
    };

    // A button that an action left down, and keys that another action holds.
    let nothing = Down {
        a_button: false,
        a_key: false,
    };
    control.outcome_of(press()).await;
    let keys = "ctrl+F2".to_owned();
    let hold = act(Action::HoldKey { keys, ms: 60_000 });
    control.request(hold).await;
    let both = Down {
        a_button: true,
        a_key: true,
    };
    while down(display) != both {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let holder = LeaseHolder::Person(person);
    control
        .send(&ToRunner::SetLeaseHolder { number: 1, holder })
        .await;
    control.lease_holder_set(1).await;
    assert_eq!(down(display), nothing);

    // With the same holder again, nothing that they hold is released.
    control.request_by(Actor::Person(person), press()).await;
    control.result().await;
    control
        .send(&ToRunner::SetLeaseHolder { number: 2, holder })
        .await;
    control.lease_holder_set(2).await;
    assert!(down(display).a_button);
    let holder = LeaseHolder::Nobody;
    control
        .send(&ToRunner::SetLeaseHolder { number: 3, holder })
        .await;
    control.lease_holder_set(3).await;
    assert_eq!(down(display), nothing);
    server.stop().await;
}
