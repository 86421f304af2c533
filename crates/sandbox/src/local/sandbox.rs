//! One running sandbox, from its start to its end.
//!
//! From the moment bubblewrap runs, one task owns it and cleans up after every kind of end: a stop, a death, a
//! failed start, or a caller that went away.

use std::{io, os::unix::net::UnixStream, sync::Arc};

use async_trait::async_trait;
use deskhand_core::{
    action::ScreenSize,
    computer::ComputerKind,
    id::{RequestId, SessionId},
    sandbox::{
        Actor, ByteStream, Call, Computer, ComputerError, ForRunner, LeaseHolder, LeaseOutcome,
        ListeningPort, Network, RunnerReply, RunnerRequest, Sandbox, SandboxEnd, SandboxLimits,
        StartSandboxError, StreamTarget, Streams,
    },
    secret::Secret,
    tasks::Tasks,
};
use rand::Rng;
use rustix::process::Pid;
use tokio::{sync::watch, task::spawn_blocking, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    bubblewrap::{self, Layout},
    cgroup::Group,
    disk::DiskWatch,
    files::SessionFiles,
    host::Host,
    identity::Identity,
    images::MountedHome,
    limits,
    process::{SandboxStart, Tree},
    tail::Tail,
    trace::{Trace, process_name},
    usage::Metered,
};
use crate::{
    gateway::GatewayDoor,
    link::{
        Link, Status,
        accept::{accept_all, unix_connections},
    },
};

mod charge;
mod connect;
mod extras;
mod instructions;

/// The remedy for a machine on which the server may not make control groups.
pub(crate) const LIMITS_REMEDY: &str = "run the server as a systemd service with `Delegate=yes` (docs/operate/sandboxes.md), or as root";

pub(crate) use self::extras::LocalExtras;
use self::{
    charge::Charge,
    instructions::{instruct, runner_config},
};

/// The parts of a spec that this provider supports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalSpec {
    pub(crate) session: SessionId,
    pub(crate) computer: ComputerKind,
    /// The size of the screen, or of a page where there is no screen.
    pub(crate) screen: ScreenSize,
    pub(crate) limits: SandboxLimits,
    /// True if it must not start where its limits cannot be enforced.
    pub(crate) must_be_limited: bool,
    pub(crate) network: Network,
}

/// A sandbox on this machine. Dropping it ends the sandbox.
#[derive(Debug)]
pub(crate) struct LocalSandbox {
    link: Arc<Link>,
    handle: Handle,
}

/// Ends a sandbox or waits for its end, without keeping it alive.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    stop: CancellationToken,
    end: watch::Receiver<Option<SandboxEnd>>,
    metered: Arc<Metered>,
}

impl LocalSandbox {
    /// Starts a sandbox and waits until its desktop answers.
    ///
    /// `slot` gets the handle as soon as there is something to end.
    pub(crate) async fn start(
        (host, tasks): (&Arc<Host>, &Tasks),
        spec: LocalSpec,
        extras: LocalExtras,
        slot: &mut Option<Handle>,
    ) -> Result<Self, StartSandboxError> {
        // Prepare the files, the link and the control group, then start bubblewrap.
        host.reserve.check(&host.settings.dir)?;
        let group_name = format!("deskhand-{}", spec.session);
        let group = Arc::new(Group::create(&host.groups, &group_name, &spec.limits).await);
        if let (true, Some(reason)) = (spec.must_be_limited, group.unlimited()) {
            return Err(unlimited(reason));
        }
        let files = host.files(spec.session);
        let identity = host.identity.of_session(spec.session, files.owner());
        let home = open_home(host, spec, identity, &files).await?;
        let listener = files.prepare_run(identity)?;
        let token = new_token();
        let door = GatewayDoor::open(spec.session, host.settings.gateway.as_ref(), &new_token());
        let (door, gateway) = door.unzip();
        let link = Arc::new(Link::new(token.clone(), door, connect::door(host, spec)));
        let launched = launch(host, (spec, &extras), identity, &files, &group).await;
        let (tree, stdin, stderr) = launched.inspect_err(|_| {
            // The error at hand says more. The next start removes the rest.
            let _ = files.remove_run();
        })?;
        let stdin = Arc::new(stdin);
        let first = tree.inner_pid();

        // From here on, a task owns the processes and cleans up.
        let (end_sender, end) = watch::channel(None);
        let handle = Handle {
            stop: CancellationToken::new(),
            end,
            metered: Arc::new(Metered::new(&group)),
        };
        let charge = Charge {
            tree,
            group: Arc::clone(&group),
            disk: DiskWatch::new(files.home(), home, &spec.limits, host.reserve.clone()),
            files,
            link: Arc::clone(&link),
            tail: Tail::follow(stderr, tasks)?,
            _stdin: Arc::clone(&stdin),
            memory_bytes: spec.limits.memory_bytes,
            meter: Arc::clone(&host.meter),
            metered: Arc::clone(&handle.metered),
        };
        let stop = handle.stop.clone();
        tasks.spawn(
            "sandbox",
            charge.carry(stop, tasks.shutdown().clone(), end_sender),
        );
        tasks.spawn(
            "runner link",
            accept_all(unix_connections(listener), Arc::clone(&link), tasks.clone()),
        );
        *slot = Some(handle.clone());
        let sandbox = Self { link, handle };

        // Set the limits before the runner starts any program.
        if let Some(first) = first {
            sandbox.limit(spec, group, first).await?;
        }
        let config = runner_config(host, token, spec, extras, gateway);
        let interface = connect::interface(host, spec, first).await;
        instruct(&stdin, config, interface.as_ref())?;
        sandbox.wait_until_ready(host).await?;
        Ok(sandbox)
    }

