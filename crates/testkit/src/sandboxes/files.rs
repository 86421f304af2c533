//! The files of a fake sandbox, as people list, read and write them.
//!
//! A folder exists if it contains something. An empty one is stored as a name with a trailing slash.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    io,
};

use bytes::Bytes;
use deskhand_core::{
    file::{
        FileFrame, FileKind, FileProblem, FileProblemKind as Kind, FileReply, FileRequest,
        FileStat, FileTransfer, FileWire, FolderListing, FromTransfer, ToTransfer, WireError,
        WriteCondition,
    },
    sandbox::{ByteStream, FileTaken, TakeFile},
};
use futures::{SinkExt, channel::mpsc};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{Files, shell::HOME};

/// The maximum number of pieces that wait in one direction of a stream.
const STREAM_LENGTH: usize = 4;
/// The data in one frame.
const PIECE_BYTES: usize = 64 * 1024;

type Tree = BTreeMap<String, Bytes>;

/// Carries out a request.
pub(super) fn perform(tree: &mut Tree, request: &FileRequest) -> FileReply {
    answer(tree, request).unwrap_or_else(FileReply::Refused)
}

fn answer(tree: &mut Tree, request: &FileRequest) -> Result<FileReply, FileProblem> {
    match request {
        FileRequest::Stat { path } => stat(tree, &path.absolute(HOME)).map(FileReply::Stat),
        FileRequest::List { path, after, limit } => {
            list(tree, &path.absolute(HOME), after.as_deref(), *limit).map(FileReply::Listing)
        }
        FileRequest::MakeFolder { path } => {
            let path = path.absolute(HOME);
            if tree.contains_key(&path) {
                return Err(problem(Kind::Exists, &path, "is already there"));
            }
            tree.insert(format!("{path}/"), Bytes::new());
            stat(tree, &path).map(FileReply::Stat)
        }
        FileRequest::Move { from, to } => {
            let (from, to) = (from.absolute(HOME), to.absolute(HOME));
            check_may_go(&from)?;
            stat(tree, &from)?;
            if stat(tree, &to).is_ok() {
                return Err(problem(Kind::Exists, &to, "is already there"));
            }
            for (path, content) in take_out(tree, &from) {
                tree.insert(path.replacen(&from, &to, 1), content);
            }
            stat(tree, &to).map(FileReply::Stat)
        }
        FileRequest::Remove {
            path,
            recursive,
            version,
        } => {
            let path = path.absolute(HOME);
            check_may_go(&path)?;
            let found = stat(tree, &path)?;
            if version
                .as_ref()
                .is_some_and(|version| *version != found.version)
            {
                return Err(problem(Kind::Changed, &path, "was changed"));
            }
            let is_full = !children(tree, &path).is_empty();
            if is_full && !recursive {
                return Err(problem(Kind::NotEmpty, &path, "is not empty"));
            }
            take_out(tree, &path);
            Ok(FileReply::Removed)
        }
    }
}

/// Returns a copy of a file.
pub(super) fn take(files: &Files, file: &TakeFile) -> Result<FileTaken, FileProblem> {
    let path = file.path.absolute(HOME);
    let (stat, bytes) = content(files, &path)?;
    if stat.size > file.most_bytes {
        return Err(problem(Kind::TooMuch, &path, "is too large"));
    }
    Ok(FileTaken { bytes })
}

fn stat(tree: &Tree, path: &str) -> Result<FileStat, FileProblem> {
    if let Some(content) = tree.get(path) {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        return Ok(FileStat {
            path: path.to_owned(),
            kind: FileKind::File,
            size: u64::try_from(content.len()).unwrap_or(u64::MAX),
            modified_at: Timestamp::UNIX_EPOCH,
            version: format!("{:x}-{:x}", content.len(), hasher.finish()),
            target: None,
        });
    }
    let begin = format!("{}/", path.trim_end_matches('/'));
    let is_used = tree.range(begin.clone()..).next();
    let is_used = is_used.is_some_and(|(path, _)| path.starts_with(&begin));
    if !is_used && path != "/" && path != HOME {
        return Err(problem(Kind::Missing, path, "is not there"));
    }
    Ok(FileStat {
        path: path.to_owned(),
        kind: FileKind::Folder,
        size: 0,
        modified_at: Timestamp::UNIX_EPOCH,
        version: "folder".to_owned(),
        target: None,
    })
}

