//! The computer of one session: a sandbox, with everything that the server adds to it.
//!
//! A request passes these stages, in this order: it is translated into one for the runner, which adds the value of a
//! secret; the sandbox carries it out; hosts that were blocked during a command are added to its output; the error of a
//! planned end gets its reason; secrets are redacted from the answer; the answer is counted. Streams pass the same
//! stages.

mod http_secrets;
mod limit_rule;
mod retirement;
mod secrets;
mod sound;
mod stand_ins;
mod terminal_stream;
mod video;
mod video_quality;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    clock::Clock,
    id::{RequestId, SessionId},
    network::{policy::NetworkMode, stand_in::CertificateIssuer},
    sandbox::{
        Actor, ByteStream, Call, Computer, ComputerError, LeaseHolder, LeaseOutcome, Lifecycle,
        ListeningPort, Network, Progress, RunnerReply, RunnerRequest, Sandbox, SandboxEnd,
        SandboxSpec, SessionOnly, SessionReply, SessionRequest, StartSandboxError, StreamTarget,
        Streams,
    },
    shell::ShellRequest,
};
use deskhand_store::Store;
use futures::{StreamExt, channel::mpsc};
use tokio::time::Instant;

pub(crate) use self::{
    http_secrets::{SandboxSecrets, SecretAtSite},
    limit_rule::LimitRule,
};
pub use self::{limit_rule::RequireLimits, sound::SoundListener, video::VideoViewer};
use self::{retirement::Retirement, secrets::TypedSecrets, sound::SharedSound, video::SharedVideo};
use crate::{
    metrics::{count_operation, count_stream},
    network::BlockedHosts,
    redactor::Redactor,
    vault::Vault,
};

/// The maximum number of pieces of output that may wait to be redacted.
const PROGRESS_LENGTH: usize = 16;

/// Starts the computers of sessions.
#[derive(Debug, Clone)]
pub(crate) struct ComputerStarter {
    pub(crate) sandboxes: Arc<dyn Lifecycle>,
    pub(crate) vault: Vault,
    pub(crate) limit_rule: LimitRule,
    pub(crate) blocked: BlockedHosts,
    /// The most permissive network mode. The session's policy, which can change at any time, decides on each connection.
    pub(crate) ceiling: NetworkMode,
    pub(crate) store: Store,
    /// Makes the certificates for the hosts of secrets.
    pub(crate) certificates: Arc<dyn CertificateIssuer>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The computer of one session, from the start of its sandbox to its end.
#[derive(Debug)]
pub(crate) struct SessionComputer {
    session: SessionId,
    blocked: BlockedHosts,
    sandbox: Arc<dyn Sandbox>,
    secrets: Arc<TypedSecrets>,
    http_secrets: Option<Arc<SandboxSecrets>>,
    retirement: Retirement,
    sound: SharedSound,
    video: SharedVideo,
}

impl ComputerStarter {
    /// Gives the session a computer whose sandbox may live for `life`.
    pub(crate) async fn start(
        &self,
        session: SessionId,
        spec: SandboxSpec,
        life: Duration,
    ) -> Result<SessionComputer, StartSandboxError> {
        let secrets = TypedSecrets::load(session, self.vault.clone()).await;
        let secrets = secrets.map_err(|error| {
            StartSandboxError::Failed(format!("could not read the session's secrets: {error}"))
        })?;
        let must_be_limited = self.limit_rule.applies().await.map_err(|error| {
            StartSandboxError::Failed(format!("could not count the users: {error}"))
        })?;
        let secrets = Arc::new(secrets);
        let http_secrets = self.http_secrets(session, &secrets, life).await?;
        let stand_ins = http_secrets.as_ref().map(|secrets| &secrets.stand_ins);
        let spec = SandboxSpec {
            must_be_limited,
            network: match self.ceiling {
                NetworkMode::Closed => Network::Closed,
                NetworkMode::Allow | NetworkMode::Open => Network::Connected,
            },
            variables: http_secrets
                .as_ref()
                .map(|secrets| secrets.variables())
                .unwrap_or_default(),
            authority: stand_ins
                .and_then(|stand_ins| stand_ins.certificates.as_ref())
                .map(|certificates| certificates.authority.clone()),
            ..spec
        };
        let sandbox = self.sandboxes.claim(session, spec).await?;
        if let Err(error) = secrets.cover_in(&*sandbox).await {
            sandbox.stop().await;
            return Err(StartSandboxError::Failed(error.to_string()));
        }
        Ok(SessionComputer {
            session,
            blocked: self.blocked.clone(),
            sandbox,
            secrets,
            http_secrets,
            retirement: Retirement::new(Instant::now() + life),
            sound: SharedSound::default(),
            video: SharedVideo::default(),
        })
    }
}

impl SessionComputer {
    /// Returns the time at which the sandbox reaches its maximum lifetime.
    pub(crate) fn due_at(&self) -> Instant {
        self.retirement.due_at
    }

    /// Ends the sandbox on purpose. Requests that this cuts off get the reason as their error.
    pub(crate) async fn retire(&self, reason: String) {
        self.retirement.begin(reason);
        self.sandbox.stop().await;
    }

    pub(crate) async fn stop(&self) {
        self.sandbox.stop().await;
    }

    pub(crate) async fn ended(&self) -> SandboxEnd {
        self.sandbox.ended().await
    }

    /// Returns the secrets for HTTP APIs that programs in the sandbox can use.
    pub(crate) fn http_secrets(&self) -> Option<Arc<SandboxSecrets>> {
        self.http_secrets.clone()
    }

