//! Rules of a running sandbox.

use bytes::Bytes;
use deskhand_core::{
    action::{Action, Point},
    blob::BlobFormat,
    browser::ElementAt,
    edit::EditCommand,
    id::{RequestId, UserId},
    sandbox::{
        Act, Actor, Call, ComputerError, ComputerExt, CoverSecrets, FindElement, FindField,
        LeaseHolder, Look, PutFile, Sandbox, StreamTarget, TypeSecret,
    },
    secret::Secret,
    shell::{ShellEnding, ShellRequest},
    vault::Filling,
};
use futures::{SinkExt, StreamExt, channel::mpsc};

use super::{SCREEN, command, first_piece, perform, said};

pub(super) async fn shell_commands_run_and_report_their_end(sandbox: &dyn Sandbox) {
    assert_eq!(said(sandbox, "echo hello").await, "hello\n");
    let failed = perform(sandbox, command("false")).await.unwrap();
    assert_eq!(failed.ending, ShellEnding::Exited { code: 1 });
    let ended = perform(sandbox, command("exit 3")).await.unwrap();
    assert_eq!(ended.ending, ShellEnding::ShellEnded { code: 3 });
    let slow = ShellRequest::Run {
        command: "echo begun; sleep 60".to_owned(),
        timeout_ms: 1_500,
    };
    let slow = perform(sandbox, slow).await.unwrap();
    assert_eq!(slow.ending, ShellEnding::TimedOut { after_ms: 1_500 });
    assert_eq!(slow.output, "begun\n");
    let restarted = perform(sandbox, ShellRequest::Restart).await.unwrap();
    assert_eq!(restarted.ending, ShellEnding::Restarted);
}

pub(super) async fn the_screen_is_shown_and_acted_on(sandbox: &dyn Sandbox) {
    let act = |action, look| Act {
        action,
        look,
        shown: None,
    };
    let at = Point { x: 30, y: 40 };
    let moved = act(Action::Move { at }, false);
    let moved = perform(sandbox, moved).await.unwrap();
    assert_eq!((moved.pointer, moved.frame), (Some(at), None));
    let to = Point { x: 50, y: 60 };
    let drag = Action::Drag {
        path: vec![to],
        modifiers: Vec::new(),
    };
    let dragged = perform(sandbox, act(drag, false)).await.unwrap();
    assert_eq!(
        (dragged.dragged_from, dragged.pointer),
        (Some(at), Some(to))
    );
    let position = act(Action::CursorPosition, false);
    let position = perform(sandbox, position).await.unwrap();
    assert_eq!(position.pointer, Some(to));

    let look = Look {
        format: BlobFormat::Png,
        shown: None,
    };
    let frame = perform(sandbox, look).await.unwrap();
    assert_eq!((frame.size, frame.pointer), (SCREEN, to));
    assert!(frame.bytes.starts_with(b"\x89PNG"));
    let seen = perform(sandbox, act(Action::Screenshot, false)).await;
    assert!(seen.unwrap().frame.is_some(), "a look always has a picture");

    let outside = Action::Move {
        at: Point { x: 640, y: 0 },
    };
    let outside = perform(sandbox, act(outside, false)).await;
    assert!(
        matches!(outside, Err(ComputerError::Failed(_))),
        "{outside:?}"
    );
}

pub(super) async fn files_are_edited_and_put(sandbox: &dyn Sandbox) {
    let path = "/home/agent/note.txt".to_owned();
    let create = EditCommand::Create {
        path: path.clone(),
        file_text: "one\ntwo\n".to_owned(),
    };
    perform(sandbox, create).await.unwrap();
    let replace = EditCommand::StrReplace {
        path: path.clone(),
        old_str: "two".to_owned(),
        new_str: "three".to_owned(),
    };
    perform(sandbox, replace).await.unwrap();
    let view = EditCommand::View {
        path: path.clone(),
        view_range: None,
    };
    let shown = perform(sandbox, view).await.unwrap().text;
    assert!(shown.contains("     2\tthree"), "{shown}");
    perform(sandbox, EditCommand::UndoEdit { path })
        .await
        .unwrap();
    assert_eq!(said(sandbox, "cat ~/note.txt").await, "one\ntwo\n");
    let missing = EditCommand::View {
        path: "/home/agent/nowhere".to_owned(),
        view_range: None,
    };
    let missing = perform(sandbox, missing).await;
    assert!(
        matches!(missing, Err(ComputerError::Failed(_))),
        "{missing:?}"
    );

    let put = |name: &str| PutFile {
        folder: "answers/1".to_owned(),
        name: name.to_owned(),
        bytes: Bytes::from_static(b"given\n"),
    };
    let kept = perform(sandbox, put("a.txt")).await.unwrap();
    assert_eq!(kept.path, "/home/agent/answers/1/a.txt");
    assert_eq!(said(sandbox, "cat ~/answers/1/a.txt").await, "given\n");
    let outside = perform(sandbox, put("..")).await;
    assert!(
        matches!(outside, Err(ComputerError::Failed(_))),
        "{outside:?}"
    );
}

