//! The access of a call to the session's computer, people and log.
//!
//! A request is sent once, followed while it runs, and ended early if the turn must end. This is the only place that
//! cuts calls short: tools pass on the failure they get.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use deskhand_core::{
    action::Action,
    blob::BlobName,
    browser::{Browse, Browsed},
    decision::{Ask, GivenFile},
    edit::EditCommand,
    event::EventBody,
    file::{FilePath, LARGEST_ARTIFACT_BYTES},
    id::TurnId,
    sandbox::{
        Act, Acted, Actor, Call, Computer, ComputerError, ComputerExt, FileTaken, ForSession,
        Operation, PutFile, TakeFile,
    },
    shell::{ShellOutput, ShellRequest},
    tool_server::{RemoteAnswer, RemoteCall},
    vault::{FieldPlace, FillSecret, FindSecretField, SecretName},
};
use futures::{StreamExt, channel::mpsc};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    after::After,
    batch::STOPPED,
    cut::Cut,
    page_picture,
    ports::Settled,
    shell_progress::ShellProgress,
    tools::{ToolContext, ToolFailure, interrupted_shell_text},
    work::Work,
};

/// The time in which a cancelled request may report its fate. A stop promises an end within a second.
const CANCEL_GRACE: Duration = Duration::from_millis(700);
/// The timeout of every request to the computer. Commands have their own timeout of at most half an hour.
const LONGEST_ACTION: Duration = Duration::from_mins(35);
/// The number of pieces of output that may wait to be logged.
pub(crate) const PROGRESS_LENGTH: usize = 16;

const NO_COMPUTER: &str = "Not executed: the computer was not ready.";
const FATE_UNKNOWN: &str = "The computer was lost during this action, so it is not known whether it was done. \
                            It starts again for the next action: files are kept, open programs are gone.";
const GONE: &str = "Not executed: the computer was not running. It starts again for the next action: files are \
                    kept, open programs are gone.";
const CANCELLED: &str = "The action was cancelled before it was done.";
const NO_ANSWER: &str = "The computer gave no answer, so it is not known whether it was done. Look before \
                         you go on.";
pub(crate) const UNKNOWN_AFTER_STOP: &str = "Stopped; it is not known whether it was done.";
const NOT_ASKED: &str = "Not executed: the question could not be stored.";
const NOT_LOGGED: &str = "Not executed: it could not be stored.";

/// The context of one call of a turn.
pub(crate) struct CallContext<'a> {
    pub(crate) work: &'a mut Work,
    pub(crate) call: &'a str,
    after: After,
    /// The reason why the turn cannot continue after the call.
    pub(crate) cut: Option<Cut>,
}

/// The outcome of a request.
enum Sent<Reply> {
    Answered(Result<Reply, ComputerError>),
    /// The turn was cut short. The computer may have answered nevertheless.
    Cut(Option<Result<Reply, ComputerError>>, Cut),
}

impl<'a> CallContext<'a> {
    pub(crate) fn new(work: &'a mut Work, call: &'a str, after: After) -> Self {
        Self {
            work,
            call,
            after,
            cut: None,
        }
    }

    /// Ends the turn after this call, which failed with `text`.
    pub(crate) fn cut_off(&mut self, text: impl Into<String>, cut: Cut) -> ToolFailure {
        self.cut = Some(cut);
        ToolFailure(text.into())
    }

    /// Carries out an operation on the session's computer.
    async fn use_computer<O: Operation<ForSession>>(
        &mut self,
        operation: O,
    ) -> Result<O::Reply, ToolFailure> {
        if self.cut.is_some() {
            return Err(STOPPED.into());
        }
        let computer = match self.work.machine.computer(&self.work.signals).await {
            Ok(computer) => computer,
            Err(Cut::Stopped) => return Err(self.cut_off(STOPPED, Cut::Stopped)),
            Err(cut) => return Err(self.cut_off(NO_COMPUTER, cut)),
        };
        match self.send(&*computer, operation).await {
            Sent::Answered(Ok(reply)) => Ok(reply),
            Sent::Answered(Err(error)) => {
                self.work.machine.note_failure(&error);
                Err(failure(error))
            }
            Sent::Cut(answer, cut) => self.cut_short(answer, cut),
        }
    }

