//! Carrying requests out: each kind in order of arrival, the kinds beside each other.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use deskhand_core::{
    edit::EditCommand,
    id::RequestId,
    sandbox::{Actor, ComputerRequest},
    shell::ShellRequest,
    tasks::Tasks,
    vault::{Filling, SecretName},
};
use deskhand_runner_protocol::{FrameHead, Outcome};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Admission, MOST_OPEN};
use crate::{
    desktop::{ActError, Acted, Desktop},
    editor::Editor,
    keep,
    link::Outbox,
    shell::{OnOutput, Shell, ShellError},
    whole_story,
};

/// Takes requests in and sees that each gets its result.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    desktop: Desktop,
    shell: Shell,
    editor: Arc<Mutex<Editor>>,
    outbox: Outbox,
    actions: Lane,
    commands: Lane,
    edits: Lane,
    tasks: Tasks,
}

/// What came of a request, with the bytes of a picture.
type Done = (Outcome, Bytes);

/// Does one piece of work after the other, in the order in which they came.
#[derive(Debug, Clone)]
struct Lane(mpsc::Sender<BoxFuture<'static, ()>>);

impl Work {
    pub(crate) fn new(desktop: Desktop, shell: Shell, outbox: Outbox, tasks: &Tasks) -> Self {
        Self {
            desktop,
            shell,
            editor: Arc::default(),
            outbox,
            actions: Lane::start("actions", tasks),
            commands: Lane::start("commands", tasks),
            edits: Lane::start("edits", tasks),
            tasks: tasks.clone(),
        }
    }

    /// Starts on a request, unless its id has been seen before.
    pub(crate) fn take(&self, id: RequestId, actor: Actor, request: ComputerRequest) {
        let cancel = match self.outbox.admit(id, actor) {
            Admission::New(cancel) => cancel,
            Admission::Refused => return self.outbox.skip(id),
            Admission::Running => return,
            Admission::Done(result) => return self.outbox.repeat(result),
            Admission::Closed => {
                return self
                    .outbox
                    .refuse(id, "the request was already done".to_owned());
            }
            Admission::Full => {
                let problem = format!("{MOST_OPEN} requests are open already");
                return self.outbox.refuse(id, problem);
            }
        };
        match request {
            ComputerRequest::Act {
                action,
                look,
                shown,
            } => {
                let desktop = self.desktop.clone();
                self.actions
                    .push(self.report(id, cancel.clone(), async move {
                        match desktop.act(&action, look, shown, cancel).await {
                            Ok(done) => acted(done),
                            Err(ActError::Cancelled) => (Outcome::Cancelled, Bytes::new()),
                            Err(error) => failed(&error),
                        }
                    }));
            }
            ComputerRequest::Look { format, shown } => {
                let desktop = self.desktop.clone();
                let look = self.report(id, cancel, async move {
                    match desktop.look(format, shown).await {
                        Ok(frame) => acted(Acted {
                            text: "The screen as it is now.".to_owned(),
                            frame: Some(frame),
                        }),
                        Err(error) => failed(&error),
                    }
                });
                self.tasks.spawn("look", look);
            }
            ComputerRequest::Fill { name, filling } => {
                let fill = fill(self.desktop.clone(), name, filling, cancel.clone());
                self.actions.push(self.report(id, cancel, fill));
            }
            ComputerRequest::Guard { values } => {
                self.desktop.guard(values);
                let done = Outcome::Acted {
                    text: "Pictures are watched over.".to_owned(),
                    frame: None,
                };
                self.outbox.finish(id, done, &[]);
            }
            ComputerRequest::Shell(request) => {
                let command = self.command(id, request, cancel.clone());
                self.commands.push(self.report(id, cancel, command));
            }
            ComputerRequest::Edit(command) => {
                let edit = edit(Arc::clone(&self.editor), command);
                self.edits.push(self.report(id, cancel, edit));
            }
            ComputerRequest::Keep(file) => {
                self.edits.push(self.report(id, cancel, async move {
                    match tokio::task::spawn_blocking(move || keep::keep(&file)).await {
                        Ok(Ok(path)) => (Outcome::Edited { text: path }, Bytes::new()),
                        Ok(Err(error)) => failed(&error),
                        Err(error) => failed(&error),
                    }
                }));
            }
        }
    }

    fn command(
        &self,
        id: RequestId,
        request: ShellRequest,
        cancel: CancellationToken,
    ) -> impl Future<Output = Done> + Send + 'static {
        let shell = self.shell.clone();
        let outbox = self.outbox.clone();
        let on_output: OnOutput = Arc::new(move |bytes| outbox.progress(id, &bytes));
        async move {
            match shell.perform(request, on_output, cancel).await {
                Ok(output) => (Outcome::Shell { output }, Bytes::new()),
                Err(ShellError::Cancelled) => (Outcome::Cancelled, Bytes::new()),
                Err(error) => failed(&error),
            }
        }
    }

    /// `work` followed by telling what came of it. Cancelled before its turn it is not begun.
    fn report(
        &self,
        id: RequestId,
        cancel: CancellationToken,
        work: impl Future<Output = Done> + Send + 'static,
    ) -> BoxFuture<'static, ()> {
        let outbox = self.outbox.clone();
        Box::pin(async move {
            if cancel.is_cancelled() {
                return outbox.skip(id);
            }
            let (outcome, body) = work.await;
            outbox.finish(id, outcome, &body);
        })
    }
}

