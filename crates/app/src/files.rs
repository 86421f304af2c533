//! The files of sessions' computers, as people use them.
//!
//! The server opens none of them. The runner does, and the bytes pass through here without being kept.

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
    /// The size of the largest file that is written.
    pub largest_bytes: u64,
    /// The most transfers of one person at a time.
    pub per_user: usize,
    /// The most transfers of one session at a time.
    pub per_session: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            largest_bytes: 4 * 1024 * 1024 * 1024,
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

/// A person at the files of a session.
#[derive(Debug, Clone, Copy)]
pub struct FileUser {
    pub user: UserId,
    /// True if the caller may have a sleeping session woken.
    pub may_wake: bool,
}

/// A running computer that stays awake.
#[derive(Debug)]
struct OpenComputer {
    computer: Arc<SessionComputer>,
    guard: AwakeGuard,
}

/// The stream of one file, with everything that it keeps in use.
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

    /// Returns the facts about the thing at a path.
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

    /// Lists a folder in the order of names.
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

    /// Makes a folder, with the folders that it is in.
    pub async fn make_folder(
        &self,
        user: FileUser,
        id: SessionId,
        path: FilePath,
    ) -> Result<FileStat, FileError> {
        let reply = self.ask(Right::Drive, user, id, FileRequest::MakeFolder { path });
        stat_of(reply.await?)
    }

    /// Moves a file or a folder to a path where there is nothing yet.
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

    /// Removes a file, if it is in this version, or a folder.
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

    /// Has the computer answer a request of a person with this right.
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

    /// Opens the stream of a file on behalf of a person with this right.
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

    /// Returns the running computer of a session in which a person has this right. It is started for people who may
    /// send messages.
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

    /// Checks that the session has not ended and no one else has control. The runner checks the latter again.
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

/// Returns the right to read a file. Hidden ones are not for everybody who watches: the browser's cookies are among
/// them.
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

/// Returns the error for a reply that does not belong to its request.
fn unexpected(reply: FileReply) -> FileError {
    match reply {
        FileReply::Refused(problem) => problem.into(),
        FileReply::Stat(_) | FileReply::Listing(_) | FileReply::Removed => {
            ComputerError::Failed("the computer sent an unexpected reply".to_owned()).into()
        }
    }
}
