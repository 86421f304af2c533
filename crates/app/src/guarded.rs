//! Sandboxes whose agents may type secrets: the value goes in, and no result brings it out again.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    id::{RequestId, SessionId},
    sandbox::{
        Actor, ByteStream, ComputerError, ComputerReply, ComputerRequest, Driver, Progress,
        Sandbox, SandboxEnd, SandboxSpec, SandboxUsage, Sandboxes, StartSandboxError,
    },
    secret::Secret,
    shell::ShellOutput,
    vault::SecretName,
};
use futures::{StreamExt, channel::mpsc};

use crate::{redactor::Redactor, vault::Vault};

/// How many pieces of output may wait to be looked through.
const PROGRESS_LENGTH: usize = 16;

/// All sandboxes, each guarded.
#[derive(Debug)]
pub(crate) struct GuardedSandboxes {
    pub(crate) sandboxes: Arc<dyn Sandboxes>,
    pub(crate) vault: Vault,
}

/// A sandbox that is asked to fill in secrets by name.
#[derive(Debug)]
struct Guarded {
    session: SessionId,
    sandbox: Arc<dyn Sandbox>,
    vault: Vault,
    /// What was typed in this session and must not come out.
    typed: RwLock<Vec<(SecretName, Secret)>>,
}

#[async_trait]
impl Sandboxes for GuardedSandboxes {
    async fn start(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>, StartSandboxError> {
        let typed = self.vault.sent(spec.session).await.map_err(|error| {
            StartSandboxError::Failed(format!("the session's secrets could not be read: {error}"))
        })?;
        let sandbox = self.sandboxes.start(spec).await?;
        if !typed.is_empty() {
            // The browser may show again what was typed before the computer was last ended.
            let values = typed.iter().map(|(_, value)| value.clone()).collect();
            let guard = ComputerRequest::Guard { values };
            let guarded = sandbox.perform(RequestId::new(), Actor::Agent, guard, None);
            if let Err(error) = guarded.await {
                sandbox.stop().await;
                return Err(StartSandboxError::Failed(error.to_string()));
            }
        }
        Ok(Arc::new(Guarded {
            session: spec.session,
            sandbox,
            vault: self.vault.clone(),
            typed: RwLock::new(typed),
        }))
    }

    async fn remove_files(&self, session: SessionId) -> std::io::Result<()> {
        self.sandboxes.remove_files(session).await
    }

    async fn sessions_with_files(&self) -> std::io::Result<Vec<SessionId>> {
        self.sandboxes.sessions_with_files().await
    }

    async fn check(&self) -> Result<(), StartSandboxError> {
        self.sandboxes.check().await
    }

    async fn usage(&self) -> SandboxUsage {
        self.sandboxes.usage().await
    }
}

#[async_trait]
impl Sandbox for Guarded {
    fn screen(&self) -> ScreenSize {
        self.sandbox.screen()
    }

    async fn perform(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        progress: Option<Progress>,
    ) -> Result<ComputerReply, ComputerError> {
        if let ComputerRequest::Fill { name, .. } = request {
            return self.fill(id, actor, name).await;
        }
        let Some(redactor) = self.redactor() else {
            return self.sandbox.perform(id, actor, request, progress).await;
        };
        let reply = match progress {
            Some(progress) => {
                self.perform_with_progress(id, actor, request, progress, redactor.clone())
                    .await
            }
            None => self.sandbox.perform(id, actor, request, None).await,
        };
        redacted(reply, &redactor)
    }

    async fn set_driver(&self, driver: Driver) {
        self.sandbox.set_driver(driver).await;
    }

    async fn cancel(&self, id: RequestId) {
        self.sandbox.cancel(id).await;
    }

    async fn open_screen(&self) -> Result<ByteStream, ComputerError> {
        self.sandbox.open_screen().await
    }

    async fn ended(&self) -> SandboxEnd {
        self.sandbox.ended().await
    }

    async fn stop(&self) {
        self.sandbox.stop().await;
    }
}

impl Guarded {
    async fn fill(
        &self,
        id: RequestId,
        actor: Actor,
        name: SecretName,
    ) -> Result<ComputerReply, ComputerError> {
        let found = self.vault.find(self.session, &name).await;
        let (secret, filling) = found.map_err(|error| self.not_filled(&error))?;
        // Before it is sent: whatever happens then, it is looked for.
        let noted = self.vault.note_sent(self.session, secret).await;
        noted.map_err(|error| self.not_filled(&error))?;
        self.remember(&name, &filling.value);
        let request = ComputerRequest::Fill {
            name,
            filling: Some(filling),
        };
        let reply = self.sandbox.perform(id, actor, request, None).await;
        if matches!(reply, Ok(_) | Err(ComputerError::FateUnknown))
            && let Err(error) = self.vault.note_use(self.session, secret).await
        {
            tracing::error!(session.id = %self.session, error = &error as &dyn std::error::Error, "that a secret was typed was not stored");
        }
        match self.redactor() {
            Some(redactor) => redacted(reply, &redactor),
            None => reply,
        }
    }

    fn not_filled(&self, error: &(dyn std::error::Error + 'static)) -> ComputerError {
        tracing::info!(session.id = %self.session, error, "a secret was not typed");
        ComputerError::Failed(format!("Nothing was typed: {error}."))
    }

    fn remember(&self, name: &SecretName, value: &Secret) {
        let mut typed = self.typed.write().unwrap_or_else(PoisonError::into_inner);
        if !typed.iter().any(|(_, known)| known == value) {
            typed.push((name.clone(), value.clone()));
        }
    }

    fn redactor(&self) -> Option<Redactor> {
        let typed = self.typed.read().unwrap_or_else(PoisonError::into_inner);
        (!typed.is_empty()).then(|| Redactor::new(&typed))
    }

    /// Performs a request whose output is followed, looking each piece through.
    async fn perform_with_progress(
        &self,
        id: RequestId,
        actor: Actor,
        request: ComputerRequest,
        mut progress: Progress,
        mut redactor: Redactor,
    ) -> Result<ComputerReply, ComputerError> {
        let (sender, mut pieces) = mpsc::channel::<Bytes>(PROGRESS_LENGTH);
        let mut reply = self.sandbox.perform(id, actor, request, Some(sender));
        loop {
            tokio::select! {
                biased;
                reply = &mut reply => return reply,
                Some(piece) = pieces.next() => {
                    let clean = redactor.push(&piece);
                    if !clean.is_empty() {
                        // The reply has everything, so a piece that finds no room may be lost.
                        let _ = progress.try_send(clean.into());
                    }
                }
            }
        }
    }
}

fn redacted(
    reply: Result<ComputerReply, ComputerError>,
    redactor: &Redactor,
) -> Result<ComputerReply, ComputerError> {
    match reply {
        Ok(ComputerReply::Acted { text, frame }) => Ok(ComputerReply::Acted {
            text: redactor.clean(&text),
            frame,
        }),
        Ok(ComputerReply::Shell(output)) => Ok(ComputerReply::Shell(ShellOutput {
            output: redactor.clean(&output.output),
            cwd: redactor.clean(&output.cwd),
            ..output
        })),
        Ok(ComputerReply::Edited { text }) => Ok(ComputerReply::Edited {
            text: redactor.clean(&text),
        }),
        Err(ComputerError::Failed(problem)) => Err(ComputerError::Failed(redactor.clean(&problem))),
        Err(
            error @ (ComputerError::Refused { .. }
            | ComputerError::Cancelled
            | ComputerError::FateUnknown
            | ComputerError::Gone
            | ComputerError::Ended(_)),
        ) => Err(error),
    }
}
