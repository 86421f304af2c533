//! One call on the computer: sent once, followed while it goes on, and ended early when the turn
//! must not go on.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    decision::GivenFile,
    event::{EventBody, ToolResult},
    id::{DecisionId, TurnId},
    model::{ToolCall, ToolRequest},
    sandbox::{
        Act, Actor, Call, Computer, ComputerError, ComputerExt, Edited, FilePut, ForSession,
        Operation, PutFile, SecretTyped,
    },
    shell::ShellOutput,
};
use futures::{StreamExt, channel::mpsc};
use tokio::time::Instant;

use crate::{
    action_text::action_text,
    batch::{After, Outcome, STOPPED},
    listen::FLUSH_EVERY,
    result_text::{interrupted_shell_text, secret_typed_text, shell_text},
    work::{Cut, Work},
};

/// How long a request that was cancelled may take to say what became of it. A stop promises an
/// end within a second.
const CANCEL_GRACE: Duration = Duration::from_millis(700);
/// How long the computer may take for anything. Commands may take half an hour, and end by themselves.
const LONGEST_ACTION: Duration = Duration::from_mins(35);
/// How many pieces of output may wait to be written down.
const PROGRESS_LENGTH: usize = 16;
/// How much output of one command is shown while it runs. The result has the rest.
const MOST_PROGRESS_BYTES: usize = 64 * 1024;

const NO_COMPUTER: &str = "Not executed: the computer was not ready.";
const FATE_UNKNOWN: &str = "The computer was lost during this action, so it is not known whether \
                            it was done. It is started again for the next action: files are kept, \
                            open programs are gone.";
const GONE: &str = "Not executed: the computer was not running. It is started again for the next \
                    action: files are kept, open programs are gone.";
const CANCELLED: &str = "The action was cancelled before it was done.";
const NO_ANSWER: &str = "The computer gave no answer, so it is not known whether it was done. Look before \
                         you go on.";
const UNKNOWN_AFTER_STOP: &str = "Stopped; it is not known whether it was done.";

impl Work {
    /// Carries out one call, and what is to follow it.
    pub(crate) async fn perform(
        &mut self,
        call: &ToolCall,
        request: ToolRequest,
        after: After,
    ) -> Outcome {
        if let ToolRequest::Computer(action) = &request {
            self.note_buttons(action);
        }
        let outcome = match request {
            ToolRequest::Computer(action) => {
                let act = Act {
                    action: action.clone(),
                    // The computer waits for a quiet screen only before it takes a picture.
                    look: after != After::Nothing,
                    shown: Some(self.model.shown(self.screen)),
                };
                let told = |acted| {
                    let text = action_text(&action, &acted);
                    Told::from(Outcome {
                        frame: acted.frame,
                        ..Outcome::done(text)
                    })
                };
                self.use_computer(call, act, told).await
            }
            ToolRequest::Bash(shell) => {
                let told = |output: ShellOutput| Told::shell(&output);
                self.use_computer(call, shell, told).await
            }
            ToolRequest::Editor(edit) => {
                let told = |edited: Edited| Outcome::done(edited.text).into();
                self.use_computer(call, edit, told).await
            }
            ToolRequest::FillSecret(fill) => {
                let text = secret_typed_text(&fill.name);
                let told = |SecretTyped| Outcome::done(text).into();
                self.use_computer(call, fill, told).await
            }
            ToolRequest::AskUser(question) => return self.ask(call, &question).await,
        };
        Outcome {
            frame: outcome.frame.filter(|_| after == After::Picture),
            ..outcome
        }
    }

    /// Puts a file that somebody gave into the home folder; the result is its path.
    pub(crate) async fn keep_file(
        &mut self,
        call: &ToolCall,
        decision: DecisionId,
        file: &GivenFile,
    ) -> Outcome {
        // A folder per question, so that no answer takes the place of another.
        let id = decision.0.simple().to_string();
        let put = PutFile {
            folder: format!("answers/{}", &id[id.len() - 6..]),
            name: file.name.clone(),
            bytes: file.bytes.clone().into(),
        };
        // Somebody who drives would have it refused, and then the answer would be lost.
        tokio::select! {
            biased;
            cut = self.interruption() => return Outcome::cut(STOPPED, cut),
            () = self.desk.free() => {}
        }
        let told = |put: FilePut| Outcome::done(put.path).into();
        self.use_computer(call, put, told).await
    }