    /// Puts the first processes under the limits.
    async fn limit(
        &self,
        spec: LocalSpec,
        group: Arc<Group>,
        first: Pid,
    ) -> Result<(), StartSandboxError> {
        let attached = spawn_blocking(move || limits::attach(&group, first)).await;
        let Err(error) = attached.map_err(io::Error::from).flatten() else {
            return Ok(());
        };
        tracing::warn!(%error, session.id = %spec.session, "could not set the limits of a sandbox");
        if spec.must_be_limited {
            self.stop().await;
            return Err(unlimited(&error.to_string()));
        }
        Ok(())
    }

    async fn wait_until_ready(&self, host: &Host) -> Result<(), StartSandboxError> {
        let longest = host.settings.start_timeout;
        let problem = tokio::select! {
            started = timeout(longest, self.link.started()) => match started {
                Ok(Status::Ready(_)) => return Ok(()),
                Ok(Status::StartFailed(problem)) => problem,
                Err(_) => format!("the desktop did not answer within {} s", longest.as_secs_f32()),
                // The end gives the cause.
                Ok(Status::Expected | Status::Broken | Status::Ended) => self.end_text().await,
            },
            text = self.end_text() => text,
        };
        self.handle.stop().await;
        Err(start_error(problem))
    }

    async fn end_text(&self) -> String {
        match self.handle.ended().await {
            SandboxEnd::Stopped => "it was stopped while it was starting".to_owned(),
            SandboxEnd::Died(reason) => reason,
        }
    }
}

impl Drop for LocalSandbox {
    fn drop(&mut self) {
        self.handle.stop.cancel();
    }
}

#[async_trait]
impl Computer<ForRunner> for LocalSandbox {
    async fn carry_out(
        &self,
        call: Call,
        request: RunnerRequest,
    ) -> Result<RunnerReply, ComputerError> {
        self.link.carry_out(call, request).await
    }

    async fn cancel(&self, id: RequestId) {
        self.link.cancel(id);
    }

    async fn set_lease_holder(&self, holder: LeaseHolder) -> LeaseOutcome {
        self.link.set_lease_holder(holder).await
    }
}

#[async_trait]
impl Streams for LocalSandbox {
    async fn open(&self, target: StreamTarget, actor: Actor) -> Result<ByteStream, ComputerError> {
        self.link.open_stream(target, actor).await
    }
}

#[async_trait]
impl Sandbox for LocalSandbox {
    fn ports(&self) -> Vec<ListeningPort> {
        self.link.ports()
    }

    async fn ended(&self) -> SandboxEnd {
        self.handle.ended().await
    }

    async fn stop(&self) {
        self.handle.stop().await;
    }
}

impl Handle {
    pub(crate) fn metered(&self) -> Arc<Metered> {
        Arc::clone(&self.metered)
    }

    /// Ends the sandbox and waits until it is gone.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.ended().await;
    }

    async fn ended(&self) -> SandboxEnd {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(SandboxEnd::Stopped),
            // The task that owned the sandbox was dropped with its runtime, and the sandbox with it.
            Err(_) => SandboxEnd::Stopped,
        }
    }
}

/// Opens the session's home. Returns nothing if it is a folder.
async fn open_home(
    host: &Arc<Host>,
    spec: LocalSpec,
    identity: Identity,
    files: &SessionFiles,
) -> Result<Option<MountedHome>, StartSandboxError> {
    let (host, files) = (Arc::clone(host), files.clone());
    spawn_blocking(move || {
        let place = host.view.seen_files(spec.session).home();
        host.homes.open(&files, place, identity, &spec.limits)
    })
    .await
    .map_err(io::Error::from)?
}

/// Starts bubblewrap and records the traces that a killed server would leave.
async fn launch(
    host: &Host,
    (spec, extras): (LocalSpec, &LocalExtras),
    identity: Identity,
    files: &SessionFiles,
    group: &Group,
) -> io::Result<(Tree, UnixStream, UnixStream)> {
    let seen = host.view.seen_files(spec.session);
    let layout = Layout {
        system: &host.view.system,
        runner: &host.view.runner,
        home: seen.home(),
        socket: seen.socket(),
        limits: &spec.limits,
        code_server: host.settings.code_server.as_deref(),
        prefix: limits::prefix(&spec.limits, group),
        network: spec.network,
    };
    let start = SandboxStart {
        program: host.bubblewrap.clone(),
        name: process_name(spec.session),
        identity,
        options: layout.options(),
        filter: host.filter.clone(),
        covered: extras.covered_files(),
        command: layout.command(),
    };
    let spawned = host.spawner.spawn(start).await?;
    let (tree, stdin, stderr) = Tree::adopt(spawned).await?;
    Trace::of(tree.outer_pid(), group.dirs()).write(&files.trace())?;
    Ok((tree, stdin, stderr))
}

fn new_token() -> Secret {
    let bytes: [u8; 32] = rand::rng().random();
    Secret::new(bytes.map(|byte| format!("{byte:02x}")).concat())
}

fn unlimited(reason: &str) -> StartSandboxError {
    StartSandboxError::Missing {
        what: format!(
            "this machine cannot limit the memory and the processors of a sandbox ({reason}), and this server must"
        ),
        remedy: format!("{LIMITS_REMEDY}, or set `sandbox.require_limits` to \"never\""),
    }
}

fn start_error(problem: String) -> StartSandboxError {
    if problem.contains("bwrap:") && problem.contains("amespace") {
        return StartSandboxError::Missing {
            what: format!("this machine does not let programs be isolated ({problem})"),
            remedy: bubblewrap::NAMESPACE_REMEDY.to_owned(),
        };
    }
    StartSandboxError::Failed(problem)
}