    async fn send<O: Operation<ForSession>>(
        &mut self,
        computer: &dyn Computer,
        operation: O,
    ) -> Sent<O::Reply> {
        let (sender, mut pieces) = mpsc::channel(PROGRESS_LENGTH);
        let call = Call {
            progress: Some(sender),
            ..Call::by(Actor::Agent)
        };
        let id = call.id;
        let mut progress = ShellProgress::new(self.work.turn, self.call);
        let answer = computer.perform(call, operation);
        tokio::pin!(answer);
        let stopped = self.work.signals.stopped();
        tokio::pin!(stopped);
        let too_long = tokio::time::sleep(LONGEST_ACTION);
        tokio::pin!(too_long);
        // Follow the request until it is answered, the turn is stopped or the timeout passes.
        let cut = loop {
            let flush_at = progress.flush_at;
            tokio::select! {
                biased;
                answer = &mut answer => return Sent::Answered(answer),
                cut = &mut stopped => break cut,
                () = &mut too_long => {
                    computer.cancel(id).await;
                    return Sent::Answered(Err(ComputerError::Failed(NO_ANSWER.to_owned())));
                }
                () = tokio::time::sleep_until(flush_at.unwrap_or_else(Instant::now)), if flush_at.is_some() => {
                    let bodies = progress.take().into_iter().collect();
                    if let Err(error) = self.work.journal.append(bodies).await {
                        break Cut::LogLost(error);
                    }
                }
                Some(piece) = pieces.next() => progress.push(&piece),
            }
        };
        // The turn ends: cancel the request and give it a moment to report its fate.
        let cancelled = async { tokio::join!(computer.cancel(id), &mut answer).1 };
        // A request that does not answer in time is abandoned. Its fate is unknown.
        let answer = tokio::time::timeout(CANCEL_GRACE, cancelled).await.ok();
        Sent::Cut(answer, cut)
    }

    /// Interprets the answer to a request that was cancelled because the turn ends.
    fn cut_short<Reply>(
        &mut self,
        answer: Option<Result<Reply, ComputerError>>,
        cut: Cut,
    ) -> Result<Reply, ToolFailure> {
        let text = match answer {
            // It was done before the cancellation arrived.
            Some(Ok(reply)) => {
                self.cut = Some(cut);
                return Ok(reply);
            }
            Some(Err(ComputerError::Failed(problem) | ComputerError::Ended(problem))) => problem,
            Some(Err(
                error @ (ComputerError::Refused { .. }
                | ComputerError::NothingListens(_)
                | ComputerError::NoSoundCard),
            )) => error.to_string(),
            Some(Err(ComputerError::Cancelled | ComputerError::Gone)) => STOPPED.to_owned(),
            Some(Err(ComputerError::FateUnknown)) | None => UNKNOWN_AFTER_STOP.to_owned(),
        };
        Err(self.cut_off(text, cut))
    }
}

fn failure(error: ComputerError) -> ToolFailure {
    match error {
        ComputerError::Failed(problem) | ComputerError::Ended(problem) => ToolFailure(problem),
        ComputerError::Refused { .. }
        | ComputerError::NothingListens(_)
        | ComputerError::NoSoundCard => ToolFailure(error.to_string()),
        ComputerError::Cancelled => CANCELLED.into(),
        ComputerError::FateUnknown => FATE_UNKNOWN.into(),
        ComputerError::Gone => GONE.into(),
    }
}