    /// Returns a text without the secrets that were typed or revealed in the session.
    pub(crate) fn redact_text(&self, text: &str) -> String {
        match self.secrets.redactor() {
            Some(redactor) => redactor.clean(text),
            None => text.to_owned(),
        }
    }

    /// Returns the ports on which programs in the sandbox listen.
    pub(crate) fn ports(&self) -> Vec<ListeningPort> {
        self.sandbox.ports()
    }

    /// Has the sandbox answer a request, in the session's vocabulary.
    async fn answer(
        &self,
        call: Call,
        request: SessionRequest,
    ) -> Result<SessionReply, ComputerError> {
        match request.for_runner() {
            Ok(RunnerRequest::Shell(shell)) => self.run_command(call, shell).await,
            Ok(request) => self.forward(call, request).await,
            Err(SessionOnly::FindSecretField(find)) => {
                let place = self.secrets.find_field(&*self.sandbox, call, &find.name);
                Ok(SessionReply::FindSecretField(place.await?))
            }
            Err(SessionOnly::FillSecret(fill)) => {
                let typed = self.secrets.fill(&*self.sandbox, call, fill).await?;
                Ok(SessionReply::FillSecret(typed))
            }
        }
    }

    /// Runs a command in the sandbox, and adds the hosts that were blocked during it to its output.
    async fn run_command(
        &self,
        call: Call,
        shell: ShellRequest,
    ) -> Result<SessionReply, ComputerError> {
        let command = match &shell {
            ShellRequest::Run { command, .. } => command.clone(),
            ShellRequest::Restart => String::new(),
        };
        let request = RunnerRequest::Shell(shell);
        let meanwhile = self.blocked.watch(self.session);
        let mut reply = self.forward(call, request).await?;
        if let SessionReply::Shell(shell) = &mut reply {
            for line in meanwhile.lines(&[&command, &shell.output]) {
                if !shell.output.is_empty() && !shell.output.ends_with('\n') {
                    shell.output.push('\n');
                }
                shell.output.push_str(&line);
                shell.output.push('\n');
            }
        }
        Ok(reply)
    }

    async fn forward(
        &self,
        call: Call,
        request: RunnerRequest,
    ) -> Result<SessionReply, ComputerError> {
        let reply = match (self.secrets.redactor(), call.progress) {
            (Some(redactor), Some(progress)) => {
                let call = Call {
                    progress: None,
                    ..call
                };
                self.forward_with_progress(call, request, progress, redactor)
                    .await?
            }
            (_, progress) => {
                let call = Call { progress, ..call };
                self.sandbox.carry_out(call, request).await?
            }
        };
        reply.for_session().ok_or_else(|| {
            ComputerError::Failed("the computer sent an unexpected reply".to_owned())
        })
    }

    /// Forwards a request and redacts each piece of its output on the way.
    async fn forward_with_progress(
        &self,
        call: Call,
        request: RunnerRequest,
        mut progress: Progress,
        mut redactor: Redactor,
    ) -> Result<RunnerReply, ComputerError> {
        let (sender, mut pieces) = mpsc::channel::<Bytes>(PROGRESS_LENGTH);
        let call = Call {
            progress: Some(sender),
            ..call
        };
        let mut reply = self.sandbox.carry_out(call, request);
        loop {
            tokio::select! {
                biased;
                reply = &mut reply => return reply,
                Some(piece) = pieces.next() => {
                    let clean = redactor.push(&piece);
                    if !clean.is_empty() {
                        // The reply has everything, so a piece that does not fit may be dropped.
                        let _ = progress.try_send(clean.into());
                    }
                }
            }
        }
    }
}

#[async_trait]
impl Computer for SessionComputer {
    async fn carry_out(
        &self,
        call: Call,
        request: SessionRequest,
    ) -> Result<SessionReply, ComputerError> {
        let (operation, started) = (request.name(), Instant::now());
        let answer = self.answer(call, request).await;
        let answer = self.retirement.explain(answer);
        let answer = self.secrets.redact(answer);
        count_operation(operation, started.elapsed(), &answer);
        answer
    }

    async fn cancel(&self, id: RequestId) {
        self.sandbox.cancel(id).await;
    }

    async fn set_lease_holder(&self, holder: LeaseHolder) -> LeaseOutcome {
        self.sandbox.set_lease_holder(holder).await
    }
}

#[async_trait]
impl Streams for SessionComputer {
    async fn open(&self, target: StreamTarget, actor: Actor) -> Result<ByteStream, ComputerError> {
        let stream = self.sandbox.open(target, actor).await;
        let stream = self.retirement.explain(stream);
        let stream = stream.map(|stream| match target {
            // The stream carries pixels: there is no text to redact, and viewers see what they would see at the desk.
            StreamTarget::Screen => stream,
            // The same holds for sound and video.
            StreamTarget::Sound | StreamTarget::Video => stream,
            StreamTarget::Terminal { .. } => {
                terminal_stream::redacted(stream, Arc::clone(&self.secrets))
            }
            // Files are passed on unchanged, as docs/guide/files.md says.
            StreamTarget::File => stream,
            // People use these programs themselves. Nothing of it reaches the log or a model.
            StreamTarget::Port { .. } | StreamTarget::Code => stream,
            // It carries messages of an MCP server. Their texts are redacted when they are read.
            StreamTarget::Program => stream,
        });
        count_stream(target, &stream);
        stream
    }
}
