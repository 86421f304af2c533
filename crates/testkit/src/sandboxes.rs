//! A sandbox provider in memory, for tests that need no real computer.
//!
//! It obeys the rules of a real one and passes the same [conformance suite](crate::conformance): leases, request ids,
//! cancelling, progress, files that survive, deaths. Time is tokio's, so tests can pause it.

mod browser;
mod capture;
mod client;
mod editor;
mod files;
mod gate;
mod machine;
mod player;
mod ports;
mod requests;
mod sandbox;
mod screen;
mod shell;
mod terminals;

use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    id::SessionId,
    sandbox::{
        DoctorCheck, Lifecycle, Network, Sandbox, SandboxEnd, SandboxSpec, SandboxUsage,
        StartSandboxError,
    },
    tasks::Tasks,
};

pub use self::{
    client::FakeClient,
    player::{FakePage, FakePages, FakePlayer},
    sandbox::{DEADLY_COMMAND, FAKE_CODE_PORT, FakeSandbox},
    shell::FakeCommand,
};
use self::{machine::FakeMachine, ports::FakePorts};

const NAME: &str = "fake";

/// The files of a home folder by absolute path.
type Files = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// All sandboxes of a test. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct FakeSandboxes {
    tasks: Tasks,
    state: Arc<Mutex<FakeState>>,
}

#[derive(Debug, Default)]
struct FakeState {
    homes: HashMap<SessionId, Files>,
    running: HashMap<SessionId, Arc<FakeSandbox>>,
    /// Sandboxes that were started ahead of time, without a session.
    spare: Vec<(SandboxSpec, Arc<FakeSandbox>)>,
    commands: HashMap<String, FakeCommand>,
    ports: FakePorts,
    pages: FakePages,
    failure: Option<String>,
    /// The reason why programs on later sandboxes could watch whoever takes control.
    spy: Option<String>,
    /// True if sandboxes have no limits, as on a machine that cannot enforce them.
    is_unlimited: bool,
    is_closed: bool,
}

impl FakeSandboxes {
    /// Creates a provider whose background work is part of `tasks`.
    pub fn new(tasks: Tasks) -> Self {
        Self {
            tasks,
            state: Arc::default(),
        }
    }

    /// Returns the provider of the next server: it has the same files and scripted commands, and no sandbox runs.
    pub fn of_next_server(&self, tasks: Tasks) -> Self {
        let state = self.state();
        let next = FakeState {
            homes: state.homes.clone(),
            commands: state.commands.clone(),
            ports: state.ports.clone(),
            pages: state.pages.clone(),
            failure: state.failure.clone(),
            is_unlimited: state.is_unlimited,
            ..FakeState::default()
        };
        Self {
            tasks,
            state: Arc::new(Mutex::new(next)),
        }
    }

    /// Makes every later sandbox answer this shell command as scripted.
    pub fn on_command(&self, command: &str, answer: FakeCommand) {
        self.state().commands.insert(command.to_owned(), answer);
    }

    /// Returns the pages that browsers find.
    pub fn pages(&self) -> FakePages {
        self.state().pages.clone()
    }

    /// Connects a port of every sandbox to a server of the test.
    pub fn listen(&self, port: u16, address: SocketAddr, program: &str) {
        self.state().ports.listen(port, address, program);
    }

    /// Disconnects a port, so that nothing listens on it.
    pub fn close(&self, port: u16) {
        self.state().ports.close(port);
    }

    /// Makes starts fail with this text, until it is `None` again.
    pub fn fail_starts(&self, problem: Option<&str>) {
        self.state().failure = problem.map(str::to_owned);
    }

    /// Makes every later sandbox report that programs could watch whoever takes control.
    pub fn spy_from_the_start(&self, problem: &str) {
        self.state().spy = Some(problem.to_owned());
    }

    /// Makes this a machine that cannot enforce limits.
    pub fn lose_limits(&self) {
        self.state().is_unlimited = true;
    }

    /// Returns the session's sandbox if it is running.
    pub fn running(&self, session: SessionId) -> Option<Arc<FakeSandbox>> {
        self.state().running.get(&session).cloned()
    }

    /// Returns the content of a session's file.
    pub fn file(&self, session: SessionId, path: &str) -> Option<Bytes> {
        let files = Arc::clone(self.state().homes.get(&session)?);
        let files = files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(path).cloned()
    }

