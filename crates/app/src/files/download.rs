//! Reading files and archives.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    file::{
        ArchiveFormat, ByteRange, FileFrame, FilePath, FileStat, FileTransfer, FromTransfer,
        WireError,
    },
    id::SessionId,
    right::Right,
};
use futures::Stream;
use tokio::time::timeout;

use super::{FileError, FileUser, Files, OpenTransfer, needed_to_read};

/// The timeout for the next piece of a file.
const PIECE_TIMEOUT: Duration = Duration::from_secs(60);

/// A file that is being read.
#[derive(Debug)]
pub struct FileDownload {
    pub stat: FileStat,
    /// The offset of the first byte.
    pub first: u64,
    /// The number of bytes. `None` for an archive, whose length is not known.
    pub length: Option<u64>,
    transfer: OpenTransfer,
}

impl Files {
    /// Starts reading a file or a part of it. The range applies only if the file still has the version `range_of`.
    pub async fn read(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
        range: Option<ByteRange>,
        range_of: Option<String>,
    ) -> Result<FileDownload, FileError> {
        let needed = needed_to_read(&path);
        let read = FileTransfer::Read {
            path,
            range,
            range_of,
        };
        self.start_reading(needed, user, id, read).await
    }

    /// Starts reading a folder as an archive, including its hidden files.
    pub async fn archive(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
        format: ArchiveFormat,
    ) -> Result<FileDownload, FileError> {
        let archive = FileTransfer::Archive { path, format };
        self.start_reading(Right::Drive, user, id, archive).await
    }

    async fn start_reading(
        &self,
        needed: Right,
        user: FileUser,
        id: SessionId,
        transfer: FileTransfer,
    ) -> Result<FileDownload, FileError> {
        let mut transfer = self.open(needed, user, id, transfer).await?;
        let head = timeout(PIECE_TIMEOUT, transfer.wire.head()).await;
        match head.map_err(|_elapsed| FileError::Lost)?? {
            FromTransfer::Reading {
                stat,
                first,
                length,
            } => Ok(FileDownload {
                stat,
                first,
                length,
                transfer,
            }),
            FromTransfer::Refused(problem) => Err(problem.into()),
            FromTransfer::Ended | FromTransfer::Writing | FromTransfer::Written { .. } => {
                Err(WireError::Order.into())
            }
        }
    }
}

impl FileDownload {
    /// Returns the data. If it is incomplete, the last item is an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, FileError>> + Send {
        futures::stream::unfold(Some(self.transfer), |transfer| async move {
            let mut transfer = transfer?;
            match next(&mut transfer).await {
                Ok(Some(piece)) => Some((Ok(piece), Some(transfer))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

/// Returns the next piece, or `None` after the last one.
async fn next(transfer: &mut OpenTransfer) -> Result<Option<Bytes>, FileError> {
    let frame = timeout(PIECE_TIMEOUT, transfer.wire.next()).await;
    match frame.map_err(|_elapsed| FileError::Lost)?? {
        FileFrame::Data(piece) => Ok(Some(piece)),
        FileFrame::Head(head) => match serde_json::from_slice(&head).map_err(WireError::from)? {
            FromTransfer::Ended => Ok(None),
            FromTransfer::Refused(problem) => Err(problem.into()),
            FromTransfer::Reading { .. } | FromTransfer::Writing | FromTransfer::Written { .. } => {
                Err(WireError::Order.into())
            }
        },
    }
}
