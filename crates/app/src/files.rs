//! The files of sessions' computers, as people use them.
//!
//! The server never opens a file itself. The runner does, and the server streams the bytes without storing them.

mod artifacts;
mod download;
mod errors;
mod place;
mod transfers;
mod upload;

use std::sync::Arc;

use deskhand_core::{
    blob::Blobs,
    file::{
        FilePath, FileReply, FileRequest, FileStat, FileTransfer, FileWire, FolderListing,
        ToTransfer,
    },
    id::{SessionId, UserId},
    right::Right,
    sandbox::{Actor, Call, ComputerError, ComputerExt, StreamTarget, Streams},
    session::{Phase, Session},
    viewer::Viewer,
};
use deskhand_store::Store;

use self::transfers::Transfer;
pub use self::{
    artifacts::{ArtifactError, SharedFile},
    download::FileDownload,
    errors::FileError,
    upload::{BodyError, WriteFile},
};
pub(crate) use self::{place::place, transfers::Transfers};
use crate::{
    live::{AwakeGuard, LiveSessions},
    session_computer::SessionComputer,
    sessions::find::find_with,
};

/// The bounds on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// The maximum size of a file that people write.
    pub largest_bytes: u64,
    /// The maximum number of concurrent transfers of one person.
    pub per_user: usize,
    /// The maximum number of concurrent transfers of one session.
    pub per_session: usize,
}

impl FileLimits {
    /// Returns the usual number of transfers, of files up to this size.
    pub fn up_to(largest_bytes: u64) -> Self {
        Self {
            largest_bytes,
            per_user: 8,
            per_session: 16,
        }
    }
}

/// The files of all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Files(Arc<FileParts>);

#[derive(Debug)]
struct FileParts {
    store: Store,
    blobs: Arc<dyn Blobs>,
    live: LiveSessions,
    transfers: Transfers,
    limits: FileLimits,
}

/// A person who uses the files of a session.
#[derive(Debug, Clone, Copy)]
pub struct FileUser {
    pub user: UserId,
    /// True if the person's credential allows waking a sleeping session.
    pub may_wake: bool,
}

/// A running computer, with the guard that keeps it awake.
#[derive(Debug)]
struct OpenComputer {
    computer: Arc<SessionComputer>,
    guard: AwakeGuard,
}

/// The stream of one file, with the guards that it holds.
#[derive(Debug)]
struct OpenTransfer {
    wire: FileWire,
    _guard: AwakeGuard,
    _transfer: Transfer,
}

impl Files {
    pub(crate) fn new(
        store: Store,
        blobs: Arc<dyn Blobs>,
        live: LiveSessions,
        limits: FileLimits,
    ) -> Self {
        Self(Arc::new(FileParts {
            store,
            blobs,
            live,
            transfers: Transfers::new(limits),
            limits,
        }))
    }

    /// Returns the metadata of the file or folder at a path.
    pub async fn stat(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
    ) -> Result<FileStat, FileError> {
        let needed = needed_to_read(&path);
        let reply = self.ask(needed, user, id, FileRequest::Stat { path });
        stat_of(reply.await?)
    }

    /// Lists a folder, sorted by name.
    pub async fn list(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
        after: Option<String>,
        limit: u32,
    ) -> Result<FolderListing, FileError> {
        let needed = needed_to_read(&path);
        let request = FileRequest::List { path, after, limit };
        match self.ask(needed, user, id, request).await? {
            FileReply::Listing(listing) => Ok(listing),
            other @ (FileReply::Stat(_) | FileReply::Removed | FileReply::Refused(_)) => {
                Err(unexpected(other))
            }
        }
    }

    /// Creates a folder and its missing parents.
    pub async fn make_folder(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
    ) -> Result<FileStat, FileError> {
        let reply = self.ask(Right::Drive, user, id, FileRequest::MakeFolder { path });
        stat_of(reply.await?)
    }

    /// Moves a file or a folder to a path that does not exist yet.
    pub async fn move_to(
        &self,
        user: FileUser,
        id: SessionId,
        from: FilePath,
        to: FilePath,
    ) -> Result<FileStat, FileError> {
        let reply = self.ask(Right::Drive, user, id, FileRequest::Move { from, to });
        stat_of(reply.await?)
    }

