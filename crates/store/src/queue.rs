//! The queue: prompts that wait for the agent, and changes to them until it takes them.

use deskhand_core::{
    attachment::Attachment,
    browser::WebUrl,
    event::{EventBody, MessageSaid, QueueChange, QueueChanged},
    id::{AttachmentId, MessageId, SessionId, TurnId, UserId},
    message::{Delivery, Message, Role},
    model::Effort,
    session::Signal,
};

use crate::{
    attachments::send_attachment,
    commit::{Change, HeldSession},
    database::{Store, StoreError, Value, count, millis},
    messages::{COLUMNS, MessageRow, insert_message, message},
};

/// The condition for waiting messages.
pub(crate) const WAITING: &str =
    "session_id = $1 AND taken_at_ms IS NULL AND removed_at_ms IS NULL AND role = 'user'";

/// The condition for waiting messages that the agent may take.
pub(crate) const FREE: &str = "held_at_ms IS NULL";

/// The order in which messages are taken.
pub(crate) const ORDER: &str =
    "CASE delivery WHEN 'interrupt' THEN 0 WHEN 'steer' THEN 1 ELSE 2 END, place, seq";

/// Queues a prompt.
#[derive(Debug)]
pub struct QueuePrompt {
    pub id: MessageId,
    pub content: String,
    pub author: UserId,
    /// The user's current name, for the log.
    pub author_name: String,
    pub delivery: Delivery,
    /// The model that works on it, if it is not the session's.
    pub model: Option<String>,
    /// The effort of the model, if it is not the session's.
    pub effort: Option<Effort>,
    /// The author's attachments, in order.
    pub attachments: Vec<AttachmentId>,
    /// The page that the browser opens before the agent reads it.
    pub start_url: Option<WebUrl>,
    /// The maximum number of waiting prompts.
    pub queue_length: u64,
}

/// The reason why a prompt is not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRefused {
    /// Too many prompts wait already.
    QueueFull { n_waiting: u64 },
    /// The session has ended or does not exist.
    Ended,
    /// The author has no such unsent attachment in this session.
    NoAttachment(AttachmentId),
}

/// Takes the first waiting prompt for a new turn.
#[derive(Debug, Clone, Copy)]
pub struct TakePrompt {
    pub turn: TurnId,
}

/// Takes all messages that are to steer the running turn.
#[derive(Debug, Clone, Copy)]
pub struct TakeSteering {
    pub turn: TurnId,
}

/// Messages that a turn has taken while it runs.
#[derive(Debug)]
pub struct Steering {
    pub messages: Vec<Message>,
    /// The number of the event of the last message.
    pub last_seq: u64,
}

/// The refusal if no message waits, or if the session works on something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NothingToTake;

/// Changes a waiting message, in all these ways or in none.
#[derive(Debug)]
pub struct ChangeWaiting<'a> {
    pub message: MessageId,
    pub by: UserId,
    pub changes: &'a [QueueChange],
}

/// The reason why a message is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingRefused {
    /// The agent has taken the message.
    Taken,
    /// This message does not wait in the session.
    NotWaiting(MessageId),
}

impl Change for QueuePrompt {
    type Output = Message;
    type Refusal = PromptRefused;