impl Lane {
    fn start(name: &'static str, tasks: &Tasks) -> Self {
        let (sender, mut work) = mpsc::channel::<BoxFuture<'static, ()>>(MOST_OPEN);
        let shutdown = tasks.shutdown().clone();
        tasks.spawn(name, async move {
            // What is under way at shutdown is given up.
            let _ = shutdown
                .run_until_cancelled(async {
                    while let Some(piece) = work.recv().await {
                        piece.await;
                    }
                })
                .await;
        });
        Self(sender)
    }

    fn push(&self, work: BoxFuture<'static, ()>) {
        // There is room: the table admits no more requests than fit. After shutdown nobody waits.
        let _ = self.0.try_send(work);
    }
}

async fn edit(editor: Arc<Mutex<Editor>>, command: EditCommand) -> Done {
    let edit = tokio::task::spawn_blocking(move || {
        // An edit that panicked left no half-made change in the editor.
        editor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .perform(&command)
    });
    match edit.await {
        Ok(Ok(text)) => (Outcome::Edited { text }, Bytes::new()),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

/// A secret to be typed came without its value.
#[derive(Debug, thiserror::Error)]
#[error("Nothing was typed: the server did not send the secret.")]
struct NoFilling;

async fn fill(
    desktop: Desktop,
    name: SecretName,
    filling: Option<Filling>,
    cancel: CancellationToken,
) -> Done {
    let Some(filling) = filling else {
        return failed(&NoFilling);
    };
    match desktop.fill(&filling, cancel).await {
        Ok(()) => {
            let said = "into the field. Pictures show the field black.";
            acted(Acted {
                text: format!("Typed the secret {name} {said}"),
                frame: None,
            })
        }
        Err(ActError::Cancelled) => (Outcome::Cancelled, Bytes::new()),
        Err(error) => failed(&error),
    }
}

fn acted(acted: Acted) -> Done {
    let Acted { text, frame } = acted;
    let head = frame.as_ref().map(|frame| FrameHead {
        format: frame.format,
        size: frame.size,
        pointer: frame.pointer,
    });
    let outcome = Outcome::Acted { text, frame: head };
    (outcome, frame.map(|frame| frame.bytes).unwrap_or_default())
}

fn failed(error: &dyn std::error::Error) -> Done {
    (
        Outcome::Failed {
            problem: whole_story(error),
        },
        Bytes::new(),
    )
}
