//! Attachments: files that people upload and send with a message.

use deskhand_core::{
    attachment::Attachment,
    blob::BlobName,
    id::{AttachmentId, MessageId, SessionId, UserId},
};
use jiff::Timestamp;

use crate::{
    commit::{Change, HeldSession},
    database::{Row, Store, StoreError, count, millis, parsed, stored_count},
};

const COLUMNS: &str = "id, name, media_type, n_bytes, blob";

/// Adds a file to a session. It waits there for a message.
#[derive(Debug)]
pub struct AddAttachment<'a> {
    pub attachment: &'a Attachment,
    pub by: UserId,
    pub room: AttachmentRoom,
}

/// The bounds on the attachments of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentRoom {
    /// The maximum number of unsent files of one person.
    pub n_unsent: u64,
    /// The maximum size of all files together, in bytes.
    pub n_bytes: u64,
}

/// The reason why a file is not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentRefused {
    /// The session has ended or does not exist.
    Ended,
    /// The person has too many unsent files.
    TooManyUnsent,
    /// The files of the session would be too large together.
    NoRoom,
}

impl Change for AddAttachment<'_> {
    type Output = ();
    type Refusal = AttachmentRefused;

    fn no_session(&self) -> AttachmentRefused {
        AttachmentRefused::Ended
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<(), AttachmentRefused>, StoreError> {
        if session.is_terminated() {
            return Ok(Err(AttachmentRefused::Ended));
        }
        // The type of a sum differs between the databases.
        let sql = "SELECT CAST(COALESCE(SUM(n_bytes), 0) AS BIGINT) AS n_bytes, \
                   CAST(COALESCE(SUM(CASE WHEN message_id IS NULL AND user_id = $2 THEN 1 ELSE 0 END), 0) \
                   AS BIGINT) AS n_unsent FROM attachments WHERE session_id = $1";
        let values = [session.id.0.into(), self.by.0.into()];
        if let Some(row) = session.tx.one(sql, values).await? {
            let (n_bytes, n_unsent) = (count(row.get("n_bytes")?)?, count(row.get("n_unsent")?)?);
            if n_unsent >= self.room.n_unsent {
                return Ok(Err(AttachmentRefused::TooManyUnsent));
            }
            if n_bytes.saturating_add(self.attachment.n_bytes) > self.room.n_bytes {
                return Ok(Err(AttachmentRefused::NoRoom));
            }
        }
        let sql = "INSERT INTO attachments \
                   (id, session_id, user_id, name, media_type, n_bytes, blob, created_at_ms) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let file = self.attachment;
        let values = [
            file.id.0.into(),
            session.id.0.into(),
            self.by.0.into(),
            file.name.as_str().into(),
            file.media_type.as_str().into(),
            stored_count(file.n_bytes),
            file.blob.as_str().into(),
            millis(session.at),
        ];
        session.tx.execute(sql, values).await?;
        Ok(Ok(()))
    }
}

impl Store {
    /// Returns a file of a session that was sent with a message, or that this person has uploaded.
    pub async fn attachment(
        &self,
        session: SessionId,
        id: AttachmentId,
        by: UserId,
    ) -> Result<Option<Attachment>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM attachments WHERE session_id = $1 AND id = $2 \
             AND (message_id IS NOT NULL OR user_id = $3)"
        );
        let values = [session.0.into(), id.0.into(), by.0.into()];
        let row = self.one(&sql, values).await?;
        row.as_ref().map(attachment).transpose()
    }

    /// Removes a file that its uploader has not sent. Returns `false` if there is no such file.
    pub async fn remove_attachment(
        &self,
        session: SessionId,
        id: AttachmentId,
        by: UserId,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM attachments WHERE session_id = $1 AND id = $2 AND user_id = $3 \
                   AND message_id IS NULL RETURNING blob";
        let values = [session.0.into(), id.0.into(), by.0.into()];
        let Some(row) = tx.one(sql, values).await? else {
            return Ok(false);
        };
        let blob: String = row.get("blob")?;
        tx.execute(LIST_BLOB, [blob.into()]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Removes up to `limit` files that were uploaded before `before` and never sent. Returns their number.
    pub async fn remove_unsent_attachments(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM attachments WHERE message_id IS NULL AND id IN (SELECT id FROM attachments \
                   WHERE message_id IS NULL AND created_at_ms < $1 LIMIT $2) RETURNING blob";
        let rows = tx
            .all(sql, [millis(before), i64::from(limit).into()])
            .await?;
        for row in &rows {
            let blob: String = row.get("blob")?;
            tx.execute(LIST_BLOB, [blob.into()]).await?;
        }
        tx.commit().await?;
        Ok(rows.len())
    }

    /// Returns true if a file with these bytes was uploaded, sent or not.
    pub(crate) async fn is_blob_attached(&self, blob: &BlobName) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM attachments WHERE blob = $1 LIMIT 1";
        Ok(self.one(sql, [blob.as_str().into()]).await?.is_some())
    }
}

/// Marks a blob for removal. It is kept if something else refers to it.
const LIST_BLOB: &str = "INSERT INTO blobs_to_remove (blob) VALUES ($1) ON CONFLICT DO NOTHING";

/// Makes a file part of a message. Returns `None` if this person has no such unsent file.
pub(crate) async fn send_attachment(
    session: &mut HeldSession,
    id: AttachmentId,
    by: UserId,
    message: MessageId,
) -> Result<Option<Attachment>, StoreError> {
    let sql = format!(
        "UPDATE attachments SET message_id = $1 WHERE id = $2 AND session_id = $3 AND user_id = $4 \
         AND message_id IS NULL RETURNING {COLUMNS}"
    );
    let values = [
        message.0.into(),
        id.0.into(),
        session.id.0.into(),
        by.0.into(),
    ];
    let row = session.tx.one(&sql, values).await?;
    row.as_ref().map(attachment).transpose()
}

fn attachment(row: &Row) -> Result<Attachment, StoreError> {
    Ok(Attachment {
        id: AttachmentId(row.get("id")?),
        name: row.get("name")?,
        media_type: row.get("media_type")?,
        n_bytes: count(row.get("n_bytes")?)?,
        blob: parsed(row.get("blob")?)?,
    })
}