    fn no_session(&self) -> PromptRefused {
        PromptRefused::Ended
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<Message, PromptRefused>, StoreError> {
        if session.is_terminated() {
            return Ok(Err(PromptRefused::Ended));
        }
        let n_waiting = n_waiting(session).await?;
        if n_waiting >= self.queue_length {
            return Ok(Err(PromptRefused::QueueFull { n_waiting }));
        }
        let mut attachments: Vec<Attachment> = Vec::with_capacity(self.attachments.len());
        for id in self.attachments {
            let Some(sent) = send_attachment(session, id, self.author, self.id).await? else {
                return Ok(Err(PromptRefused::NoAttachment(id)));
            };
            attachments.push(sent);
        }
        let said = EventBody::Message(MessageSaid {
            id: self.id,
            role: Role::User,
            content: self.content.clone(),
            author: Some(self.author),
            author_name: Some(self.author_name.clone()),
            delivery: self.delivery,
            model: self.model.clone(),
            effort: self.effort,
            turn: None,
            attachments: attachments.clone(),
            start_url: self.start_url.clone(),
        });
        let row = MessageRow {
            id: self.id,
            session: session.id,
            seq: session.tell(&said).await?,
            role: Role::User,
            content: &self.content,
            author: Some(self.author),
            delivery: self.delivery,
            model: self.model.as_deref(),
            effort: self.effort,
            attachments: &attachments,
            start_url: self.start_url.as_ref(),
            at: session.at,
        };
        insert_message(&mut session.tx, row).await?;
        Ok(Ok(Message {
            id: self.id,
            session: session.id,
            role: Role::User,
            content: self.content,
            author: Some(self.author),
            author_name: Some(self.author_name),
            delivery: self.delivery,
            model: self.model,
            effort: self.effort,
            is_held: false,
            attachments,
            start_url: self.start_url,
            created_at: session.at,
        }))
    }
}

impl Change for TakePrompt {
    type Output = MessageId;
    type Refusal = NothingToTake;

    fn no_session(&self) -> NothingToTake {
        NothingToTake
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<MessageId, NothingToTake>, StoreError> {
        let Some(phase) = session.phase.after(Signal::PromptTaken) else {
            return Ok(Err(NothingToTake));
        };
        let sql = format!(
            "UPDATE messages SET taken_at_ms = $2, turn_id = $3 WHERE id = (\
             SELECT id FROM messages WHERE {WAITING} AND {FREE} ORDER BY {ORDER} LIMIT 1) RETURNING id"
        );
        let values = [session.id.0.into(), millis(session.at), self.turn.0.into()];
        let Some(row) = session.tx.one(&sql, values).await? else {
            return Ok(Err(NothingToTake));
        };
        let prompt = MessageId(row.get("id")?);
        session.phase = phase;
        session.turn = Some(self.turn);
        session
            .tell_status(None, Some(self.turn), Some(prompt))
            .await?;
        Ok(Ok(prompt))
    }
}

impl Change for TakeSteering {
    type Output = Steering;
    type Refusal = NothingToTake;

    fn no_session(&self) -> NothingToTake {
        NothingToTake
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<Steering, NothingToTake>, StoreError> {
        if session.turn != Some(self.turn) {
            return Ok(Err(NothingToTake));
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM messages WHERE {WAITING} AND {FREE} AND delivery = 'steer' \
             ORDER BY {ORDER}"
        );
        let rows = session.tx.all(&sql, [session.id.0.into()]).await?;
        let messages = rows.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        for message in &messages {
            let sql = "UPDATE messages SET taken_at_ms = $1, turn_id = $2 WHERE id = $3";
            let values = [millis(session.at), self.turn.0.into(), message.id.0.into()];
            session.tx.execute(sql, values).await?;
            session
                .tell_status(None, Some(self.turn), Some(message.id))
                .await?;
        }
        let last_seq = session.last_seq();
        Ok(Ok(Steering { messages, last_seq }))
    }
}

impl Change for ChangeWaiting<'_> {
    type Output = ();
    type Refusal = WaitingRefused;

    fn no_session(&self) -> WaitingRefused {
        WaitingRefused::NotWaiting(self.message)
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<(), WaitingRefused>, StoreError> {
        let message = self.message;
        let sql = "SELECT taken_at_ms IS NOT NULL AS is_taken, removed_at_ms IS NOT NULL AS is_removed \
                   FROM messages WHERE id = $1 AND session_id = $2 AND role = 'user'";
        let values = [message.0.into(), session.id.0.into()];
        let row = session.tx.one(sql, values).await?;
        let Some(row) = row.filter(|_| !session.is_terminated()) else {
            return Ok(Err(WaitingRefused::NotWaiting(message)));
        };
        if row.get("is_removed")? {
            return Ok(Err(WaitingRefused::NotWaiting(message)));
        }
        if row.get("is_taken")? {
            return Ok(Err(WaitingRefused::Taken));
        }
        for change in self.changes {
            if let Err(unknown) = make(session, message, change).await? {
                return Ok(Err(WaitingRefused::NotWaiting(unknown)));
            }
            if matches!(change, QueueChange::Edited { .. }) {
                note_editor(session, message, self.by).await?;
            }
            let changed = EventBody::Queue(QueueChanged {
                message,
                by: self.by,
                change: change.clone(),
            });
            session.tell(&changed).await?;
        }
        Ok(Ok(()))
    }
}

impl Store {
    /// Returns the waiting messages in the order in which they will be taken.
    pub async fn waiting(&self, session: SessionId) -> Result<Vec<Message>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM messages WHERE {WAITING} ORDER BY {ORDER}");
        let rows = self.all(&sql, [session.0.into()]).await?;
        rows.iter().map(message).collect()
    }

