//! Rules about the beginning and the end of sandboxes.

use std::sync::Arc;

use deskhand_core::{
    id::{SessionId, UserId},
    sandbox::{
        Actor, CheckState, ComputerError, Network, Sandbox, SandboxEnd, SandboxSpec,
        StartSandboxError, StreamTarget,
    },
};
use futures::StreamExt;

use super::{Subject, command, perform, said, spec};

pub(super) async fn a_stopped_sandbox_keeps_its_files(
    subject: &Subject,
    session: SessionId,
    sandbox: &Arc<dyn Sandbox>,
) {
    said(&**sandbox, "echo kept > ~/file").await;
    let watcher = Actor::Person(UserId::new());
    let mut screen = sandbox.open(StreamTarget::Screen, watcher).await.unwrap();
    sandbox.stop().await;
    assert_eq!(sandbox.ended().await, SandboxEnd::Stopped);
    while screen.incoming.next().await.is_some() {}
    assert_eq!(
        perform(&**sandbox, command("true")).await,
        Err(ComputerError::Gone)
    );
    let screen = sandbox.open(StreamTarget::Screen, watcher).await;
    assert!(matches!(screen, Err(ComputerError::Gone)), "{screen:?}");

    let again = subject.claim(session).await;
    assert_eq!(said(&*again, "cat ~/file").await, "kept\n");
    again.stop().await;
}

pub(super) async fn a_second_claim_replaces_the_first(subject: &Subject) {
    let session = SessionId::new();
    let first = subject.claim(session).await;
    assert_eq!(subject.sandboxes.usage().await.n_running, 1);
    let second = subject.claim(session).await;
    assert_eq!(first.ended().await, SandboxEnd::Stopped);
    assert_eq!(said(&*second, "echo here").await, "here\n");
    second.stop().await;
}

pub(super) async fn a_death_is_noticed(subject: &Subject) {
    let session = SessionId::new();
    let sandbox = subject.claim(session).await;
    said(&*sandbox, "echo kept > ~/file").await;
    let deadly = command(subject.deadly_command);
    let lost = perform(&*sandbox, deadly).await;
    assert_eq!(lost, Err(ComputerError::FateUnknown));
    let end = sandbox.ended().await;
    assert!(
        matches!(&end, SandboxEnd::Died(cause) if !cause.is_empty()),
        "{end:?}"
    );
    assert_eq!(
        perform(&*sandbox, command("true")).await,
        Err(ComputerError::Gone)
    );
    let again = subject.claim(session).await;
    assert_eq!(said(&*again, "cat ~/file").await, "kept\n");
    again.stop().await;
}

pub(super) async fn files_are_listed_and_removed(subject: &Subject) {
    let session = SessionId::new();
    let sandbox = subject.claim(session).await;
    let has_files = async || {
        let sessions = subject.sandboxes.sessions_with_files().await;
        sessions.unwrap().contains(&session)
    };
    assert!(has_files().await);
    // It is still running, and is ended first.
    subject.sandboxes.remove_files(session).await.unwrap();
    assert_eq!(sandbox.ended().await, SandboxEnd::Stopped);
    assert!(!has_files().await);
    subject.sandboxes.remove_files(session).await.unwrap();
}

pub(super) async fn a_spec_is_honoured_or_refused_by_name(subject: &Subject) {
    let image = SandboxSpec {
        image: Some("debian".to_owned()),
        ..spec()
    };
    let network = SandboxSpec {
        network: Network::Connected,
        ..spec()
    };
    for (spec, word) in [(image, "image"), (network, "network")] {
        match subject.sandboxes.claim(SessionId::new(), spec).await {
            Ok(sandbox) => sandbox.stop().await,
            Err(StartSandboxError::Unsupported { what, .. }) => {
                assert!(what.contains(word), "{what}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

pub(super) async fn a_sandbox_may_be_started_ahead(subject: &Subject) {
    let spare = match subject.sandboxes.start(spec()).await {
        Ok(spare) => spare,
        Err(StartSandboxError::Unsupported { what, .. }) => {
            assert!(what.contains("session"), "{what}");
            return;
        }
        Err(other) => panic!("{other:?}"),
    };
    let session = SessionId::new();
    let claimed = subject.claim(session).await;
    said(&*claimed, "echo mine > ~/file").await;
    assert_eq!(said(&*spare, "cat ~/file").await, "mine\n");
    claimed.stop().await;
    let again = subject.claim(session).await;
    assert_eq!(said(&*again, "cat ~/file").await, "mine\n");
    again.stop().await;
}

pub(super) async fn stop_all_ends_everything(subject: &Subject) {
    let sandboxes = &subject.sandboxes;
    sandboxes.check().await.unwrap();
    for check in sandboxes.doctor().await {
        assert_ne!(check.state, CheckState::Missing, "{check:?}");
    }
    let sandbox = subject.claim(SessionId::new()).await;
    sandboxes.stop_all().await;
    assert_eq!(sandbox.ended().await, SandboxEnd::Stopped);
    assert_eq!(sandboxes.usage().await.n_running, 0);
    let late = sandboxes.claim(SessionId::new(), spec()).await;
    assert!(
        matches!(late, Err(StartSandboxError::Failed(_))),
        "{late:?}"
    );
}
