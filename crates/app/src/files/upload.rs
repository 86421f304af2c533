//! Writing files.

use std::{pin::pin, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    file::{
        FilePath, FileStat, FileTransfer, FileWire, FromTransfer, ToTransfer, WireError,
        WriteCondition,
    },
    id::SessionId,
    right::Right,
};
use futures::{Stream, StreamExt};
use tokio::time::timeout;

use super::{FileError, FileUser, Files};

/// The timeout for an answer of the computer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A file to write.
#[derive(Debug)]
pub struct WriteFile {
    pub path: FilePath,
    /// The number of bytes, if it is known.
    pub length: Option<u64>,
    pub condition: WriteCondition,
    /// True to make it executable.
    pub is_executable: bool,
}

/// The reason why a body ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// The client disconnected.
    Cut,
    /// Nothing arrived in time.
    Slow,
}

impl Files {
    /// Writes a file from the pieces of `body`. It appears under its name when all of them have arrived. Returns true if
    /// it is new.
    pub async fn write(
        &self,
        user: FileUser,
        id: SessionId,
        file: WriteFile,
        body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
    ) -> Result<(FileStat, bool), FileError> {
        let most = self.0.limits.largest_bytes;
        if file.length.is_some_and(|length| length > most) {
            return Err(FileError::TooLarge { most });
        }
        let write = FileTransfer::Write {
            path: file.path,
            length: file.length,
            condition: file.condition,
            is_executable: file.is_executable,
        };
        let mut transfer = self.open(Right::Drive, user, id, write).await?;
        let wire = &mut transfer.wire;
        match answer(wire).await? {
            FromTransfer::Writing => {}
            other @ (FromTransfer::Reading { .. }
            | FromTransfer::Ended
            | FromTransfer::Written { .. }
            | FromTransfer::Refused(_)) => return Err(refused(other)),
        }
        send_all(wire, body, most).await?;
        wire.send_head(&ToTransfer::End).await?;
        match answer(wire).await? {
            FromTransfer::Written { stat, is_new } => Ok((stat, is_new)),
            other @ (FromTransfer::Reading { .. }
            | FromTransfer::Ended
            | FromTransfer::Writing
            | FromTransfer::Refused(_)) => Err(refused(other)),
        }
    }
}

/// Sends all pieces, unless the computer refuses the file before the end.
async fn send_all(
    wire: &mut FileWire,
    body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
    most: u64,
) -> Result<(), FileError> {
    let mut body = pin!(body);
    let mut n_bytes: u64 = 0;
    loop {
        let piece = tokio::select! {
            biased;
            // Before the end, the computer only sends a refusal. Dropping `head` loses nothing.
            early = wire.head() => return Err(refused(early?)),
            piece = body.next() => piece,
        };
        let Some(piece) = piece else {
            return Ok(());
        };
        let piece = piece?;
        n_bytes = n_bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if n_bytes > most {
            return Err(FileError::TooLarge { most });
        }
        let sent = timeout(ANSWER_TIMEOUT, wire.send_data(piece)).await;
        if sent.map_err(|_elapsed| FileError::Lost)?.is_err() {
            // The computer closed the stream, and may have sent the reason.
            return Err(refused(answer(wire).await?));
        }
    }
}

pub(super) async fn answer(wire: &mut FileWire) -> Result<FromTransfer, FileError> {
    let answer = timeout(ANSWER_TIMEOUT, wire.head()).await;
    Ok(answer.map_err(|_elapsed| FileError::Lost)??)
}

/// Returns the error for a head that does not continue a write.
pub(super) fn refused(head: FromTransfer) -> FileError {
    match head {
        FromTransfer::Refused(problem) => problem.into(),
        FromTransfer::Reading { .. }
        | FromTransfer::Ended
        | FromTransfer::Writing
        | FromTransfer::Written { .. } => WireError::Order.into(),
    }
}
