//! The reasons why a file operation failed.

use deskhand_agent::DeskError;
use deskhand_core::{
    file::{FileProblem, FileProblemKind as Kind, WireError},
    id::SessionId,
    lease::Lease,
    sandbox::ComputerError,
};

use super::upload::BodyError;
use crate::{FindError, WakeError, refusal::refusals};

/// The reason why a file operation failed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error(
        "the desktop of session {0} is not running, and starting it needs the right to send messages; it starts with the next message"
    )]
    Asleep(SessionId),
    #[error("{}", .0.message)]
    NoSandbox(DeskError),
    #[error("session {0} has ended, and its files with it")]
    Ended(SessionId),
    #[error("{} has control of session {session} until {}; wait, or ask them to hand back", .lease.name, .lease.until)]
    SomebodyElseDrives { session: SessionId, lease: Lease },
    #[error(
        "{n_open} files are already being transferred, and the limit is {limit}; wait for one to finish"
    )]
    TooManyTransfers { n_open: usize, limit: usize },
    #[error("a file may have at most {most} bytes")]
    TooLarge { most: u64 },
    #[error("{}", .0.message)]
    Problem(FileProblem),
    #[error("the body ended early, so nothing was written")]
    Cut,
    #[error("the body did not arrive in time, so nothing was written")]
    Slow,
    #[error("the connection to the desktop was lost; check if the file was written, and try again")]
    Lost,
}

refusals! {
    FileError passes on Find, Wake;
    Self::Asleep(_) => Conflict("no_sandbox"),
    Self::NoSandbox(_) => Unavailable("no_sandbox"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::SomebodyElseDrives { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::Problem(FileProblem { kind: Kind::Leased, .. }) => Conflict("somebody_else_drives"),
    Self::TooManyTransfers { n_open, limit } => TooMany(
        "too_many_transfers",
        { "n_open": n_open, "limit": limit };
        retry Some(std::time::Duration::from_secs(1))
    ),
    Self::TooLarge { most } => TooLarge("file_too_large", { "limit": most }),
    Self::Problem(FileProblem { kind: Kind::TooMuch, .. }) => TooLarge("file_too_large"),
    Self::Problem(FileProblem { kind: Kind::Missing, .. }) => NotFound("no_file"),
    Self::Problem(FileProblem { kind: Kind::Exists, .. }) => Conflict("file_exists"),
    Self::Problem(FileProblem { kind: Kind::Folder | Kind::NotAFile, .. }) => Conflict("not_a_file"),
    Self::Problem(FileProblem { kind: Kind::NotAFolder, .. }) => Conflict("not_a_folder"),
    Self::Problem(FileProblem { kind: Kind::NotEmpty, .. }) => Conflict("folder_not_empty"),
    Self::Problem(FileProblem { kind: Kind::Changed, .. }) => Outdated("file_changed"),
    Self::Problem(FileProblem { kind: Kind::Range { size }, .. }) => OutOfRange("bad_range", { "size": size }),
    Self::Problem(FileProblem { kind: Kind::Denied, .. }) => Forbidden("file_denied"),
    Self::Problem(FileProblem { kind: Kind::NoSpace, .. }) => Unavailable("storage_full"),
    Self::Problem(FileProblem { kind: Kind::Incomplete, .. }) | Self::Cut | Self::Slow => Invalid("incomplete_body"),
    Self::Problem(FileProblem { kind: Kind::Failed, .. }) | Self::Lost => Unavailable("file_failed"),
}

impl From<FileProblem> for FileError {
    fn from(problem: FileProblem) -> Self {
        Self::Problem(problem)
    }
}

impl From<ComputerError> for FileError {
    fn from(error: ComputerError) -> Self {
        let message = error.to_string();
        match error {
            ComputerError::Refused { .. } => FileProblem::new(Kind::Leased, message).into(),
            ComputerError::Failed(_)
            | ComputerError::Cancelled
            | ComputerError::NoSoundCard
            | ComputerError::NothingListens(_) => FileProblem::new(Kind::Failed, message).into(),
            ComputerError::FateUnknown | ComputerError::Gone | ComputerError::Ended(_) => {
                Self::Lost
            }
        }
    }
}

impl From<WireError> for FileError {
    fn from(error: WireError) -> Self {
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "the stream of a file ended early"
        );
        Self::Lost
    }
}

impl From<BodyError> for FileError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Cut => Self::Cut,
            BodyError::Slow => Self::Slow,
        }
    }
}
