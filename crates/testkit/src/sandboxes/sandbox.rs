//! One fake sandbox: its requests, its streams and its end.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    browser::PointedElement,
    id::RequestId,
    sandbox::{
        Actor, ByteStream, Call, Computer, ComputerError, ForRunner, LeaseHolder, LeaseOutcome,
        ListeningPort, RunnerReply, RunnerRequest, Sandbox, SandboxEnd, SandboxSpec, StreamTarget,
        Streams,
    },
    secret::Secret,
    shell::ShellRequest,
    sound::SoundFrame,
    tasks::Tasks,
    vault::Origin,
    video::{VideoFrame, VideoWish},
};
use futures::FutureExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Files,
    browser::NO_SCREEN,
    capture::FakeCapture,
    files,
    gate::Gate,
    machine::FakeMachine,
    ports::{self, FakePorts, LeasedStream},
    requests::RequestTable,
    screen,
};

/// The shell command that kills the sandbox.
pub const DEADLY_COMMAND: &str = "kill -9 -1";
/// The port whose server stands in for VS Code.
pub const FAKE_CODE_PORT: u16 = 1;

/// A sandbox in memory.
#[derive(Debug)]
pub struct FakeSandbox {
    machine: Arc<FakeMachine>,
    variables: BTreeMap<String, Secret>,
    authority: Option<Vec<u8>>,
    requests: Mutex<RequestTable>,
    ports: FakePorts,
    /// The open streams that obey the lease.
    leased: Mutex<Vec<LeasedStream>>,
    /// The reason why programs could watch a person who takes control.
    spy: Mutex<Option<String>>,
    tasks: Tasks,
    end: watch::Sender<Option<SandboxEnd>>,
    /// The number of files whose streams were opened.
    n_transfers: watch::Sender<usize>,
    control: Gate,
    sound: FakeCapture,
    camera: FakeCapture,
}

impl FakeSandbox {
    pub(super) fn new(
        spec: &SandboxSpec,
        machine: FakeMachine,
        ports: FakePorts,
        tasks: Tasks,
    ) -> Arc<Self> {
        Arc::new(Self {
            machine: Arc::new(machine),
            variables: spec.variables.clone(),
            authority: spec.authority.clone(),
            requests: Mutex::default(),
            ports,
            leased: Mutex::default(),
            spy: Mutex::default(),
            tasks,
            end: watch::Sender::new(None),
            n_transfers: watch::Sender::new(0),
            control: Gate::default(),
            sound: FakeCapture::default(),
            camera: FakeCapture::default(),
        })
    }

    /// Dies as abruptly as a machine can. Running requests are left with an unknown fate.
    pub fn die(&self, cause: &str) {
        self.end(SandboxEnd::Died(cause.to_owned()));
    }

    /// Makes the sandbox report that programs could watch whoever takes control.
    pub fn set_spy(&self, problem: Option<&str>) {
        let mut spy = self.spy.lock().unwrap_or_else(PoisonError::into_inner);
        *spy = problem.map(str::to_owned);
    }

    /// Keeps changes of control waiting, or lets them go on.
    pub fn hold_control(&self, is_held: bool) {
        self.control.set_shut(is_held);
    }

    /// Waits until a change of control is kept waiting.
    pub async fn control_waits(&self) {
        self.control.has_one().await;
    }

    /// Puts an element under every click and key, or takes it away.
    pub fn set_element(&self, element: Option<PointedElement>) {
        self.machine.state().element = element;
    }

    /// Gives the focus to a field on a page of this origin, or takes it away.
    pub fn set_focus(&self, origin: Option<Origin>) {
        self.machine.state().focus = origin;
    }

    /// Waits until this many file transfers have started.
    pub async fn transfers_begun(&self, n_transfers: usize) {
        let mut begun = self.n_transfers.subscribe();
        let begun = begun.wait_for(|begun| *begun >= n_transfers).await;
        begun.expect("the sandbox is there");
    }

    /// Gives the screen another colour.
    pub fn paint(&self, colour: [u8; 3]) {
        self.machine.state().colour.send_replace(colour);
    }

    /// Plays a frame of sound, which everybody hears who listens.
    pub fn play(&self, frame: &SoundFrame) {
        self.sound.send(frame.to_stream());
    }

    /// Sends bytes in the place of sound.
    pub fn play_noise(&self, bytes: &'static [u8]) {
        self.sound.send(Bytes::from_static(bytes));
    }

    /// Takes the sound card out.
    pub fn remove_sound_card(&self) {
        self.sound.remove();
    }

    /// Waits until sound is captured for this many streams.
    pub async fn captures(&self, n_captures: usize) {
        self.sound.wait_for_captures(n_captures).await;
    }

    /// Films a frame, which everybody sees who watches the video.
    pub fn film(&self, frame: &VideoFrame) {
        self.camera.send(frame.to_stream());
    }

    /// Sends bytes in the place of video.
    pub fn film_noise(&self, bytes: &'static [u8]) {
        self.camera.send(Bytes::from_static(bytes));
    }

