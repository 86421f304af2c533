//! Writes the files that came with messages to the computer, before the model reads the messages.

use deskhand_core::{
    attachment::Attachment,
    event::{EventBody, FilesPlaced, PlacedFile},
    id::MessageId,
};

use crate::{
    cut::{Cut, Signals},
    machine::Machine,
    ports::PlaceError,
    work::Work,
};

/// The maximum number of attempts to write a file. Each starts the computer again if it was lost.
const MOST_TRIES: u32 = 3;

/// The result of writing a file to the computer.
#[derive(Debug)]
pub(crate) enum Placing {
    Placed {
        path: String,
    },
    /// A person took control.
    Refused,
    /// It cannot be written. The model is shown the problem.
    Failed {
        problem: String,
    },
}

impl Work {
    /// Writes the files of messages to the computer that are not there yet. Returns false if a person took control in the
    /// meantime. Then the turn has to wait and call this again.
    ///
    /// An interrupted turn may have written some files without recording it. Writing them again finds the same content.
    pub(crate) async fn place_files(&mut self) -> Result<bool, Cut> {
        for (message, attachments) in unplaced(&self.journal.bodies) {
            let mut files = Vec::with_capacity(attachments.len());
            for file in attachments {
                let (path, problem) = match self.machine.place(&file, &self.signals).await? {
                    Placing::Placed { path } => (Some(path), None),
                    Placing::Failed { problem } => (None, Some(problem)),
                    Placing::Refused => return Ok(false),
                };
                files.push(PlacedFile {
                    attachment: file.id,
                    path,
                    problem,
                });
            }
            let placed = EventBody::Placed(FilesPlaced {
                turn: self.turn,
                message,
                files,
            });
            self.journal.append(vec![placed]).await?;
        }
        Ok(true)
    }

    /// Returns true if a message has files that are not on the computer yet.
    pub(crate) fn has_unplaced_files(&self) -> bool {
        !unplaced(&self.journal.bodies).is_empty()
    }
}

impl Machine {
    /// Writes a file to the computer, and starts the computer if necessary.
    async fn place(&self, file: &Attachment, signals: &Signals) -> Result<Placing, Cut> {
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            let placed = tokio::select! {
                biased;
                cut = signals.stopped() => return Err(cut),
                placed = self.desk.place(file) => placed,
            };
            return Ok(match placed {
                Ok(path) => Placing::Placed { path },
                Err(PlaceError::Leased) => Placing::Refused,
                Err(PlaceError::Lost) if n_tries < MOST_TRIES => continue,
                Err(error @ (PlaceError::Lost | PlaceError::Problem(_))) => Placing::Failed {
                    problem: error.to_string(),
                },
                Err(PlaceError::NoComputer(error)) => {
                    return Err(Cut::Failed {
                        code: "sandbox_failed",
                        message: error.message,
                    });
                }
            });
        }
    }
}

/// Returns the messages whose files are not on the computer yet, with these files.
fn unplaced(log: &[EventBody]) -> Vec<(MessageId, Vec<Attachment>)> {
    let mut messages: Vec<(MessageId, Vec<Attachment>)> = Vec::new();
    for body in log {
        if let EventBody::Message(said) = body
            && !said.attachments.is_empty()
        {
            messages.push((said.id, said.attachments.clone()));
        }
        if let EventBody::Placed(placed) = body {
            messages.retain(|(message, _)| *message != placed.message);
        }
    }
    messages
}
