//! Files, as people list, read and write them.
//!
//! The runner runs as the same user in the same sandbox as the agent's programs, so it can reach the same files. Only
//! regular files are read and written. Files in `/proc` and `/sys` are refused, since they expose the runner's own
//! memory, and a link at the end of a path is not followed.

mod archive;
mod change;
mod kernel;
mod list;
mod place;
mod read;
pub(crate) mod transfer;
mod write;

use deskhand_core::{
    file::{FileProblem, FileProblemKind, FileReply, FileRequest},
    sandbox::{FileTaken, TakeFile},
};
use tokio_util::sync::CancellationToken;

/// Carries out a request, and stops early when the token fires. Blocks on file I/O.
pub(crate) fn perform(request: &FileRequest, cancel: &CancellationToken) -> FileReply {
    let answered = home().and_then(|home| perform_in(&home, request, cancel));
    answered.unwrap_or_else(FileReply::Refused)
}

fn perform_in(
    home: &str,
    request: &FileRequest,
    cancel: &CancellationToken,
) -> Result<FileReply, FileProblem> {
    match request {
        FileRequest::Stat { path } => list::stat(&path.absolute(home)).map(FileReply::Stat),
        FileRequest::List { path, after, limit } => {
            let listed = list::list(&path.absolute(home), after.as_deref(), *limit);
            listed.map(FileReply::Listing)
        }
        FileRequest::MakeFolder { path } => {
            change::make_folder(&path.absolute(home)).map(FileReply::Stat)
        }
        FileRequest::Move { from, to } => {
            let moved = change::move_to(&from.absolute(home), &to.absolute(home), home);
            moved.map(FileReply::Stat)
        }
        FileRequest::Remove {
            path,
            recursive,
            version,
        } => {
            let removal = change::Removal {
                recursive: *recursive,
                version: version.as_deref(),
                cancel,
            };
            change::remove(&path.absolute(home), removal, home)?;
            Ok(FileReply::Removed)
        }
    }
}

/// Returns the problem for an actor who does not have control.
fn leased() -> FileProblem {
    let message = "a person has control of this desktop";
    FileProblem::new(FileProblemKind::Leased, message)
}

/// Takes a copy of a regular file. Blocks on file I/O.
pub(crate) fn take(file: &TakeFile) -> Result<FileTaken, FileProblem> {
    let path = file.path.absolute(&home()?);
    let bytes = read::Reading::open(&path, None, None)?.read_whole(file.most_bytes)?;
    Ok(FileTaken { bytes })
}

/// Returns the absolute path of the home folder.
fn home() -> Result<String, FileProblem> {
    let home = std::env::home_dir().and_then(|home| home.into_os_string().into_string().ok());
    home.ok_or_else(|| FileProblem::new(FileProblemKind::Failed, "there is no home folder"))
}

#[cfg(test)]
mod tests;
