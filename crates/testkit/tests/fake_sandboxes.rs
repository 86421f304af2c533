//! The fake provider of sandboxes, held against the suite that real ones pass.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    action::ScreenSize,
    id::SessionId,
    sandbox::{Actor, Call, ComputerExt, Lifecycle, SandboxSpec},
    shell::{ShellEnding, ShellRequest},
    tasks::Tasks,
};
use deskhand_testkit::{
    conformance::{self, Subject},
    sandboxes::{DEADLY_COMMAND, FakeCommand, FakeSandboxes},
};

#[tokio::test(start_paused = true)]
async fn the_fake_conforms() {
    let tasks = Tasks::default();
    conformance::provider(Subject {
        sandboxes: Arc::new(FakeSandboxes::new(tasks.clone())),
        deadly_command: DEADLY_COMMAND,
    })
    .await;
    assert!(tasks.end(Duration::from_secs(60)).await);
}

#[tokio::test(start_paused = true)]
async fn commands_can_be_scripted() {
    let sandboxes = FakeSandboxes::default();
    let make = FakeCommand {
        output: "built\n".to_owned(),
        code: 2,
        takes: Duration::from_secs(90),
    };
    sandboxes.on_command("make", make);
    let spec = SandboxSpec::new(ScreenSize::default());
    let sandbox = sandboxes.claim(SessionId::new(), spec).await.unwrap();
    let run = |timeout_ms| ShellRequest::Run {
        command: "make".to_owned(),
        timeout_ms,
    };
    let call = || Call::by(Actor::Agent);
    let done = sandbox.perform(call(), run(120_000)).await.unwrap();
    assert_eq!(done.ending, ShellEnding::Exited { code: 2 });
    let late = sandbox.perform(call(), run(60_000)).await.unwrap();
    assert_eq!(late.ending, ShellEnding::TimedOut { after_ms: 60_000 });
    assert_eq!((&*done.output, &*late.output), ("built\n", "built\n"));
}