    /// Carries out an operation; `told` puts its reply into words.
    async fn use_computer<O: Operation<ForSession>>(
        &mut self,
        call: &ToolCall,
        operation: O,
        told: impl FnOnce(O::Reply) -> Told,
    ) -> Outcome {
        let computer = match self.computer().await {
            Ok(computer) => computer,
            Err(Cut::Stopped) => return Outcome::cut(STOPPED, Cut::Stopped),
            Err(cut) => return Outcome::cut(NO_COMPUTER, cut),
        };
        match self.send(call, &*computer, operation).await {
            Sent::Answered(answer) => self.outcome(answer.map(told)),
            Sent::Cut(answer, cut) => cut_short(answer.map(|answer| answer.map(told)), cut),
        }
    }

    /// The session's computer, which may first have to be started.
    pub(crate) async fn computer(&mut self) -> Result<Arc<dyn Computer>, Cut> {
        let (known, desk) = (self.computer.clone(), Arc::clone(&self.desk));
        let found = async move {
            match known {
                Some(computer) => Ok(computer),
                None => desk.computer().await,
            }
        };
        let computer = tokio::select! {
            biased;
            cut = self.interruption() => return Err(cut),
            found = found => found.map_err(|error| Cut::Failed {
                code: "sandbox_failed",
                message: error.message,
            })?,
        };
        self.computer = Some(Arc::clone(&computer));
        Ok(computer)
    }

    async fn send<O: Operation<ForSession>>(
        &mut self,
        call: &ToolCall,
        computer: &dyn Computer,
        operation: O,
    ) -> Sent<O::Reply> {
        let (sender, mut pieces) = mpsc::channel(PROGRESS_LENGTH);
        let mut progress = Progress::new(self.turn, &call.id);
        let call = Call {
            progress: Some(sender),
            ..Call::by(Actor::Agent)
        };
        let id = call.id;
        let answer = computer.perform(call, operation);
        tokio::pin!(answer);
        let interruption = self.interruption();
        tokio::pin!(interruption);
        let too_long = tokio::time::sleep(LONGEST_ACTION);
        tokio::pin!(too_long);
        let cut = loop {
            let flush_at = progress.flush_at;
            tokio::select! {
                biased;
                answer = &mut answer => return Sent::Answered(answer),
                cut = &mut interruption => break cut,
                () = &mut too_long => {
                    computer.cancel(id).await;
                    return Sent::Answered(Err(ComputerError::Failed(NO_ANSWER.to_owned())));
                }
                () = tokio::time::sleep_until(flush_at.unwrap_or_else(Instant::now)), if flush_at.is_some() => {
                    if let Err(error) = self.journal.append(progress.take().into_iter().collect()).await {
                        break Cut::LogLost(error);
                    }
                }
                Some(piece) = pieces.next() => progress.push(&piece),
            }
        };
        let cancelled = async { tokio::join!(computer.cancel(id), &mut answer).1 };
        // Whoever does not answer in time is left behind: its fate is not known.
        let answer = tokio::time::timeout(CANCEL_GRACE, cancelled).await.ok();
        Sent::Cut(answer, cut)
    }

    fn outcome(&mut self, answer: Result<Told, ComputerError>) -> Outcome {
        match answer {
            Ok(told) => told.outcome,
            Err(ComputerError::Failed(problem)) => Outcome::failed(problem),
            Err(error @ ComputerError::Refused { .. }) => Outcome::failed(error.to_string()),
            Err(ComputerError::Cancelled) => Outcome::failed(CANCELLED),
            Err(ComputerError::FateUnknown) => {
                self.computer = None;
                Outcome::failed(FATE_UNKNOWN)
            }
            Err(ComputerError::Gone) => {
                self.computer = None;
                Outcome::failed(GONE)
            }
            Err(ComputerError::Ended(why)) => {
                self.computer = None;
                Outcome::failed(why)
            }
        }
    }
}

/// The end of a request.
enum Sent<Reply> {
    Answered(Result<Reply, ComputerError>),
    /// The turn was cut short. The request may have been answered all the same.
    Cut(Option<Result<Reply, ComputerError>>, Cut),
}