fn list(
    tree: &Tree,
    path: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<FolderListing, FileProblem> {
    if stat(tree, path)?.kind != FileKind::Folder {
        return Err(problem(Kind::NotAFolder, path, "is not a folder"));
    }
    let parent = path.trim_end_matches('/');
    let names = children(tree, path).into_iter();
    let names = names.filter(|name| after.is_none_or(|after| &**name > after));
    let mut entries = names
        .map(|name| stat(tree, &format!("{parent}/{name}")))
        .collect::<Result<Vec<_>, _>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = entries.len() > limit;
    entries.truncate(limit);
    Ok(FolderListing {
        path: path.to_owned(),
        entries,
        has_more,
        n_unnamed: 0,
    })
}

/// Returns the names in a folder.
fn children(tree: &Tree, path: &str) -> BTreeSet<String> {
    let begin = format!("{}/", path.trim_end_matches('/'));
    let below = tree.keys().filter_map(|path| path.strip_prefix(&begin));
    let names = below.filter_map(|rest| rest.split('/').next());
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Removes and returns everything at a path.
fn take_out(tree: &mut Tree, path: &str) -> Vec<(String, Bytes)> {
    let begin = format!("{path}/");
    let paths = tree.keys().cloned();
    let paths: Vec<String> = paths
        .filter(|other| other == path || other.starts_with(&begin))
        .collect();
    paths
        .into_iter()
        .filter_map(|path| tree.remove_entry(&path))
        .collect()
}

fn check_may_go(path: &str) -> Result<(), FileProblem> {
    if path == "/" || path == HOME || path == "/home" {
        return Err(problem(Kind::Denied, path, "stays"));
    }
    Ok(())
}

fn problem(kind: Kind, path: &str, what: &str) -> FileProblem {
    FileProblem::new(kind, format!("{path} {what}"))
}

/// Makes a stream with two ends.
pub(super) fn stream() -> (ByteStream, ByteStream) {
    let (to_one, of_one) = mpsc::channel(STREAM_LENGTH);
    let (to_other, of_other) = mpsc::channel(STREAM_LENGTH);
    let end = |incoming: mpsc::Receiver<Bytes>, outgoing: mpsc::Sender<Bytes>| ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
    };
    (end(of_one, to_other), end(of_other, to_one))
}

/// Serves the stream of one file, for as long as the lease admits it.
pub(super) async fn serve(files: Files, stream: ByteStream, admitted: Option<CancellationToken>) {
    let mut wire = FileWire::new(stream);
    let leased = || Ok(Err(FileProblem::new(Kind::Leased, "a person has control")));
    let served = match admitted {
        None => match wire.head::<ToTransfer>().await {
            Ok(_) => leased(),
            Err(error) => Err(error),
        },
        Some(admitted) => tokio::select! {
            biased;
            () = admitted.cancelled() => leased(),
            served = transfer(&files, &mut wire) => served,
        },
    };
    // If this fails, the other side is gone.
    if let Ok(Err(refused)) = served {
        let _ = wire.send_head(&FromTransfer::Refused(refused)).await;
    }
}

async fn transfer(
    files: &Files,
    wire: &mut FileWire,
) -> Result<Result<(), FileProblem>, WireError> {
    let ToTransfer::Begin(transfer) = wire.head().await? else {
        return Err(WireError::Order);
    };
    match transfer {
        FileTransfer::Read {
            path,
            range,
            range_of,
        } => {
            let path = path.absolute(HOME);
            let found = content(files, &path);
            let (stat, content) = match found {
                Ok(found) => found,
                Err(problem) => return Ok(Err(problem)),
            };
            let range = range.filter(|_| range_of.is_none_or(|version| version == stat.version));
            let size = stat.size;
            let part = range.map_or(Some((0, size)), |range| range.within(size));
            let Some((first, length)) = part else {
                return Ok(Err(problem(Kind::Range { size }, &path, "is shorter")));
            };
            let index = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
            let part = content.slice(index(first)..index(first + length));
            let length = Some(length);
            let head = FromTransfer::Reading {
                stat,
                first,
                length,
            };
            wire.send_head(&head).await?;
            for piece in part.chunks(PIECE_BYTES) {
                wire.send_data(Bytes::copy_from_slice(piece)).await?;
            }
            wire.send_head(&FromTransfer::Ended).await?;
            Ok(Ok(()))
        }
        FileTransfer::Archive { .. } => {
            let refused = FileProblem::new(Kind::Failed, "a fake sandbox makes no archives");
            Ok(Err(refused))
        }
        FileTransfer::Write {
            path,
            length,
            condition,
            is_executable: _,
        } => receive(files, wire, &path.absolute(HOME), length, &condition).await,
    }
}

async fn receive(
    files: &Files,
    wire: &mut FileWire,
    path: &str,
    length: Option<u64>,
    condition: &WriteCondition,
) -> Result<Result<(), FileProblem>, WireError> {
    if let Err(problem) = check(files, path, condition) {
        return Ok(Err(problem));
    }
    wire.send_head(&FromTransfer::Writing).await?;
    let mut content = Vec::new();
    while let FileFrame::Data(piece) = wire.next().await? {
        content.extend_from_slice(&piece);
    }
    let n_bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if length.is_some_and(|length| length != n_bytes) {
        return Ok(Err(problem(Kind::Incomplete, path, "is not complete")));
    }
    let written = check(files, path, condition).and_then(|is_new| {
        let mut tree = lock(files);
        tree.insert(path.to_owned(), content.into());
        Ok((stat(&tree, path)?, is_new))
    });
    Ok(match written {
        Ok((stat, is_new)) => {
            wire.send_head(&FromTransfer::Written { stat, is_new })
                .await?;
            Ok(())
        }
        Err(problem) => Err(problem),
    })
}

/// Checks that a file may be written. Returns true if it is new.
fn check(files: &Files, path: &str, condition: &WriteCondition) -> Result<bool, FileProblem> {
    let found = stat(&lock(files), path).ok();
    if found
        .as_ref()
        .is_some_and(|found| found.kind == FileKind::Folder)
    {
        return Err(problem(Kind::Folder, path, "is a folder"));
    }
    let is_met = match (condition, &found) {
        (WriteCondition::Always, _)
        | (WriteCondition::Absent, None)
        | (WriteCondition::Present, Some(_)) => true,
        (WriteCondition::Version(version), Some(found)) => *version == found.version,
        (WriteCondition::Absent, Some(_))
        | (WriteCondition::Present | WriteCondition::Version(_), None) => false,
    };
    if !is_met {
        return Err(problem(Kind::Changed, path, "was changed"));
    }
    Ok(found.is_none())
}

fn content(files: &Files, path: &str) -> Result<(FileStat, Bytes), FileProblem> {
    let tree = lock(files);
    let stat = stat(&tree, path)?;
    match tree.get(path) {
        Some(content) => Ok((stat, content.clone())),
        None => Err(problem(Kind::Folder, path, "is a folder")),
    }
}

fn lock(files: &Files) -> std::sync::MutexGuard<'_, Tree> {
    files.lock().expect("no change panics")
}
