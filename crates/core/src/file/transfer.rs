//! Reading and writing the bytes of a file over a stream.
//!
//! The server opens a stream and sends [`ToTransfer::Begin`]. The runner answers with a head, and then one side sends
//! data. A write takes effect only after [`ToTransfer::End`], and a read is complete only after
//! [`FromTransfer::Ended`], so a broken stream is never mistaken for a complete file.

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    FilePath, FileProblem, FileStat,
    frames::{BadFrame, FileFrame, FrameReader, data_header, pack_head},
};
use crate::sandbox::ByteStream;

/// The purpose of a file's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileTransfer {
    Read {
        path: FilePath,
        range: Option<ByteRange>,
        /// The version that the range applies to. A file in another version is read as a whole.
        range_of: Option<String>,
    },
    Write {
        path: FilePath,
        /// The number of bytes to come, if it is known.
        length: Option<u64>,
        condition: WriteCondition,
        /// True to make the file executable. Otherwise its permissions are kept, and a new file is not executable.
        is_executable: bool,
    },
    /// Reads a folder as an archive.
    Archive {
        path: FilePath,
        format: ArchiveFormat,
    },
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByteRange {
    /// From one byte to another, both included, or to the end.
    From { first: u64, last: Option<u64> },
    /// The last bytes of the file.
    Last { n_bytes: u64 },
}

/// The condition under which a file is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCondition {
    Always,
    /// There is nothing at the path.
    Absent,
    /// There is a file at the path.
    Present,
    /// There is a file in this version.
    Version(String),
}

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveFormat {
    #[serde(rename = "tar.gz")]
    TarGz,
}

/// Heads from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToTransfer {
    /// The first head of every stream.
    Begin(FileTransfer),
    /// All data of a write was sent.
    End,
}

/// Heads from the runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromTransfer {
    /// The data of a read follows.
    Reading {
        stat: FileStat,
        /// The first byte that is sent.
        first: u64,
        /// The number of bytes that are sent, if it is known.
        length: Option<u64>,
    },
    /// The data of a read is complete.
    Ended,
    /// The data of a write can be sent.
    Writing,
    /// The file was written and is at its place.
    Written { stat: FileStat, is_new: bool },
    /// The transfer failed or was refused.
    Refused(FileProblem),
}

impl ByteRange {
    /// Returns the first byte and the number of bytes in a file of this size, or nothing if the range lies outside.
    pub fn within(self, size: u64) -> Option<(u64, u64)> {
        match self {
            Self::From { first, last } => {
                let end = last.map_or(size, |last| last.saturating_add(1).min(size));
                (first < end).then(|| (first, end - first))
            }
            Self::Last { n_bytes } => {
                let n_bytes = n_bytes.min(size);
                (n_bytes > 0).then(|| (size - n_bytes, n_bytes))
            }
        }
    }
}

/// Either end of a file's stream.
#[derive(Debug)]
pub struct FileWire {
    stream: ByteStream,
    reader: FrameReader,
}

/// The reason why a stream can no longer be used.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the stream ended early")]
    Closed,
    #[error(transparent)]
    FileFrame(#[from] BadFrame),
    #[error("the stream has a head that cannot be parsed")]
    Head(#[from] serde_json::Error),
    #[error("the stream has data where a head was expected")]
    Order,
    #[error("could not send")]
    Io(#[from] std::io::Error),
}

impl FileWire {
    pub fn new(stream: ByteStream) -> Self {
        Self {
            stream,
            reader: FrameReader::default(),
        }
    }

    /// Returns the next frame. This method is cancel safe.
    pub async fn next(&mut self) -> Result<FileFrame, WireError> {
        loop {
            if let Some(frame) = self.reader.next_frame()? {
                return Ok(frame);
            }
            let piece = self.stream.incoming.next().await;
            self.reader.push(piece.ok_or(WireError::Closed)?);
        }
    }

    /// Returns the next frame, which must be a head.
    pub async fn head<T: DeserializeOwned>(&mut self) -> Result<T, WireError> {
        match self.next().await? {
            FileFrame::Head(head) => Ok(serde_json::from_slice(&head)?),
            FileFrame::Data(_) => Err(WireError::Order),
        }
    }

    pub async fn send_head<T: Serialize>(&mut self, head: &T) -> Result<(), WireError> {
        Ok(self.stream.outgoing.send(pack_head(head)?).await?)
    }

    /// Sends data without copying it.
    pub async fn send_data(&mut self, data: Bytes) -> Result<(), WireError> {
        let header = Bytes::copy_from_slice(&data_header(data.len()));
        self.stream.outgoing.feed(header).await?;
        Ok(self.stream.outgoing.send(data).await?)
    }

    /// Sends a whole frame that was packed already.
    pub async fn send_packed(&mut self, frame: Bytes) -> Result<(), WireError> {
        Ok(self.stream.outgoing.send(frame).await?)
    }

    /// Closes this end.
    pub async fn close(&mut self) {
        // The other side may be gone already.
        let _ = self.stream.outgoing.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file() {
        let from = |first, last| ByteRange::From { first, last };
        for (range, size, within) in [
            (from(0, None), 10, Some((0, 10))),
            (from(3, Some(4)), 10, Some((3, 2))),
            (from(3, Some(u64::MAX)), 10, Some((3, 7))),
            (from(10, None), 10, None),
            (from(4, Some(3)), 10, None),
            (from(0, None), 0, None),
            (ByteRange::Last { n_bytes: 4 }, 10, Some((6, 4))),
            (ByteRange::Last { n_bytes: 40 }, 10, Some((0, 10))),
            (ByteRange::Last { n_bytes: 0 }, 10, None),
        ] {
            assert_eq!(range.within(size), within, "{range:?}");
        }
    }
}