    /// Removes a folder, or a file if it still has this version.
    pub async fn remove(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
        recursive: bool,
        version: Option<String>,
    ) -> Result<(), FileError> {
        let request = FileRequest::Remove {
            path,
            recursive,
            version,
        };
        match self.ask(Right::Drive, user, id, request).await? {
            FileReply::Removed => Ok(()),
            other @ (FileReply::Stat(_) | FileReply::Listing(_) | FileReply::Refused(_)) => {
                Err(unexpected(other))
            }
        }
    }

    /// Sends a request to the computer on behalf of a person who needs this right.
    async fn ask(
        &self,
        needed: Right,
        user: FileUser,
        id: SessionId,
        request: FileRequest,
    ) -> Result<FileReply, FileError> {
        let open = self.computer(needed, user, id).await?;
        let call = Call::by(Actor::Person(user.user));
        match open.computer.perform(call, request).await? {
            FileReply::Refused(problem) => Err(problem.into()),
            reply @ (FileReply::Stat(_) | FileReply::Listing(_) | FileReply::Removed) => Ok(reply),
        }
    }

    /// Opens the stream of a file on behalf of a person who needs this right.
    async fn open(
        &self,
        needed: Right,
        user: FileUser,
        id: SessionId,
        transfer: FileTransfer,
    ) -> Result<OpenTransfer, FileError> {
        let counted = self.0.transfers.begin(user.user, id)?;
        let OpenComputer { computer, guard } = self.computer(needed, user, id).await?;
        let actor = Actor::Person(user.user);
        let stream = computer.open(StreamTarget::File, actor).await?;
        let mut wire = FileWire::new(stream);
        wire.send_head(&ToTransfer::Begin(transfer)).await?;
        Ok(OpenTransfer {
            wire,
            _guard: guard,
            _transfer: counted,
        })
    }

    /// Returns the running computer of a session in which the person has this right. Starts it for people who may send
    /// messages.
    async fn computer(
        &self,
        needed: Right,
        user: FileUser,
        id: SessionId,
    ) -> Result<OpenComputer, FileError> {
        let viewer = Viewer::User(user.user);
        let session = find_with(&self.0.store, needed, viewer, id).await?;
        self.check_free_for(user.user, &session)?;
        let is_running = self.0.live.running_computer(id).is_some();
        let may_wake = user.may_wake && session.right >= Right::Suggest;
        if !is_running && !may_wake {
            return Err(FileError::Asleep(id));
        }
        let guard = self.0.live.wake(&session).await?;
        let computer = guard.desk.computer().await;
        let computer = computer.map_err(FileError::NoSandbox)?;
        Ok(OpenComputer { computer, guard })
    }

    /// Checks that the session has not ended and nobody else has control. The runner checks control again.
    fn check_free_for(&self, user: UserId, session: &Session) -> Result<(), FileError> {
        let id = session.id;
        if session.phase == Phase::Terminated {
            return Err(FileError::Ended(id));
        }
        let held = self.0.live.attendance(id).held().map(|held| held.lease);
        match held.filter(|lease| lease.user != user) {
            Some(lease) => Err(FileError::SomebodyElseDrives { session: id, lease }),
            None => Ok(()),
        }
    }
}

/// Refuses a file with more than `most` bytes.
pub(crate) fn check_size(n_bytes: u64, most: u64) -> Result<(), FileError> {
    if n_bytes > most {
        return Err(FileError::TooLarge { most });
    }
    Ok(())
}

/// Returns the right that is needed to read a file. Hidden files need more than viewing, since the browser's cookies are
/// among them.
fn needed_to_read(path: &FilePath) -> Right {
    if path.is_hidden() {
        Right::Drive
    } else {
        Right::View
    }
}

fn stat_of(reply: FileReply) -> Result<FileStat, FileError> {
    match reply {
        FileReply::Stat(stat) => Ok(stat),
        other @ (FileReply::Listing(_) | FileReply::Removed | FileReply::Refused(_)) => {
            Err(unexpected(other))
        }
    }
}

/// Returns the error for a reply that does not match its request.
fn unexpected(reply: FileReply) -> FileError {
    match reply {
        FileReply::Refused(problem) => problem.into(),
        FileReply::Stat(_) | FileReply::Listing(_) | FileReply::Removed => {
            ComputerError::Failed("the computer sent an unexpected reply".to_owned()).into()
        }
    }
}
