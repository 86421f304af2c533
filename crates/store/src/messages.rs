//! Messages: the conversation in order.

use deskhand_core::{
    attachment::Attachment,
    browser::{BadWebUrl, WebUrl},
    id::{MessageId, SessionId, TurnId, UserId},
    message::{Delivery, Message, MessagePage, Role, UnknownDelivery},
    model::Effort,
};
use jiff::Timestamp;

use crate::database::{
    Row, Store, StoreError, Transaction, Value, from_json, json, millis, parsed, stored_count,
    timestamp,
};

pub(crate) const COLUMNS: &str = "id, session_id, role, content, author_id, delivery, model, effort, attachments, start_url, \
     created_at_ms, held_at_ms IS NOT NULL AS is_held, \
     (SELECT name FROM users WHERE users.id = author_id) AS author_name";

/// A message as it is stored.
pub(crate) struct MessageRow<'a> {
    pub(crate) id: MessageId,
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    pub(crate) role: Role,
    pub(crate) content: &'a str,
    pub(crate) author: Option<UserId>,
    pub(crate) delivery: Delivery,
    pub(crate) model: Option<&'a str>,
    pub(crate) effort: Option<Effort>,
    pub(crate) attachments: &'a [Attachment],
    pub(crate) start_url: Option<&'a WebUrl>,
    pub(crate) at: Timestamp,
}

/// The choices of a message that are not the session's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageChoice {
    pub model: Option<String>,
    pub effort: Option<Effort>,
}

impl Store {
    /// Returns a session's messages after `after`, oldest first.
    pub async fn messages(
        &self,
        session: SessionId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM messages WHERE session_id = $1 AND removed_at_ms IS NULL \
             AND seq > COALESCE((SELECT seq FROM messages WHERE id = $2), 0) ORDER BY seq LIMIT $3"
        );
        let after: Value = after.map(|id| id.0).into();
        let values = [
            session.0.into(),
            after,
            i64::from(limit.saturating_add(1)).into(),
        ];
        let rows = self.all(&sql, values).await?;
        let mut messages = rows.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = messages.len() > wanted;
        messages.truncate(wanted);
        let next = messages.last().filter(|_| more).map(|last| last.id);
        Ok(MessagePage { messages, next })
    }

    /// Returns the model and the effort with which a message is worked on, if they are not the session's.
    pub async fn choice_for(&self, message: MessageId) -> Result<MessageChoice, StoreError> {
        let sql = "SELECT model, effort FROM messages WHERE id = $1";
        let Some(row) = self.one(sql, [message.0.into()]).await? else {
            return Ok(MessageChoice::default());
        };
        Ok(MessageChoice {
            model: row.get("model")?,
            effort: effort(&row)?,
        })
    }

    /// Returns true if the session's owner wrote all messages that a turn has taken, and the session's instructions. The
    /// writer of a text is the person who changed it last.
    pub async fn is_turn_of_owner(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT s.owner_id, COALESCE(m.edited_by, m.author_id) AS writer_id, \
                   CASE WHEN s.instructions = '' THEN s.owner_id ELSE s.instructions_by END \
                   AS instructor_id FROM messages m JOIN sessions s ON s.id = m.session_id \
                   WHERE m.session_id = $1 AND m.turn_id = $2";
        let rows = self.all(sql, [session.0.into(), turn.0.into()]).await?;
        for row in &rows {
            let owner: Option<uuid::Uuid> = row.get("owner_id")?;
            let writers: [Option<uuid::Uuid>; 2] =
                [row.get("writer_id")?, row.get("instructor_id")?];
            if writers.iter().any(|writer| *writer != owner) {
                return Ok(false);
            }
        }
        Ok(!rows.is_empty())
    }
}

pub(crate) async fn insert_message(
    tx: &mut Transaction,
    row: MessageRow<'_>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO messages (id, session_id, seq, place, role, content, author_id, \
               delivery, model, attachments, start_url, created_at_ms, effort) \
               VALUES ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let attachments = if row.attachments.is_empty() {
        None
    } else {
        Some(json(&row.attachments)?)
    };
    let values = [
        row.id.0.into(),
        row.session.0.into(),
        stored_count(row.seq),
        role_name(row.role).into(),
        row.content.into(),
        row.author.map(|author| author.0).into(),
        row.delivery.name().into(),
        row.model.map(str::to_owned).into(),
        attachments.into(),
        row.start_url.map(|url| url.as_str().to_owned()).into(),
        millis(row.at),
        row.effort.map(Effort::as_str).into(),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Reads the effort in a row of a session or a message.
pub(crate) fn effort(row: &Row) -> Result<Option<Effort>, StoreError> {
    let stored: Option<&str> = row.get("effort")?;
    stored.map(parsed).transpose()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

pub(crate) fn message(row: &Row) -> Result<Message, StoreError> {
    let role: &str = row.get("role")?;
    let author: Option<uuid::Uuid> = row.get("author_id")?;
    let delivery: &str = row.get("delivery")?;
    let attachments: Option<&str> = row.get("attachments")?;
    let start_url: Option<&str> = row.get("start_url")?;
    let start_url = start_url.map(str::parse).transpose();
    Ok(Message {
        id: MessageId(row.get("id")?),
        session: SessionId(row.get("session_id")?),
        role: if role == "assistant" {
            Role::Assistant
        } else {
            Role::User
        },
        content: row.get("content")?,
        author: author.map(UserId),
        author_name: row.get("author_name")?,
        delivery: delivery
            .parse()
            .map_err(|error: UnknownDelivery| StoreError::Unreadable(error.to_string()))?,
        model: row.get("model")?,
        effort: effort(row)?,
        is_held: row.get("is_held")?,
        attachments: attachments.map_or(Ok(Vec::new()), from_json)?,
        start_url: start_url
            .map_err(|error: BadWebUrl| StoreError::Unreadable(error.to_string()))?,
        created_at: timestamp(row.get("created_at_ms")?)?,
    })
}
