//! Reads a file in pieces.

use std::os::fd::OwnedFd;

use bytes::Bytes;
use deskhand_core::file::{ByteRange, FileProblem, FileProblemKind, FileStat, data_header};
use rustix::{
    buffer::spare_capacity,
    io::{Errno, pread},
};
use tokio::sync::mpsc;

use super::{kernel::failed, place::FilePlace};

/// The data in one frame.
const PIECE_BYTES: usize = 256 * 1024;

/// Packed frames of data, or the error that ended them.
pub(super) type Pieces = mpsc::Sender<Result<Bytes, FileProblem>>;

/// An open file, and the part of it that is wanted.
#[derive(Debug)]
pub(super) struct Reading {
    file: OwnedFd,
    pub(super) stat: FileStat,
    pub(super) first: u64,
    pub(super) length: u64,
}

impl Reading {
    /// Opens a regular file. The range is ignored if the file is no longer in the version `range_of`.
    pub(super) fn open(
        path: &str,
        range: Option<ByteRange>,
        range_of: Option<&str>,
    ) -> Result<Self, FileProblem> {
        let (file, stat) = FilePlace::find(path)?.open_file()?;
        let range = range.filter(|_| range_of.is_none_or(|version| version == stat.version));
        let size = stat.size;
        let (first, length) = match range {
            None => (0, size),
            Some(range) => range.within(size).ok_or_else(|| {
                let message = format!("the range lies outside of {path}, which has {size} bytes");
                FileProblem::new(FileProblemKind::Range { size }, message)
            })?,
        };
        Ok(Self {
            file,
            stat,
            first,
            length,
        })
    }

    /// Sends the data as packed frames until it is complete or the receiver is gone. Blocks.
    pub(super) fn send_all(self, pieces: &Pieces) {
        let sent = self.read_all(|piece| pieces.blocking_send(Ok(piece)).is_ok());
        if let Err(problem) = sent {
            // The receiver may be gone.
            let _ = pieces.blocking_send(Err(problem));
        }
    }

    /// Returns the whole file, unless it is larger than `most_bytes`.
    pub(super) fn read_whole(self, most_bytes: u64) -> Result<Bytes, FileProblem> {
        let FileStat { path, size, .. } = &self.stat;
        if *size > most_bytes {
            let message = format!("{path} has {size} bytes, and at most {most_bytes} can be taken");
            return Err(FileProblem::new(FileProblemKind::TooMuch, message));
        }
        let mut whole = Vec::with_capacity(usize::try_from(*size).unwrap_or_default());
        self.read_all(|piece| {
            whole.extend_from_slice(&piece[data_header(0).len()..]);
            true
        })?;
        Ok(whole.into())
    }

    fn read_all(&self, mut send: impl FnMut(Bytes) -> bool) -> Result<(), FileProblem> {
        let path = &self.stat.path;
        let (mut from, mut left) = (self.first, self.length);
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
            let header = data_header(wanted);
            let mut piece = Vec::with_capacity(header.len() + wanted);
            piece.extend_from_slice(&header);
            let end = header.len() + wanted;
            while piece.len() < end {
                let n_read = u64::try_from(piece.len() - header.len()).unwrap_or_default();
                match pread(&self.file, spare_capacity(&mut piece), from + n_read) {
                    Ok(0) => return Err(self.shrunk()),
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(errno) => return Err(failed(path, errno)),
                }
            }
            // The vector may have more capacity than requested.
            piece.truncate(end);
            let n_read = u64::try_from(wanted).unwrap_or(left);
            (from, left) = (from + n_read, left - n_read);
            if !send(Bytes::from(piece)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn shrunk(&self) -> FileProblem {
        let message = format!("{} became shorter while it was read", self.stat.path);
        FileProblem::new(FileProblemKind::Changed, message)
    }
}