#[async_trait]
impl ToolContext for CallContext<'_> {
    fn turn(&self) -> Option<TurnId> {
        Some(self.work.turn)
    }

    fn now(&self) -> Timestamp {
        self.work.clock.now()
    }

    async fn act(&mut self, action: &Action) -> Result<Acted, ToolFailure> {
        self.work.machine.note_buttons(action);
        let shown = self.work.model.model.shown(self.work.machine.screen);
        let act = Act {
            action: action.clone(),
            // The computer waits for the screen to settle only before it takes a picture.
            look: self.after != After::Nothing,
            shown: Some(shown),
        };
        let acted = self.use_computer(act).await?;
        Ok(Acted {
            frame: acted.frame.filter(|_| self.after == After::Picture),
            ..acted
        })
    }

    async fn browse(&mut self, mut browse: Browse) -> Result<Browsed, ToolFailure> {
        browse.look = browse.look.filter(|_| self.after == After::Picture);
        let mut browsed = self.use_computer(browse).await?;
        if let Some(frame) = browsed.frame.take() {
            let model = &*self.work.model.model;
            browsed.frame = Some(page_picture::fitted(frame, model).await?);
        }
        Ok(browsed)
    }

    async fn shell(&mut self, request: ShellRequest) -> Result<ShellOutput, ToolFailure> {
        let output = self.use_computer(request).await?;
        // A command that the end of the turn interrupted has failed. The failure includes its output so far.
        match (&self.cut, interrupted_shell_text(&output)) {
            (Some(_), Some(printed)) => Err(ToolFailure(format!("{printed}{STOPPED}"))),
            _ => Ok(output),
        }
    }

    async fn edit(&mut self, command: EditCommand) -> Result<String, ToolFailure> {
        Ok(self.use_computer(command).await?.text)
    }

    async fn put_file(&mut self, folder: String, file: &GivenFile) -> Result<String, ToolFailure> {
        let put = PutFile {
            folder,
            name: file.name.clone(),
            bytes: file.bytes.clone().into(),
        };
        // The computer would refuse it while a person has control, and then the file would be lost.
        if let Err(cut) = self.work.machine.free(&self.work.signals).await {
            return Err(self.cut_off(STOPPED, cut));
        }
        Ok(self.use_computer(put).await?.path)
    }

    async fn take_file(&mut self, path: FilePath) -> Result<FileTaken, ToolFailure> {
        let take = TakeFile {
            path,
            most_bytes: LARGEST_ARTIFACT_BYTES,
        };
        self.use_computer(take).await
    }

    async fn keep_file(&mut self, bytes: Bytes) -> Result<BlobName, ToolFailure> {
        let kept = self.work.album.keep_file(bytes).await;
        kept.map_err(|error| ToolFailure(error.to_string()))
    }

    async fn find_secret_field(&mut self, name: SecretName) -> Result<FieldPlace, ToolFailure> {
        self.use_computer(FindSecretField { name }).await
    }

    async fn fill_secret(&mut self, secret: FillSecret) -> Result<(), ToolFailure> {
        self.use_computer(secret).await.map(drop)
    }

    async fn call_remote(
        &mut self,
        server: &str,
        call: RemoteCall,
    ) -> Result<RemoteAnswer, ToolFailure> {
        self.use_server(server, call).await
    }

    async fn ask(&mut self, ask: Ask) -> Result<Settled, ToolFailure> {
        let ask = Ask {
            call: Some(self.call.to_owned()),
            ..ask
        };
        let Work {
            people,
            signals,
            stopwatch,
            ..
        } = &mut *self.work;
        match people.settle(ask, signals, stopwatch).await {
            Ok(settled) => Ok(settled),
            Err(cut @ Cut::LogLost(_)) => Err(self.cut_off(NOT_ASKED, cut)),
            Err(cut) => Err(self.cut_off(STOPPED, cut)),
        }
    }

    async fn append(&mut self, bodies: Vec<EventBody>) -> Result<(), ToolFailure> {
        match self.work.journal.append(bodies).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.cut_off(NOT_LOGGED, Cut::LogLost(error))),
        }
    }
}
