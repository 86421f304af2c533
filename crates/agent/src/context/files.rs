//! Files that came with messages: the ones that the model is shown, and the note about their paths.

use std::fmt::Write;

use deskhand_core::{
    attachment::{
        Attachment, AttachmentKind, LARGEST_SHOWN_PDF_BYTES, LARGEST_SHOWN_PICTURE_BYTES,
    },
    event::{EventBody, PlacedFile},
    model::ShownFile,
};

use super::ShownFiles;

/// The maximum number of bytes of files in one request. In base64 they fit into the limit of every vendor, with room for
/// pictures of the screen.
const MOST_SHOWN_BYTES: u64 = 12_000_000;

/// The attached files that may be shown at one point of the log, oldest first.
#[derive(Debug, Default)]
struct ShownSoFar<'a> {
    files: Vec<&'a Attachment>,
    n_bytes: u64,
    /// True from the rejection of a request with files until the model answers without them.
    are_left_out: bool,
}

/// Returns the attached files that may be shown, oldest first.
///
/// If a vendor rejects a request and accepts it without its files, these files are not shown again. Otherwise every later
/// request would be rejected as well. If the request fails without files too, they were not the reason, and the next turn
/// shows them again.
pub(crate) fn shown_attachments(log: &[EventBody]) -> Vec<&Attachment> {
    let mut shown = ShownSoFar::default();
    for body in log {
        if let EventBody::Message(said) = body {
            for file in &said.attachments {
                shown.add(file);
            }
        } else if matches!(body, EventBody::Retry(retry) if retry.without_files) {
            shown.are_left_out = true;
        } else if shown.are_left_out && is_answer(body) {
            shown = ShownSoFar::default();
        } else if is_end_of_turn(body) {
            shown.are_left_out = false;
        }
    }
    if shown.are_left_out {
        return Vec::new();
    }
    shown.files
}

impl<'a> ShownSoFar<'a> {
    /// Adds a file. When the files exceed the maximum size, the oldest are dropped until half of it is free, so that many
    /// consecutive requests begin in the same way.
    fn add(&mut self, file: &'a Attachment) {
        let Some(n_bytes) = shown_bytes(file) else {
            return;
        };
        self.files.push(file);
        self.n_bytes += n_bytes;
        if self.n_bytes <= MOST_SHOWN_BYTES {
            return;
        }
        while self.n_bytes > MOST_SHOWN_BYTES / 2 && self.files.len() > 1 {
            self.n_bytes -= shown_bytes(self.files.remove(0)).unwrap_or_default();
        }
    }
}

/// Returns true for something that the model said or did.
fn is_answer(body: &EventBody) -> bool {
    matches!(body, EventBody::Thinking(_) | EventBody::Text(_))
        || matches!(body, EventBody::ToolUse(call) if call.turn.is_some())
}

fn is_end_of_turn(body: &EventBody) -> bool {
    matches!(body, EventBody::Complete(_))
        || matches!(body, EventBody::Error(failure) if failure.turn.is_some())
}

/// Returns the size of a file in a request, or `None` if no model is shown it. Pictures are scaled down.
fn shown_bytes(file: &Attachment) -> Option<u64> {
    match file.kind() {
        AttachmentKind::Picture => Some(file.n_bytes.min(LARGEST_SHOWN_PICTURE_BYTES)),
        AttachmentKind::Pdf => Some(file.n_bytes).filter(|n| *n <= LARGEST_SHOWN_PDF_BYTES),
        AttachmentKind::Other => None,
    }
}

/// Returns the files of a message that the model is shown, with their names in this message.
pub(super) fn shown(files: &[Attachment], available: &ShownFiles) -> Vec<ShownFile> {
    let shown = |file: &Attachment| {
        shown_bytes(file)?;
        let found = available.get(&file.blob)?.as_ref().ok()?;
        Some(ShownFile {
            name: file.name.clone(),
            ..found.clone()
        })
    };
    files.iter().filter_map(shown).collect()
}

/// Returns the note about the files of a message, once they are on the computer.
pub(super) fn note(
    attached: &[Attachment],
    placed: &[PlacedFile],
    available: &ShownFiles,
) -> String {
    let mut note = "[Files that came with the message, on the computer:".to_owned();
    for one in placed {
        let Some(file) = attached.iter().find(|file| file.id == one.attachment) else {
            continue;
        };
        // Writing to a string cannot fail.
        let _ = match (&one.path, &one.problem) {
            (Some(path), _) => write!(note, "\n- {path}"),
            (None, problem) => write!(
                note,
                "\n- {} could not be written there: {};",
                file.name,
                problem.as_deref().unwrap_or("the reason is not known")
            ),
        };
        let _ = write!(
            note,
            " ({}, {} bytes){}",
            file.media_type,
            file.n_bytes,
            sight(file, available)
        );
    }
    note.push(']');
    note
}

/// Returns the part of the note that says if the model is shown the file.
fn sight(file: &Attachment, available: &ShownFiles) -> String {
    if file.kind() == AttachmentKind::Other {
        return String::new();
    }
    match available.get(&file.blob) {
        Some(Ok(_)) => ", shown to you too".to_owned(),
        Some(Err(reason)) => format!(", not shown to you: {reason}"),
        None if shown_bytes(file).is_none() => {
            ", not shown to you: it is too large to be shown to you".to_owned()
        }
        None => ", not shown to you".to_owned(),
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