    /// Takes the camera out, so that the screen cannot be filmed.
    pub fn remove_camera(&self) {
        self.camera.remove();
    }

    /// Waits until the screen is filmed for this many streams.
    pub async fn films(&self, n_films: usize) {
        self.camera.wait_for_captures(n_films).await;
    }

    /// Waits until a key frame was asked for this many times.
    pub async fn key_wishes(&self, n_wishes: usize) {
        let wish = VideoWish::KeyFrame.to_byte();
        self.camera.wait_for_wishes(wish, n_wishes).await;
    }

    /// Waits until this quality of the video was asked for.
    pub async fn quality_wish(&self, quality: u8) {
        let wish = VideoWish::Quality(quality).to_byte();
        self.camera.wait_for_wishes(wish, 1).await;
    }

    /// Returns an environment variable of its programs.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(Secret::expose)
    }

    /// Returns the authority that its programs trust, in DER.
    pub fn authority(&self) -> Option<&[u8]> {
        self.authority.as_deref()
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
        let actor = (!request.is_for_everyone()).then_some(call.actor);
        let (entry, is_new) = self.requests().admit(call.id, actor);
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

    async fn set_lease_holder(&self, holder: LeaseHolder) -> LeaseOutcome {
        self.control.pass().await;
        self.requests().set_holder(holder);
        self.machine.terminals.set_holder(holder);
        self.leased().retain(|stream| {
            let stays = holder.admits(stream.actor);
            if !stays {
                stream.end.cancel();
            }
            stays
        });
        let spy = self.spy.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*spy, holder) {
            (Some(problem), LeaseHolder::Person(_)) => LeaseOutcome::Watched(problem.clone()),
            (_, LeaseHolder::Nobody) | (None, _) => LeaseOutcome::Set,
        }
    }
}

#[async_trait]
impl Streams for FakeSandbox {
    async fn open(&self, target: StreamTarget, actor: Actor) -> Result<ByteStream, ComputerError> {
        if self.has_ended() {
            return Err(ComputerError::Gone);
        }
        let (client, serving) = match target {
            StreamTarget::Screen if !self.machine.computer.has_screen() => {
                return Err(ComputerError::Failed(NO_SCREEN.to_owned()));
            }
            StreamTarget::Screen => {
                let (client, server) = screen::stream();
                let (size, colour) = (self.machine.screen, self.machine.state().colour.subscribe());
                (client, server.serve(size, colour).boxed())
            }
            StreamTarget::Sound if self.sound.is_missing() => {
                return Err(ComputerError::NoSoundCard);
            }
            StreamTarget::Sound => self.sound.capture(),
            StreamTarget::Video if self.camera.is_missing() => {
                return Err(ComputerError::Failed("there is no camera".to_owned()));
            }
            StreamTarget::Video => self.camera.capture(),
            StreamTarget::Terminal { number, may_type } => {
                let opened = self.machine.terminals.view(number, actor, may_type);
                opened.ok_or_else(|| {
                    ComputerError::Failed(format!("there is no terminal {number}"))
                })?
            }
            StreamTarget::File => {
                let (client, server) = files::stream();
                let admitted = self.requests().admit_stream(actor);
                self.n_transfers
                    .send_modify(|n_transfers| *n_transfers += 1);
                let files = Arc::clone(&self.machine.state().files);
                (client, files::serve(files, server, admitted).boxed())
            }
            StreamTarget::Port { port } => return self.open_port(port, actor).await,
            // The test's server at this port stands in for VS Code.
            StreamTarget::Code => return self.open_port(FAKE_CODE_PORT, actor).await,
            StreamTarget::Program => {
                return Err(ComputerError::Failed("there are no programs".to_owned()));
            }
        };
        let mut end = self.end.subscribe();
        self.tasks.spawn("fake stream", async move {
            tokio::select! {
                () = serving => {}
                _ = end.wait_for(Option::is_some) => {}
            }
        });
        Ok(client)
    }
}

impl FakeSandbox {
    async fn open_port(&self, port: u16, actor: Actor) -> Result<ByteStream, ComputerError> {
        if !self.requests().admits(actor) {
            return Err(ComputerError::Refused { was_begun: false });
        }
        let connection = self.ports.connect(port).await;
        let connection = connection.ok_or(ComputerError::NothingListens(port))?;
        let (client, copying) = ports::stream(connection);
        let leased = CancellationToken::new();
        self.leased().push(LeasedStream {
            actor,
            end: leased.clone(),
        });
        let mut end = self.end.subscribe();
        self.tasks.spawn("fake port", async move {
            tokio::select! {
                () = copying => {}
                () = leased.cancelled() => {}
                _ = end.wait_for(Option::is_some) => {}
            }
        });
        Ok(client)
    }

    fn leased(&self) -> MutexGuard<'_, Vec<LeasedStream>> {
        self.leased.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sandbox for FakeSandbox {
    fn ports(&self) -> Vec<ListeningPort> {
        self.ports.all()
    }

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