    /// Returns true if messages wait that are to steer the running turn. Called before [`TakeSteering`], it keeps a
    /// turn without such messages from holding the session.
    pub async fn is_steered(&self, session: SessionId) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT id FROM messages WHERE {WAITING} AND {FREE} AND delivery = 'steer' LIMIT 1"
        );
        Ok(self.one(&sql, [session.0.into()]).await?.is_some())
    }
}

async fn n_waiting(session: &mut HeldSession) -> Result<u64, StoreError> {
    let sql = format!("SELECT COUNT(*) AS waiting FROM messages WHERE {WAITING}");
    let row = session.tx.one(&sql, [session.id.0.into()]).await?;
    row.map_or(Ok(0), |row| count(row.get("waiting")?))
}

/// Makes one change. The error names a message that should be waiting and is not.
async fn make(
    session: &mut HeldSession,
    id: MessageId,
    change: &QueueChange,
) -> Result<Result<(), MessageId>, StoreError> {
    let (column, value): (&str, Value) = match change {
        QueueChange::Edited { content } => ("content", content.as_str().into()),
        QueueChange::Redelivered { delivery } => ("delivery", delivery.name().into()),
        QueueChange::Reassigned { model } => ("model", model.clone().into()),
        QueueChange::Reweighed { effort } => ("effort", effort.map(Effort::as_str).into()),
        QueueChange::Held => ("held_at_ms", millis(session.at)),
        QueueChange::Released => ("held_at_ms", Option::<i64>::None.into()),
        QueueChange::Removed => ("removed_at_ms", millis(session.at)),
        QueueChange::Moved { before } => return move_before(session, id, *before).await,
    };
    let sql = format!("UPDATE messages SET {column} = $1 WHERE id = $2");
    session.tx.execute(&sql, [value, id.0.into()]).await?;
    Ok(Ok(()))
}

/// Records who changed the text of a message last.
async fn note_editor(
    session: &mut HeldSession,
    message: MessageId,
    by: UserId,
) -> Result<(), StoreError> {
    let sql = "UPDATE messages SET edited_by = $1 WHERE id = $2";
    session
        .tx
        .execute(sql, [by.0.into(), message.0.into()])
        .await?;
    Ok(())
}

/// Numbers the places of all waiting messages again. There are few of them.
async fn move_before(
    session: &mut HeldSession,
    id: MessageId,
    before: Option<MessageId>,
) -> Result<Result<(), MessageId>, StoreError> {
    let sql = format!("SELECT id FROM messages WHERE {WAITING} ORDER BY place, seq");
    let rows = session.tx.all(&sql, [session.id.0.into()]).await?;
    let mut order = Vec::with_capacity(rows.len());
    for row in &rows {
        let other = MessageId(row.get("id")?);
        if other != id {
            order.push(other);
        }
    }
    let index = match before {
        None => order.len(),
        Some(before) => match order.iter().position(|other| *other == before) {
            Some(index) => index,
            None => return Ok(Err(before)),
        },
    };
    order.insert(index, id);
    // A new message gets its event's number as its place, which is larger than any of these.
    for (place, id) in (0_i64..).zip(order) {
        let sql = "UPDATE messages SET place = $1 WHERE id = $2";
        let values = [place.into(), id.0.into()];
        session.tx.execute(sql, values).await?;
    }
    Ok(Ok(()))
}
