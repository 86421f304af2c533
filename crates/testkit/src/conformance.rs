//! The conformance suite for sandbox providers: the behaviour that the rest of Deskhand relies on.
//!
//! Every provider runs it, including the fake one, so that a test with fake sandboxes shows what a real one would do.

mod browser;
mod computer;
mod files;
mod lifecycle;
mod terminals;

use std::sync::Arc;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    id::SessionId,
    sandbox::{
        Actor, Call, ComputerError, ComputerExt, ForRunner, Lifecycle, Operation, Sandbox,
        SandboxSpec,
    },
    shell::{ShellEnding, ShellOutput, ShellRequest},
};

/// A provider to be tested.
#[derive(Debug, Clone)]
pub struct Subject {
    pub sandboxes: Arc<dyn Lifecycle>,
    /// A shell command that kills the sandbox.
    pub deadly_command: &'static str,
}

/// Checks everything that a provider has to do. All sandboxes have ended when it returns.
pub async fn provider(subject: Subject) {
    subject.sandboxes.sweep().await;
    let session = SessionId::new();
    let sandbox = subject.claim(session).await;
    computer::shell_commands_run_and_report_their_end(&*sandbox).await;
    computer::the_screen_is_shown_and_acted_on(&*sandbox).await;
    computer::files_are_edited_and_put(&*sandbox).await;
    files::folders_are_listed_and_changed(&*sandbox).await;
    files::files_are_read_in_parts(&*sandbox).await;
    files::files_are_written_whole_or_not_at_all(&*sandbox).await;
    files::the_lease_holds_for_files(&*sandbox).await;
    computer::secrets_need_a_focused_field(&*sandbox).await;
    browser::the_browser_opens_pages_and_tabs(&*sandbox).await;
    browser::the_lease_holds_for_the_browser(&*sandbox).await;
    computer::a_request_id_is_carried_out_once(&*sandbox).await;
    computer::a_request_can_be_cancelled(&*sandbox).await;
    computer::the_lease_decides_who_is_obeyed(&*sandbox).await;
    computer::the_screen_can_be_watched(&*sandbox).await;
    terminals::terminals_are_shared_and_replayed(&*sandbox).await;
    terminals::the_lease_decides_who_types(&*sandbox).await;
    browser::a_computer_may_have_no_screen(&subject).await;
    lifecycle::a_stopped_sandbox_keeps_its_files(&subject, session, &sandbox).await;
    lifecycle::a_second_claim_replaces_the_first(&subject).await;
    lifecycle::a_death_is_noticed(&subject).await;
    lifecycle::files_are_listed_and_removed(&subject).await;
    lifecycle::a_spec_is_honoured_or_refused_by_name(&subject).await;
    lifecycle::a_sandbox_may_be_started_ahead(&subject).await;
    lifecycle::stop_all_ends_everything(&subject).await;
}

impl Subject {
    async fn claim(&self, session: SessionId) -> Arc<dyn Sandbox> {
        let claimed = self.sandboxes.claim(session, spec()).await;
        claimed.expect("a sandbox can be claimed")
    }
}

fn spec() -> SandboxSpec {
    SandboxSpec::new(SCREEN)
}

const SCREEN: ScreenSize = ScreenSize {
    width: 640,
    height: 480,
};

/// Carries out an operation for the agent.
async fn perform<O: Operation<ForRunner>>(
    sandbox: &dyn Sandbox,
    operation: O,
) -> Result<O::Reply, ComputerError> {
    sandbox.perform(Call::by(Actor::Agent), operation).await
}

fn command(command: impl Into<String>) -> ShellRequest {
    ShellRequest::Run {
        command: command.into(),
        timeout_ms: 60_000,
    }
}

/// Runs a command that must succeed and returns its output.
async fn said(sandbox: &dyn Sandbox, text: &str) -> String {
    let output: ShellOutput = perform(sandbox, command(text)).await.unwrap();
    assert_eq!(
        output.ending,
        ShellEnding::Exited { code: 0 },
        "{text}: {}",
        output.output
    );
    output.output
}

/// Waits for the first piece of a command's output.
async fn first_piece(pieces: &mut futures::channel::mpsc::Receiver<Bytes>) -> Bytes {
    use futures::StreamExt;
    pieces.next().await.expect("output is shown while it comes")
}
