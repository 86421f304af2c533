//! The files of a session's computer.

use deskhand_core::file::{FileKind, FileStat, FolderListing};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file, a folder, or something else in a folder.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = File)]
pub struct FileView {
    /// The absolute path in the sandbox.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    pub kind: FileKind,
    /// The length of a file in bytes, and 0 for everything else.
    pub size: u64,
    pub modified_at: Timestamp,
    /// Changes whenever the file does. In quotes it is the file's `ETag`.
    pub version: String,
    /// The target of a link.
    #[schema(required)]
    pub target: Option<String>,
}

/// A page of a folder, in the order of names.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Folder)]
pub struct FolderView {
    /// The absolute path in the sandbox.
    pub path: String,
    pub entries: Vec<FileView>,
    /// The `after` of the next page, if there is one.
    #[schema(required)]
    pub next: Option<String>,
    /// The number of entries that are left out because their names are not UTF-8.
    pub n_unnamed: u64,
}

/// Something to do with a path.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = FileAction)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum FileActionBody {
    /// Makes a folder, with the folders that it is in.
    MakeFolder,
    /// Moves a file or a folder. Replaces nothing.
    Move {
        /// The new path: `~/a.txt` or `/tmp/a.txt`.
        to: String,
    },
}

impl From<FileStat> for FileView {
    fn from(stat: FileStat) -> Self {
        Self {
            name: stat.name().to_owned(),
            path: stat.path,
            kind: stat.kind,
            size: stat.size,
            modified_at: stat.modified_at,
            version: stat.version,
            target: stat.target,
        }
    }
}

impl From<FolderListing> for FolderView {
    fn from(listing: FolderListing) -> Self {
        let last = listing.entries.last().filter(|_| listing.has_more);
        Self {
            next: last.map(|last| last.name().to_owned()),
            path: listing.path,
            entries: listing.entries.into_iter().map(FileView::from).collect(),
            n_unnamed: listing.n_unnamed,
        }
    }
}
