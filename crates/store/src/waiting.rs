//! Changes to all waiting messages of a session at once.

use deskhand_core::{
    event::{EventBody, QueueChange, QueueChanged},
    id::{MessageId, UserId},
};

use crate::{
    commit::{Change, HeldSession},
    database::{StoreError, Value, millis},
    queue::{FREE, ORDER, WAITING},
};

/// Holds all waiting messages, so that the agent takes none until a person releases it.
#[derive(Debug, Clone, Copy)]
pub struct HoldWaiting {
    pub by: UserId,
}

/// Removes all waiting messages that are held.
#[derive(Debug, Clone, Copy)]
pub struct ClearHeld {
    pub by: UserId,
}

/// The refusal if the session does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoQueue;

impl Change for HoldWaiting {
    type Output = ();
    type Refusal = NoQueue;

    fn no_session(&self) -> NoQueue {
        NoQueue
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), NoQueue>, StoreError> {
        let now = millis(session.at);
        mark_all(
            session,
            self.by,
            FREE,
            ("held_at_ms", now),
            QueueChange::Held,
        )
        .await?;
        Ok(Ok(()))
    }
}

impl Change for ClearHeld {
    type Output = ();
    type Refusal = NoQueue;

    fn no_session(&self) -> NoQueue {
        NoQueue
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), NoQueue>, StoreError> {
        remove_all(session, self.by, "held_at_ms IS NOT NULL").await?;
        Ok(Ok(()))
    }
}

/// Removes all waiting messages of a session whose owner changes: they were written for the other owner's account.
pub(crate) async fn remove_waiting(
    session: &mut HeldSession,
    by: UserId,
) -> Result<(), StoreError> {
    remove_all(session, by, "TRUE").await
}

async fn remove_all(
    session: &mut HeldSession,
    by: UserId,
    condition: &str,
) -> Result<(), StoreError> {
    let removed = ("removed_at_ms", millis(session.at));
    mark_all(session, by, condition, removed, QueueChange::Removed).await
}

/// Sets a column of every waiting message that meets the condition, and logs the change of each.
async fn mark_all(
    session: &mut HeldSession,
    by: UserId,
    condition: &str,
    (column, value): (&str, Value),
    change: QueueChange,
) -> Result<(), StoreError> {
    let sql = format!("SELECT id FROM messages WHERE {WAITING} AND {condition} ORDER BY {ORDER}");
    for row in session.tx.all(&sql, [session.id.0.into()]).await? {
        let message = MessageId(row.get("id")?);
        let sql = format!("UPDATE messages SET {column} = $1 WHERE id = $2");
        session
            .tx
            .execute(&sql, [value.clone(), message.0.into()])
            .await?;
        let changed = EventBody::Queue(QueueChanged {
            message,
            by,
            change: change.clone(),
        });
        session.tell(&changed).await?;
    }
    Ok(())
}
