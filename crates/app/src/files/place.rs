//! Writes files that came with messages to the folder for uploads.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    attachment::{UPLOADS, numbered_name},
    file::{
        FileFrame, FilePath, FileProblem, FileProblemKind, FileStat, FileTransfer, FileWire,
        FromTransfer, ToTransfer, WireError, WriteCondition,
    },
    sandbox::{Actor, StreamTarget, Streams},
};
use tokio::time::timeout;

use super::{
    FileError,
    upload::{answer, refused},
};
use crate::session_computer::SessionComputer;

/// The maximum number of names that are tried if a file's name is taken.
const MOST_NAMES: u32 = 100;
/// The timeout for one file. The largest one usually takes a second.
const PLACE_TIMEOUT: Duration = Duration::from_mins(2);
/// The size of the pieces in which a file is sent.
const PIECE_BYTES: usize = 256 * 1024;

/// Writes a file on behalf of the agent, and returns its path. Nothing is overwritten: if the name is taken, a number is
/// added. If a file with one of these names already has the same content, its path is returned.
pub(crate) async fn place(
    computer: &SessionComputer,
    name: &str,
    bytes: &Bytes,
) -> Result<String, FileError> {
    let placed = timeout(PLACE_TIMEOUT, place_under_free_name(computer, name, bytes)).await;
    placed.map_err(|_elapsed| FileError::Lost)?
}

async fn place_under_free_name(
    computer: &SessionComputer,
    name: &str,
    bytes: &Bytes,
) -> Result<String, FileError> {
    for n in 1..=MOST_NAMES {
        let path = format!("{UPLOADS}/{}", numbered_name(name, n));
        // A plain name always makes a valid path.
        let path: FilePath = path.parse().map_err(|_bad| FileError::Lost)?;
        match write_new(computer, path.clone(), bytes).await {
            Ok(stat) => return Ok(stat.path),
            Err(FileError::Problem(problem)) if problem.kind == FileProblemKind::Changed => {
                if let Some(path) = path_if_same(computer, path, bytes).await? {
                    return Ok(path);
                }
            }
            // A folder or a link has this name.
            Err(FileError::Problem(problem)) if is_no_file(problem.kind) => {}
            Err(error) => return Err(error),
        }
    }
    let problem = FileProblem::new(
        FileProblemKind::Exists,
        format!("{UPLOADS} has too many files of this name"),
    );
    Err(problem.into())
}

fn is_no_file(kind: FileProblemKind) -> bool {
    matches!(kind, FileProblemKind::Folder | FileProblemKind::NotAFile)
}

/// Writes a file to a path that does not exist yet.
async fn write_new(
    computer: &SessionComputer,
    path: FilePath,
    bytes: &Bytes,
) -> Result<FileStat, FileError> {
    let transfer = FileTransfer::Write {
        path,
        length: u64::try_from(bytes.len()).ok(),
        condition: WriteCondition::Absent,
        is_executable: false,
    };
    let mut wire = begin(computer, transfer).await?;
    match answer(&mut wire).await? {
        FromTransfer::Writing => {}
        other @ (FromTransfer::Reading { .. }
        | FromTransfer::Ended
        | FromTransfer::Written { .. }
        | FromTransfer::Refused(_)) => return Err(refused(other)),
    }
    let mut rest = bytes.clone();
    while !rest.is_empty() {
        let piece = rest.split_to(PIECE_BYTES.min(rest.len()));
        if wire.send_data(piece).await.is_err() {
            // The computer may have sent the reason.
            return Err(refused(answer(&mut wire).await?));
        }
    }
    wire.send_head(&ToTransfer::End).await?;
    match answer(&mut wire).await? {
        FromTransfer::Written { stat, .. } => Ok(stat),
        other @ (FromTransfer::Reading { .. }
        | FromTransfer::Ended
        | FromTransfer::Writing
        | FromTransfer::Refused(_)) => Err(refused(other)),
    }
}

/// Returns the absolute path of a file if it has exactly these bytes.
async fn path_if_same(
    computer: &SessionComputer,
    path: FilePath,
    bytes: &Bytes,
) -> Result<Option<String>, FileError> {
    let transfer = FileTransfer::Read {
        path,
        range: None,
        range_of: None,
    };
    let mut wire = begin(computer, transfer).await?;
    let stat = match answer(&mut wire).await? {
        FromTransfer::Reading { stat, .. } => stat,
        // It is gone, or cannot be read.
        FromTransfer::Refused(problem) if problem.kind != FileProblemKind::Leased => {
            return Ok(None);
        }
        other @ (FromTransfer::Refused(_)
        | FromTransfer::Ended
        | FromTransfer::Writing
        | FromTransfer::Written { .. }) => return Err(refused(other)),
    };
    if u64::try_from(bytes.len()) != Ok(stat.size) {
        return Ok(None);
    }
    let mut rest = bytes.clone();
    loop {
        match wire.next().await? {
            FileFrame::Data(piece) if rest.starts_with(&piece) => {
                rest = rest.split_off(piece.len());
            }
            FileFrame::Data(_) => return Ok(None),
            FileFrame::Head(head) => {
                let head: FromTransfer = serde_json::from_slice(&head).map_err(WireError::from)?;
                return match head {
                    FromTransfer::Ended => Ok(rest.is_empty().then_some(stat.path)),
                    other @ (FromTransfer::Refused(_)
                    | FromTransfer::Reading { .. }
                    | FromTransfer::Writing
                    | FromTransfer::Written { .. }) => Err(refused(other)),
                };
            }
        }
    }
}

async fn begin(computer: &SessionComputer, transfer: FileTransfer) -> Result<FileWire, FileError> {
    let stream = computer.open(StreamTarget::File, Actor::Agent).await?;
    let mut wire = FileWire::new(stream);
    wire.send_head(&ToTransfer::Begin(transfer)).await?;
    Ok(wire)
}
