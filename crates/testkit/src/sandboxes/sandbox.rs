//! One fake sandbox: its requests, its streams and its end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use deskhand_core::{
    action::ScreenSize,
    id::RequestId,
    sandbox::{
        Actor, ByteStream, Call, Computer, ComputerError, ForRunner, LeaseHolder, RunnerReply,
        RunnerRequest, Sandbox, SandboxEnd, StreamTarget, Streams,
    },
    secret::Secret,
    shell::ShellRequest,
    tasks::Tasks,
    vault::Origin,
};
use tokio::sync::watch;

use super::{Files, machine::FakeMachine, requests::RequestTable, screen, shell::FakeCommand};

/// The shell command that kills the sandbox.
pub const DEADLY_COMMAND: &str = "kill -9 -1";

/// A sandbox in memory.
#[derive(Debug)]
pub struct FakeSandbox {
    machine: Arc<FakeMachine>,
    requests: Mutex<RequestTable>,
    tasks: Tasks,
    end: watch::Sender<Option<SandboxEnd>>,
}

impl FakeSandbox {
    pub(super) fn new(
        screen: ScreenSize,
        files: Files,
        commands: HashMap<String, FakeCommand>,
        tasks: Tasks,
    ) -> Arc<Self> {
        Arc::new(Self {
            machine: Arc::new(FakeMachine::new(screen, files, commands)),
            requests: Mutex::default(),
            tasks,
            end: watch::Sender::new(None),
        })
    }

    /// Dies as abruptly as a machine can. Running requests are left with an unknown fate.
    pub fn die(&self, cause: &str) {
        self.end(SandboxEnd::Died(cause.to_owned()));
    }

    /// Gives the focus to a field on a page of this origin, or takes it away.
    pub fn set_focus(&self, origin: Option<Origin>) {
        self.machine.state().focus = origin;
    }

    /// Gives the screen another colour.
    pub fn paint(&self, colour: [u8; 3]) {
        self.machine.state().colour.send_replace(colour);
    }

    /// Returns the requests that were carried out, in order.
    pub fn carried_out(&self) -> Vec<RunnerRequest> {
        self.machine.state().carried_out.clone()
    }

    /// Returns the secrets that were typed.
    pub fn typed(&self) -> Vec<Secret> {
        self.machine.state().typed.clone()
    }

    /// Returns the secrets that pictures would show covered.
    pub fn covered(&self) -> Vec<Secret> {
        self.machine.state().covered.clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Uses these files from now on.
    pub(super) fn move_in(&self, files: Files) {
        self.machine.state().files = files;
    }

    /// Ends the sandbox, unless it has ended.
    pub(super) fn end(&self, end: SandboxEnd) {
        let is_first = self.end.send_if_modified(|ended| {
            let is_first = ended.is_none();
            if is_first {
                *ended = Some(end);
            }
            is_first
        });
        if is_first {
            self.requests().lose_all();
        }
    }

    fn requests(&self) -> MutexGuard<'_, RequestTable> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true for the shell command [`DEADLY_COMMAND`].
fn is_deadly(request: &RunnerRequest) -> bool {
    matches!(request, RunnerRequest::Shell(ShellRequest::Run { command, .. }) if command == DEADLY_COMMAND)
}

#[async_trait]
impl Computer<ForRunner> for FakeSandbox {
    async fn carry_out(
        &self,
        call: Call,
        request: RunnerRequest,
    ) -> Result<RunnerReply, ComputerError> {
        if self.has_ended() {
            return Err(ComputerError::Gone);
        }
        let (entry, is_new) = self.requests().admit(call.id, call.actor);
        if is_new && is_deadly(&request) {
            self.die("the fake computer was told to die");
        } else if is_new {
            // This runs as its own task, so that it continues even if the caller goes away.
            let (machine, carried) = (Arc::clone(&self.machine), entry.clone());
            self.tasks.spawn("fake request", async move {
                let result = machine.carry_out(request, &carried, call.progress).await;
                carried.answer(result);
            });
        }
        entry.result().await
    }

    async fn cancel(&self, id: RequestId) {
        self.requests().cancel(id);
    }

    async fn set_lease_holder(&self, holder: LeaseHolder) {
        self.requests().set_holder(holder);
    }
}

#[async_trait]
impl Streams for FakeSandbox {
    async fn open(&self, target: StreamTarget, _actor: Actor) -> Result<ByteStream, ComputerError> {
        if self.has_ended() {
            return Err(ComputerError::Gone);
        }
        let StreamTarget::Screen = target;
        let (client, server) = screen::stream();
        let mut end = self.end.subscribe();
        let (size, colour) = (self.machine.screen, self.machine.state().colour.subscribe());
        self.tasks.spawn("fake screen", async move {
            tokio::select! {
                () = server.serve(size, colour) => {}
                _ = end.wait_for(Option::is_some) => {}
            }
        });
        Ok(client)
    }
}

#[async_trait]
impl Sandbox for FakeSandbox {
    async fn ended(&self) -> SandboxEnd {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(SandboxEnd::Stopped),
            Err(_) => SandboxEnd::Stopped,
        }
    }

    async fn stop(&self) {
        self.end(SandboxEnd::Stopped);
    }
}