    fn make(&self, spec: &SandboxSpec, files: Files) -> Arc<FakeSandbox> {
        let (commands, ports, pages, spy) = {
            let state = self.state();
            let (ports, pages) = (state.ports.clone(), state.pages.clone());
            (state.commands.clone(), ports, pages, state.spy.clone())
        };
        let machine = FakeMachine::new(spec, files, commands, pages);
        let sandbox = FakeSandbox::new(spec, machine, ports, self.tasks.clone());
        sandbox.set_spy(spy.as_deref());
        sandbox
    }

    /// Makes `sandbox` the session's own and ends its earlier one.
    fn give(&self, session: SessionId, sandbox: &Arc<FakeSandbox>) {
        let earlier = self.state().running.insert(session, Arc::clone(sandbox));
        if let Some(earlier) = earlier {
            earlier.end(SandboxEnd::Stopped);
        }
    }

    fn admit(&self, spec: &SandboxSpec) -> Result<(), StartSandboxError> {
        let unsupported = |what: &str| {
            Err(StartSandboxError::Unsupported {
                provider: NAME,
                what: what.to_owned(),
            })
        };
        if let Some(image) = &spec.image {
            return unsupported(&format!("images, such as {image:?}"));
        }
        // Nothing runs in these sandboxes that could tell one network from another.
        let (Network::Closed | Network::Connected) = spec.network;
        let state = self.state();
        if state.is_closed {
            return Err(StartSandboxError::Failed("the server is ending".to_owned()));
        }
        if spec.must_be_limited && state.is_unlimited {
            return Err(StartSandboxError::Missing {
                what: "this machine cannot limit a sandbox".to_owned(),
                remedy: "use another one".to_owned(),
            });
        }
        match &state.failure {
            Some(problem) => Err(StartSandboxError::Failed(problem.clone())),
            None => Ok(()),
        }
    }

    fn home(&self, session: SessionId) -> Files {
        Arc::clone(self.state().homes.entry(session).or_default())
    }

    fn state(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Lifecycle for FakeSandboxes {
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        self.admit(&spec)?;
        let Some(session) = spec.session else {
            let sandbox = self.make(&spec, Files::default());
            self.state().spare.push((spec, Arc::clone(&sandbox)));
            return Ok(sandbox);
        };
        let sandbox = self.make(&spec, self.home(session));
        self.give(session, &sandbox);
        Ok(sandbox)
    }

    async fn claim(
        &self,
        session: SessionId,
        spec: SandboxSpec,
    ) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        self.admit(&spec)?;
        let spare = {
            let mut state = self.state();
            let is_fit = |(offered, sandbox): &(SandboxSpec, Arc<FakeSandbox>)| {
                *offered == spec && !sandbox.has_ended()
            };
            let fit = state.spare.iter().position(is_fit);
            fit.map(|index| state.spare.remove(index).1)
        };
        let Some(sandbox) = spare else {
            return self.start(spec.for_session(session)).await;
        };
        sandbox.move_in(self.home(session));
        self.give(session, &sandbox);
        Ok(sandbox)
    }

    async fn stop_all(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let spare = state.spare.drain(..).map(|(_, sandbox)| sandbox);
        let mut sandboxes: Vec<_> = spare.collect();
        sandboxes.extend(state.running.drain().map(|(_, sandbox)| sandbox));
        drop(state);
        for sandbox in sandboxes {
            sandbox.end(SandboxEnd::Stopped);
        }
    }

    async fn sweep(&self) {}

    async fn remove_files(&self, session: SessionId) -> io::Result<()> {
        let removed = {
            let mut state = self.state();
            state.homes.remove(&session);
            state.running.remove(&session)
        };
        if let Some(sandbox) = removed {
            sandbox.end(SandboxEnd::Stopped);
        }
        Ok(())
    }

    async fn sessions_with_files(&self) -> io::Result<Vec<SessionId>> {
        Ok(self.state().homes.keys().copied().collect())
    }

    async fn check(&self) -> Result<(), StartSandboxError> {
        match &self.state().failure {
            Some(problem) => Err(StartSandboxError::Failed(problem.clone())),
            None => Ok(()),
        }
    }

    async fn doctor(&self) -> Vec<DoctorCheck> {
        vec![DoctorCheck::ok("fake sandboxes", "in memory")]
    }

    async fn usage(&self) -> SandboxUsage {
        let state = self.state();
        let running = state.running.values();
        let n_running = running.filter(|sandbox| !sandbox.has_ended()).count();
        SandboxUsage {
            n_running: u64::try_from(n_running).unwrap_or(u64::MAX),
            ..SandboxUsage::default()
        }
    }
}
