//! Streams a folder as an archive.

use std::{
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::Path,
};

use bytes::{Bytes, BytesMut};
use deskhand_core::file::{
    FileKind, FileProblem, FileProblemKind, FileStat, LEFT_OUT_NAME, data_header,
};
use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType, Header};

use super::{
    kernel::{failed, failed_io},
    list::raw_names,
    place::{FilePlace, open_below, open_folder},
    read::Pieces,
};

/// The data in one frame.
const PIECE_BYTES: usize = 256 * 1024;
const MOST_ENTRIES: usize = 200_000;
const MOST_DEPTH: usize = 100;
/// The most omitted entries that are listed, each on a line.
const MOST_TOLD: usize = 1000;

/// A folder that is about to be packed.
#[derive(Debug)]
pub(super) struct Packing {
    folder: OwnedFd,
    place: FilePlace,
    pub(super) stat: FileStat,
}

/// The archive so far.
struct Packer {
    tar: Builder<GzEncoder<PieceWriter>>,
    n_entries: usize,
    n_left_out: usize,
    left_out: String,
}

/// Sends bytes as frames.
struct PieceWriter {
    pieces: Pieces,
    frame: BytesMut,
}

/// A file with exactly the length in its header: truncated if it has grown, zero-padded if it has shrunk.
struct Exactly {
    file: std::fs::File,
    left: u64,
}

impl Packing {
    pub(super) fn open(path: &str) -> Result<Self, FileProblem> {
        let folder = open_folder(path)?;
        let stat = super::list::stat(path)?;
        let place = FilePlace {
            folder: folder
                .try_clone()
                .map_err(|error| failed_io(path, &error))?,
            name: stat.name().into(),
            path: path.to_owned(),
        };
        Ok(Self {
            folder,
            place,
            stat,
        })
    }

    /// Sends the archive as packed frames until it is complete or the receiver is gone. Blocks.
    pub(super) fn send_all(self, pieces: &Pieces) {
        if let Err(problem) = self.pack(pieces.clone()) {
            // The receiver may be gone.
            let _ = pieces.blocking_send(Err(problem));
        }
    }

    fn pack(self, pieces: Pieces) -> Result<(), FileProblem> {
        let path = &self.stat.path;
        let gzip = GzEncoder::new(PieceWriter::new(pieces), Compression::fast());
        let mut packer = Packer {
            tar: Builder::new(gzip),
            n_entries: 0,
            n_left_out: 0,
            left_out: String::new(),
        };
        let name = if path == "/" {
            "root"
        } else {
            self.stat.name()
        };
        packer.add_folder(&self.folder, &self.place, Path::new(name), 0)?;
        packer.add_left_out(path)?;
        let finished = packer.tar.into_inner().and_then(GzEncoder::finish);
        let flushed = finished.and_then(|mut writer| writer.flush());
        flushed.map_err(|error| failed_io(path, &error))
    }
}

impl Packer {
    /// Adds a folder and everything in it. `inside` is its path in the archive.
    fn add_folder(
        &mut self,
        folder: &OwnedFd,
        place: &FilePlace,
        inside: &Path,
        depth: usize,
    ) -> Result<(), FileProblem> {
        let path = &place.path;
        self.count(path, depth)?;
        let mut header = header(EntryType::Directory, 0o755, 0);
        self.tar
            .append_data(&mut header, inside.join(""), io::empty())
            .map_err(|error| failed_io(path, &error))?;
        let mut names = raw_names(folder, path, MOST_ENTRIES + 1)?;
        names.sort_unstable();
        for name in names {
            self.add(&place.below(folder, name)?, inside, depth + 1)?;
        }
        Ok(())
    }

