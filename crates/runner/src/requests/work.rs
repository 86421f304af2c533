//! Carries out requests. Those of one lane run in order of arrival, and lanes run concurrently.

use std::sync::Arc;

use deskhand_core::{
    id::RequestId,
    sandbox::{Actor, RunnerRequest},
    tasks::Tasks,
};
use deskhand_runner_protocol::Outcome;
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Admission, MOST_OPEN};
use crate::{
    barrier::Barrier,
    handlers::{Handler, HandlerContext, HandlerError, Lane, Parts},
    link::Outbox,
    whole_story,
};

/// Accepts requests and makes sure that each gets a result.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    parts: Parts,
    outbox: Outbox,
    barrier: Barrier,
    actions: Queue,
    commands: Queue,
    files: Queue,
    tasks: Tasks,
}

/// An admitted request that waits for its turn.
struct RequestTurn {
    id: RequestId,
    /// Absent if the request is allowed regardless of the lease.
    actor: Option<Actor>,
    cancel: CancellationToken,
}

/// Runs one future after the other, in order of arrival.
#[derive(Debug, Clone)]
struct Queue(mpsc::Sender<BoxFuture<'static, ()>>);

impl Work {
    pub(crate) fn new(parts: Parts, outbox: Outbox, barrier: Barrier, tasks: &Tasks) -> Self {
        Self {
            parts,
            outbox,
            barrier,
            actions: Queue::start("actions", tasks),
            commands: Queue::start("commands", tasks),
            files: Queue::start("files", tasks),
            tasks: tasks.clone(),
        }
    }

    /// Starts a request, unless its id has been seen before.
    pub(crate) fn take(&self, id: RequestId, actor: Actor, request: RunnerRequest) {
        let actor = (!request.is_for_everyone()).then_some(actor);
        let cancel = match self.outbox.admit(id, actor) {
            Admission::New(cancel) => cancel,
            Admission::Refused => return self.outbox.skip(id),
            Admission::Running => return,
            Admission::Done(result) => return self.outbox.repeat(result),
            Admission::Closed => {
                let problem = "the request was already done".to_owned();
                return self.outbox.refuse(id, problem);
            }
            Admission::Full => {
                let problem = format!("{MOST_OPEN} requests are already open");
                return self.outbox.refuse(id, problem);
            }
        };
        let turn = RequestTurn { id, actor, cancel };
        match request {
            RunnerRequest::Act(operation) => self.start(turn, operation),
            RunnerRequest::Look(operation) => self.start(turn, operation),
            RunnerRequest::Shell(operation) => self.start(turn, operation),
            RunnerRequest::Edit(operation) => self.start(turn, operation),
            RunnerRequest::PutFile(operation) => self.start(turn, operation),
            RunnerRequest::OpenTerminal(operation) => self.start(turn, operation),
            RunnerRequest::ListTerminals(operation) => self.start(turn, operation),
            RunnerRequest::RenameTerminal(operation) => self.start(turn, operation),
            RunnerRequest::KillTerminal(operation) => self.start(turn, operation),
            RunnerRequest::Files(operation) => self.start(turn, operation),
            RunnerRequest::TakeFile(operation) => self.start(turn, operation),
            RunnerRequest::ReadClipboard(operation) => self.start(turn, operation),
            RunnerRequest::SetClipboard(operation) => self.start(turn, operation),
            RunnerRequest::Browse(operation) => self.start(turn, operation),
            RunnerRequest::FindElement(operation) => self.start(turn, operation),
            RunnerRequest::FindField(operation) => self.start(turn, operation),
            RunnerRequest::TypeSecret(operation) => self.start(turn, operation),
            RunnerRequest::CoverSecrets(operation) => self.start(turn, operation),
        }
    }

    /// Puts an operation into its lane.
    fn start<O: Handler>(&self, turn: RequestTurn, operation: O) {
        let RequestTurn { id, actor, cancel } = turn;
        let outbox = self.outbox.clone();
        let context = HandlerContext {
            cancel: cancel.clone(),
            on_output: Arc::new(move |bytes| outbox.progress(id, &bytes)),
        };
        let handling = operation.handle(self.parts.clone(), context);
        let (outbox, barrier) = (self.outbox.clone(), self.barrier.clone());
        let work = async move {
            // A request that was cancelled before its turn is not begun.
            if cancel.is_cancelled() {
                return outbox.skip(id);
            }
            // Another holder is confirmed only after a started change has ended.
            let passage = actor
                .filter(|_| O::CHANGES_FILES)
                .map(|actor| barrier.pass(actor));
            if matches!(passage, Some(None)) {
                return outbox.skip(id);
            }
            let outcome = match handling.await {
                Ok(reply) => Outcome::Done(O::wrap_reply(reply)),
                Err(HandlerError::Cancelled) => Outcome::Cancelled,
                Err(HandlerError::Failed(error)) => Outcome::Failed {
                    problem: whole_story(&*error),
                },
            };
            outbox.finish(id, outcome);
            drop(passage);
        };
        match O::LANE {
            Lane::Actions => self.actions.push(work),
            Lane::Commands => self.commands.push(work),
            Lane::Files => self.files.push(work),
            Lane::None => {
                self.tasks.spawn("request", work);
            }
        }
    }
}

impl Queue {
    fn start(name: &'static str, tasks: &Tasks) -> Self {
        let (sender, mut work) = mpsc::channel::<BoxFuture<'static, ()>>(MOST_OPEN);
        let shutdown = tasks.shutdown().clone();
        tasks.spawn(name, async move {
            // Work that is running at shutdown is dropped.
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

    fn push(&self, work: impl Future<Output = ()> + Send + 'static) {
        // There is room: the table admits no more requests than fit. After shutdown, no caller waits for the
        // result.
        let _ = self.0.try_send(Box::pin(work));
    }
}