pub(super) async fn secrets_need_a_focused_field(sandbox: &dyn Sandbox) {
    let value = Secret::new("correct horse");
    let cover = CoverSecrets {
        values: vec![value.clone()],
    };
    perform(sandbox, cover).await.unwrap();
    let found = perform(sandbox, FindField).await;
    assert!(matches!(found, Err(ComputerError::Failed(_))), "{found:?}");
    let filling = Filling {
        value,
        frame: "a frame".to_owned(),
        origin: "https://example.com".parse().unwrap(),
    };
    let typed = perform(sandbox, TypeSecret { filling }).await;
    let Err(ComputerError::Failed(problem)) = typed else {
        panic!("no field has the focus: {typed:?}");
    };
    assert!(!problem.contains("correct horse"), "{problem}");
    let at = ElementAt::PageDialog { tab: None };
    let found = perform(sandbox, FindElement { at }).await.unwrap();
    assert_eq!(found.element, None, "no page has a dialog");
}

pub(super) async fn a_request_id_is_carried_out_once(sandbox: &dyn Sandbox) {
    let id = RequestId::new();
    let count = || async {
        let call = Call {
            id,
            ..Call::by(Actor::Agent)
        };
        let count = command("echo x >> ~/count; echo done");
        sandbox.perform(call, count).await.unwrap()
    };
    let (one, two) = tokio::join!(count(), count());
    assert_eq!((&one, &two), (&count().await, &one));
    assert_eq!(said(sandbox, "cat ~/count").await, "x\n");
}

pub(super) async fn a_request_can_be_cancelled(sandbox: &dyn Sandbox) {
    let (sender, mut pieces) = mpsc::channel(8);
    let call = Call {
        progress: Some(sender),
        ..Call::by(Actor::Agent)
    };
    let id = call.id;
    let (answer, queued, ()) = tokio::join!(
        sandbox.perform(call, command("echo begun; sleep 60")),
        async {
            let call = Call::by(Actor::Agent);
            let id = call.id;
            let queued = sandbox.perform(call, command("echo never"));
            tokio::join!(queued, sandbox.cancel(id)).0
        },
        async {
            assert_eq!(first_piece(&mut pieces).await, "begun\n");
            sandbox.cancel(id).await;
        }
    );
    let answer = answer.unwrap();
    assert_eq!(answer.ending, ShellEnding::Interrupted);
    assert_eq!(answer.output, "begun\n");
    assert_eq!(queued, Err(ComputerError::Cancelled));
    // A finished request can no longer be cancelled, and an unknown one is ignored.
    sandbox.cancel(id).await;
    sandbox.cancel(RequestId::new()).await;
}

pub(super) async fn the_lease_decides_who_is_obeyed(sandbox: &dyn Sandbox) {
    let (holder, other) = (UserId::new(), UserId::new());
    let (sender, mut pieces) = mpsc::channel(8);
    let call = Call {
        progress: Some(sender),
        ..Call::by(Actor::Agent)
    };
    let (cut_off, ()) = tokio::join!(
        sandbox.perform(call, command("echo begun; sleep 60; echo secret")),
        async {
            first_piece(&mut pieces).await;
            sandbox.set_lease_holder(LeaseHolder::Person(holder)).await;
        }
    );
    assert_eq!(cut_off, Err(ComputerError::Refused { was_begun: true }));
    assert_eq!(pieces.next().await, None, "nothing more is told");
    let refused = Err(ComputerError::Refused { was_begun: false });
    for actor in [Actor::Agent, Actor::Person(other)] {
        let asked = sandbox.perform(Call::by(actor), command("echo x > ~/refused"));
        assert_eq!(asked.await, refused);
        let look = Look {
            format: BlobFormat::Png,
            shown: None,
        };
        let looked = sandbox.perform(Call::by(actor), look).await;
        assert_eq!(looked, Err(ComputerError::Refused { was_begun: false }));
    }
    let own = Call::by(Actor::Person(holder));
    let own = sandbox.perform(own, command("echo own")).await.unwrap();
    assert_eq!(own.output, "own\n");
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    let left = perform(sandbox, command("cat ~/refused")).await.unwrap();
    assert_eq!(left.ending, ShellEnding::Exited { code: 1 });
}

pub(super) async fn the_screen_can_be_watched(sandbox: &dyn Sandbox) {
    let watcher = Actor::Person(UserId::new());
    let mut screen = sandbox.open(StreamTarget::Screen, watcher).await.unwrap();
    let greeting = Bytes::from_static(b"RFB 003.008\n");
    assert_eq!(screen.incoming.next().await, Some(greeting.clone()));
    screen.outgoing.send(greeting).await.unwrap();
    // One kind of security: none.
    let security = screen.incoming.next().await;
    assert_eq!(security, Some(Bytes::from_static(b"\x01\x01")));
}