/// A reply in words.
struct Told {
    outcome: Outcome,
    /// The output of a command that was interrupted, ready for a line about why.
    interrupted: Option<String>,
}

impl Told {
    fn shell(output: &ShellOutput) -> Self {
        let (text, is_error) = shell_text(output);
        Self {
            outcome: Outcome {
                is_error,
                ..Outcome::done(text)
            },
            interrupted: interrupted_shell_text(output),
        }
    }
}

impl From<Outcome> for Told {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            interrupted: None,
        }
    }
}

fn cut_short(answer: Option<Result<Told, ComputerError>>, cut: Cut) -> Outcome {
    match answer {
        Some(Ok(Told {
            interrupted: Some(text),
            ..
        })) => Outcome::cut(format!("{text}{STOPPED}"), cut),
        // It was done before the cancellation arrived.
        Some(Ok(Told { outcome, .. })) => Outcome {
            cut: Some(cut),
            ..outcome
        },
        Some(Err(ComputerError::Failed(problem) | ComputerError::Ended(problem))) => {
            Outcome::cut(problem, cut)
        }
        Some(Err(error @ ComputerError::Refused { .. })) => Outcome::cut(error.to_string(), cut),
        Some(Err(ComputerError::Cancelled | ComputerError::Gone)) => Outcome::cut(STOPPED, cut),
        Some(Err(ComputerError::FateUnknown)) | None => Outcome::cut(UNKNOWN_AFTER_STOP, cut),
    }
}

/// A command's output on its way to the log.
struct Progress {
    turn: TurnId,
    call: String,
    /// What is not yet written down. It may end in the middle of a character.
    pending: Vec<u8>,
    n_shown_bytes: usize,
    flush_at: Option<Instant>,
}

impl Progress {
    fn new(turn: TurnId, call: &str) -> Self {
        Self {
            turn,
            call: call.to_owned(),
            pending: Vec::new(),
            n_shown_bytes: 0,
            flush_at: None,
        }
    }

    fn push(&mut self, piece: &Bytes) {
        let room = MOST_PROGRESS_BYTES.saturating_sub(self.n_shown_bytes);
        let piece = &piece[..piece.len().min(room)];
        if piece.is_empty() {
            return;
        }
        self.n_shown_bytes += piece.len();
        self.pending.extend_from_slice(piece);
        self.flush_at
            .get_or_insert_with(|| Instant::now() + FLUSH_EVERY);
    }

    /// The event for what is new, up to the last whole character.
    fn take(&mut self) -> Option<EventBody> {
        self.flush_at = None;
        let text = take_whole_characters(&mut self.pending);
        (!text.is_empty()).then(|| {
            EventBody::ToolResult(ToolResult {
                turn: Some(self.turn),
                call: self.call.clone(),
                text,
                is_error: false,
                duration_ms: 0,
                partial: true,
            })
        })
    }
}

/// Takes everything but a character whose end has not come yet. What is no UTF-8 is replaced.
fn take_whole_characters(bytes: &mut Vec<u8>) -> String {
    let unfinished = bytes
        .utf8_chunks()
        .last()
        .map(|last| last.invalid())
        .filter(|invalid| is_beginning(invalid))
        .map_or(0, <[u8]>::len);
    let rest = bytes.split_off(bytes.len() - unfinished);
    let whole = std::mem::replace(bytes, rest);
    String::from_utf8_lossy(&whole).into_owned()
}

/// Whether more bytes could make a character of these.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_held_back_until_it_is_whole() {
        let (mut bytes, mut text) = (Vec::new(), String::new());
        for byte in "Grüße, 谢谢 🌿".bytes() {
            bytes.push(byte);
            text.push_str(&take_whole_characters(&mut bytes));
        }
        assert_eq!(text, "Grüße, 谢谢 🌿");
        assert!(bytes.is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hold_anything_up() {
        let mut bytes = b"a\xff\xfeb\xe8".to_vec();
        assert_eq!(take_whole_characters(&mut bytes), "a\u{fffd}\u{fffd}b");
        bytes.push(b'c');
        assert_eq!(take_whole_characters(&mut bytes), "\u{fffd}c");
    }
}
