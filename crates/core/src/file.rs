//! Files in a sandbox, as people list, read and write them.

mod frames;
mod media;
mod path;
mod transfer;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    frames::{BadFrame, FileFrame, FrameReader, data_header, pack_data, pack_head},
    media::media_type_of,
    path::{BadFilePath, FilePath, is_hidden},
    transfer::{
        ArchiveFormat, ByteRange, FileTransfer, FileWire, FromTransfer, ToTransfer, WireError,
        WriteCondition,
    },
};
use crate::sandbox::OperationReply;

/// The most entries in one answer to [`FileRequest::List`].
pub const LONGEST_LISTING: u32 = 1000;

/// The name of a text file at the top of an archive, with a line for everything that could not be included. A complete
/// archive has no such file.
pub const LEFT_OUT_NAME: &str = "deskhand-left-out.txt";

/// The size of the largest file that the agent hands to people. It is buffered in memory.
pub const LARGEST_ARTIFACT_BYTES: u64 = 32 * 1024 * 1024;

/// The most bytes that the agent hands to people in one session. They are kept outside of its disk quota.
pub const MOST_SHARED_BYTES: u64 = 512 * 1024 * 1024;

/// Lists and changes files. Their bytes are read and written over streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileRequest {
    Stat {
        path: FilePath,
    },
    /// Lists a folder in the order of names.
    List {
        path: FilePath,
        /// The last name of the page before.
        after: Option<String>,
        /// At most [`LONGEST_LISTING`].
        limit: u32,
    },
    /// Makes a folder, and the folders that it is in. It may already be there.
    MakeFolder {
        path: FilePath,
    },
    /// Moves a file or a folder. Replaces nothing.
    Move {
        from: FilePath,
        to: FilePath,
    },
    Remove {
        path: FilePath,
        /// True to remove a folder with everything in it.
        recursive: bool,
        /// Removes the file only in this version.
        version: Option<String>,
    },
}

/// The answer to a [`FileRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileReply {
    Stat(FileStat),
    Listing(FolderListing),
    Removed,
    Refused(FileProblem),
}

/// The kind of a thing in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    File,
    Folder,
    /// A symbolic link. It is shown, and never followed at the end of a path.
    Link,
    /// A device, a pipe or a socket. It cannot be read or written here.
    Other,
}

/// The facts about a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// The absolute path.
    pub path: String,
    pub kind: FileKind,
    /// The length of a file, and 0 for everything else.
    pub size: u64,
    pub modified_at: Timestamp,
    /// Changes whenever the file does.
    pub version: String,
    /// The target of a link.
    pub target: Option<String>,
}

/// One page of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderListing {
    /// The absolute path of the folder.
    pub path: String,
    pub entries: Vec<FileStat>,
    /// True if more entries follow the last one.
    pub has_more: bool,
    /// The number of entries that are left out because their names are not UTF-8.
    pub n_unnamed: u64,
}

/// The reason for refusing a file operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct FileProblem {
    pub kind: FileProblemKind,
    /// A sentence for people.
    pub message: String,
}

/// The kind of a [`FileProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileProblemKind {
    /// There is nothing at the path.
    Missing,
    /// Something is at the path already.
    Exists,
    /// The path names a folder.
    Folder,
    /// A link, a device, a pipe, or a file of the kernel.
    NotAFile,
    NotAFolder,
    /// A folder that is not empty.
    NotEmpty,
    /// The file is not in the expected version.
    Changed,
    /// The range lies outside of the file, which has this many bytes.
    Range {
        size: u64,
    },
    /// The file system does not allow it.
    Denied,
    /// Too large, too deep or too many.
    TooMuch,
    NoSpace,
    /// The bytes that arrived are not as many as were announced.
    Incomplete,
    /// A person has control.
    Leased,
    Failed,
}

impl FileProblem {
    pub fn new(kind: FileProblemKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl OperationReply for FileReply {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Stat(stat) => stat.for_each_text(visit),
            Self::Listing(listing) => {
                visit(&mut listing.path);
                for entry in &mut listing.entries {
                    entry.for_each_text(visit);
                }
            }
            Self::Removed => {}
            Self::Refused(problem) => visit(&mut problem.message),
        }
    }
}

impl FileStat {
    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.path);
        if let Some(target) = &mut self.target {
            visit(target);
        }
    }
}
