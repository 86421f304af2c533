//! Files that people attach to messages: uploading, reading and removing them.
//!
//! An uploaded file waits for a message from the same person, and is removed after a day if none comes.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use deskhand_core::{
    attachment::{Attachment, LARGEST_ATTACHMENT_BYTES, plain_name, sniff},
    blob::{BlobError, Blobs},
    id::{AttachmentId, SessionId, UserId},
    right::Right,
    session::Phase,
    viewer::Viewer,
};
use deskhand_store::{AddAttachment, AttachmentRefused, AttachmentRoom, Store};
use futures::{Stream, StreamExt};

use crate::{
    BodyError, FileError, FileLimits, FindError, InternalError,
    feed::log::Log,
    files::{Transfers, check_size},
    refusal::refusals,
    sessions::find::{find, find_with},
};

/// The time for which an uploaded file waits for a message.
pub(crate) const UNSENT_LIFE: Duration = Duration::from_hours(24);

/// The bounds on the attachments of a session. They are stored outside of its home folder.
const ROOM: AttachmentRoom = AttachmentRoom {
    n_unsent: 60,
    n_bytes: 2 * 1024 * 1024 * 1024,
};

/// The number of bytes after which a body that is too long is no longer read.
const MOST_BYTES_READ: u64 = 4 * LARGEST_ATTACHMENT_BYTES;

/// The limits of concurrent uploads. Each upload is held in memory.
const UPLOADS_AT_A_TIME: FileLimits = FileLimits {
    largest_bytes: LARGEST_ATTACHMENT_BYTES,
    per_user: 4,
    per_session: 8,
};

/// The attachments of all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Attachments(Arc<AttachmentParts>);

#[derive(Debug)]
struct AttachmentParts {
    store: Store,
    log: Log,
    blobs: Arc<dyn Blobs>,
    uploads: Transfers,
}

/// An attached file with its content.
#[derive(Debug)]
pub struct AttachedFile {
    pub attachment: Attachment,
    pub bytes: Bytes,
}

/// The reason why a file was not attached, returned or removed.
#[derive(Debug, thiserror::Error)]
pub enum AttachmentError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("session {0} has ended")]
    Ended(SessionId),
    /// The file is too large, there are too many uploads, or the body ended early.
    #[error(transparent)]
    Upload(#[from] FileError),
    #[error("{} of your files are already waiting for a message; send one, or remove some files", ROOM.n_unsent)]
    TooManyUnsent,
    #[error("all attachments of session {session} together may have at most {} bytes; copy the file to the desktop instead", ROOM.n_bytes)]
    NoRoom { session: SessionId },
    #[error("there is no attachment {0} in this session, or it was already sent")]
    None(AttachmentId),
    #[error("could not store or read the file")]
    Blob(#[from] BlobError),
    #[error("could not attach the file")]
    Internal(#[source] InternalError),
}

refusals! {
    AttachmentError passes on Find, Upload, Blob, Internal;
    Self::Ended(_) => Conflict("session_ended"),
    Self::TooManyUnsent => TooMany("too_many_attachments", { "limit": ROOM.n_unsent }),
    Self::NoRoom { .. } => TooLarge("attachments_full", { "limit": ROOM.n_bytes }),
    Self::None(_) => NotFound("no_attachment"),
}

impl Attachments {
    pub(crate) fn new(store: Store, log: Log, blobs: Arc<dyn Blobs>) -> Self {
        Self(Arc::new(AttachmentParts {
            store,
            log,
            blobs,
            uploads: Transfers::new(UPLOADS_AT_A_TIME),
        }))
    }

    /// Stores a file for a later message of this person.
    pub async fn add(
        &self,
        by: UserId,
        session: SessionId,
        name: &str,
        length: Option<u64>,
        body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
    ) -> Result<Attachment, AttachmentError> {
        let viewer = Viewer::User(by);
        let found = find_with(&self.0.store, Right::Suggest, viewer, session).await?;
        let _upload = self.0.uploads.begin(by, session)?;
        if found.phase == Phase::Terminated {
            return Err(AttachmentError::Ended(session));
        }
        let bytes = read_all(length, body).await?;
        let name = plain_name(name);
        let attachment = Attachment {
            id: AttachmentId::new(),
            media_type: sniff(&name, &bytes).to_owned(),
            name,
            n_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            blob: self.0.blobs.put_file(bytes).await?,
        };
        let add = AddAttachment {
            attachment: &attachment,
            by,
            room: ROOM,
        };
        match self.0.log.commit(session, add).await? {
            Ok(()) => Ok(attachment),
            Err(AttachmentRefused::Ended) => Err(AttachmentError::Ended(session)),
            Err(AttachmentRefused::TooManyUnsent) => Err(AttachmentError::TooManyUnsent),
            Err(AttachmentRefused::NoRoom) => Err(AttachmentError::NoRoom { session }),
        }
    }

    /// Returns a file that was sent with a message, or that this person has uploaded.
    pub async fn read(
        &self,
        by: UserId,
        session: SessionId,
        id: AttachmentId,
    ) -> Result<AttachedFile, AttachmentError> {
        find(&self.0.store, Viewer::User(by), session).await?;
        let attachment = self.0.store.attachment(session, id, by).await?;
        let attachment = attachment.ok_or(AttachmentError::None(id))?;
        let bytes = self.0.blobs.get(&attachment.blob).await?;
        Ok(AttachedFile { attachment, bytes })
    }

    /// Removes a file that this person has uploaded but not sent.
    pub async fn remove(
        &self,
        by: UserId,
        session: SessionId,
        id: AttachmentId,
    ) -> Result<(), AttachmentError> {
        find_with(&self.0.store, Right::Suggest, Viewer::User(by), session).await?;
        let is_removed = self.0.store.remove_attachment(session, id, by).await?;
        is_removed.then_some(()).ok_or(AttachmentError::None(id))
    }
}

/// Reads a body to its end.
///
/// A body that is too long is read a little further and discarded. Otherwise a client that is still sending would see a
/// broken connection instead of our response.
async fn read_all(
    length: Option<u64>,
    body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
) -> Result<Bytes, FileError> {
    let most = LARGEST_ATTACHMENT_BYTES;
    let length = length.unwrap_or_default();
    if length > MOST_BYTES_READ {
        check_size(length, most)?;
    }
    let mut body = std::pin::pin!(body);
    let (mut bytes, mut n_bytes) = (BytesMut::new(), 0_u64);
    while let Some(piece) = body.next().await {
        let piece = piece?;
        n_bytes = n_bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if n_bytes <= most {
            bytes.extend_from_slice(&piece);
        } else if n_bytes > MOST_BYTES_READ {
            break;
        } else {
            bytes.clear();
        }
    }
    check_size(n_bytes, most)?;
    Ok(bytes.freeze())
}