    /// Adds one entry. Devices, pipes and sockets are omitted silently. Unreadable files and those of the kernel are
    /// omitted too, and listed at the end.
    fn add(&mut self, place: &FilePlace, inside: &Path, depth: usize) -> Result<(), FileProblem> {
        let stat = match place.stat() {
            Ok(stat) => stat,
            Err(problem) => return self.leave_out(&problem),
        };
        let inside = inside.join(&place.name);
        match stat.kind {
            FileKind::Folder => match open_below(place) {
                Ok(folder) => self.add_folder(&folder, place, &inside, depth),
                Err(problem) => self.leave_out(&problem),
            },
            FileKind::File => self.add_file(place, &inside, depth),
            FileKind::Link => {
                // A link that has just gone has no target.
                let Some(target) = stat.target else {
                    return Ok(());
                };
                self.count(&place.path, depth)?;
                let mut header = header(EntryType::Symlink, 0o777, 0);
                let added = self.tar.append_link(&mut header, inside, target);
                added.map_err(|error| failed_io(&place.path, &error))
            }
            FileKind::Other => Ok(()),
        }
    }

    fn add_file(
        &mut self,
        place: &FilePlace,
        inside: &Path,
        depth: usize,
    ) -> Result<(), FileProblem> {
        let (file, stat) = match place.open_file() {
            Ok(opened) => opened,
            Err(problem) => return self.leave_out(&problem),
        };
        self.count(&place.path, depth)?;
        let found = rustix::fs::fstat(&file).map_err(|errno| failed(&place.path, errno))?;
        let mut header = header(EntryType::Regular, found.st_mode & 0o777, stat.size);
        header.set_mtime(u64::try_from(stat.modified_at.as_second()).unwrap_or_default());
        let content = Exactly {
            file: file.into(),
            left: stat.size,
        };
        let added = self.tar.append_data(&mut header, inside, content);
        added.map_err(|error| failed_io(&place.path, &error))
    }

    /// Records an omitted entry. Entries that were removed in the meantime are not listed.
    fn leave_out(&mut self, problem: &FileProblem) -> Result<(), FileProblem> {
        if problem.kind != FileProblemKind::Missing {
            self.n_left_out += 1;
            if self.n_left_out <= MOST_TOLD {
                self.left_out += &format!("{}\n", problem.message);
            }
        }
        Ok(())
    }

    /// Adds the list of omitted entries, if there are any.
    fn add_left_out(&mut self, path: &str) -> Result<(), FileProblem> {
        if self.n_left_out == 0 {
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.left_out);
        if self.n_left_out > MOST_TOLD {
            text += &format!("and {} more\n", self.n_left_out - MOST_TOLD);
        }
        let size = u64::try_from(text.len()).unwrap_or_default();
        let mut header = header(EntryType::Regular, 0o644, size);
        let added = self
            .tar
            .append_data(&mut header, LEFT_OUT_NAME, text.as_bytes());
        added.map_err(|error| failed_io(path, &error))
    }

    fn count(&mut self, path: &str, depth: usize) -> Result<(), FileProblem> {
        self.n_entries += 1;
        if depth <= MOST_DEPTH && self.n_entries <= MOST_ENTRIES {
            return Ok(());
        }
        let message = format!(
            "an archive has at most {MOST_ENTRIES} entries and {MOST_DEPTH} levels: {path} exceeds that"
        );
        Err(FileProblem::new(FileProblemKind::TooMuch, message))
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header
}

impl PieceWriter {
    fn new(pieces: Pieces) -> Self {
        Self {
            pieces,
            frame: BytesMut::new(),
        }
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let header = data_header(0);
        if self.frame.is_empty() {
            self.frame.reserve(header.len() + PIECE_BYTES);
            self.frame.extend_from_slice(&header);
        }
        let room = header.len() + PIECE_BYTES - self.frame.len();
        let n_bytes = room.min(bytes.len());
        self.frame.extend_from_slice(&bytes[..n_bytes]);
        if n_bytes == room {
            self.flush()?;
        }
        Ok(n_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let header = data_header(self.frame.len() - data_header(0).len());
        self.frame[..header.len()].copy_from_slice(&header);
        let frame: Bytes = std::mem::take(&mut self.frame).freeze();
        let sent = self.pieces.blocking_send(Ok(frame));
        sent.map_err(|_closed| io::ErrorKind::BrokenPipe.into())
    }
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX);
        let wanted = wanted.min(buffer.len());
        let mut n_read = self.file.read(&mut buffer[..wanted])?;
        if n_read == 0 {
            buffer[..wanted].fill(0);
            n_read = wanted;
        }
        self.left -= u64::try_from(n_read).unwrap_or(self.left);
        Ok(n_read)
    }
}
