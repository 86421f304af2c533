//! Files that came with messages: those that the model is shown, and the note about all of them.

use std::fmt::Write;

use deskhand_core::{
    attachment::{
        Attachment, AttachmentKind, LARGEST_SHOWN_PDF_BYTES, LARGEST_SHOWN_PICTURE_BYTES,
    },
    event::{EventBody, PlacedFile},
    model::ShownFile,
};

use super::ShownFiles;

/// The most bytes of files in one request. In base64 they fit into what every vendor takes, with room for pictures of
/// the screen.
const MOST_SHOWN_BYTES: u64 = 12_000_000;

/// Returns the attached files that may be shown, oldest first.
///
/// When they become too many bytes, so many of the oldest are left out that half of the room is free. As a result, many
/// consecutive requests begin in the same way.
pub(crate) fn shown_attachments(log: &[EventBody]) -> Vec<&Attachment> {
    let mut files: Vec<&Attachment> = Vec::new();
    let mut n_bytes = 0;
    for file in log.iter().flat_map(attachments) {
        let Some(more) = shown_bytes(file) else {
            continue;
        };
        files.push(file);
        n_bytes += more;
        if n_bytes <= MOST_SHOWN_BYTES {
            continue;
        }
        while n_bytes > MOST_SHOWN_BYTES / 2 && files.len() > 1 {
            n_bytes -= shown_bytes(files.remove(0)).unwrap_or_default();
        }
    }
    files
}

/// Returns the files that came with a message.
fn attachments(body: &EventBody) -> &[Attachment] {
    if let EventBody::Message(said) = body {
        &said.attachments
    } else {
        &[]
    }
}

/// Returns the bytes that a file has in a request, or nothing if no model is shown it. A picture is scaled down.
fn shown_bytes(file: &Attachment) -> Option<u64> {
    match file.kind() {
        AttachmentKind::Picture => Some(file.n_bytes.min(LARGEST_SHOWN_PICTURE_BYTES)),
        AttachmentKind::Pdf => Some(file.n_bytes).filter(|n| *n <= LARGEST_SHOWN_PDF_BYTES),
        AttachmentKind::Other => None,
    }
}

/// Returns the files of a message that the model is shown, under the names that the message gives them.
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

/// Returns the words about a file that models can be shown: whether this one is.
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
