//! Messages, and the queue of prompts that wait for the agent.

use deskhand_core::{
    event::{EventBody, LoggedEvent, MessageSaid, Status},
    id::{MessageId, SessionId, TurnId, UserId},
    message::{Message, Role},
    session::{Phase, Signal},
};
use jiff::Timestamp;

use crate::{
    database::{
        Row, Store, StoreError, Transaction, Value, count, millis, stored_count, timestamp,
    },
    events::insert_events,
    transitions::{advance, hold},
};

const WAITING: &str = "SELECT COUNT(*) AS waiting FROM messages WHERE session_id = $1 \
                       AND taken_at_ms IS NULL AND role = 'user'";

/// A prompt to be queued.
#[derive(Debug)]
pub struct NewPrompt<'a> {
    pub id: MessageId,
    pub session: SessionId,
    pub content: &'a str,
    pub author: UserId,
    pub at: Timestamp,
}

/// Too many prompts wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueFull {
    pub n_waiting: u64,
}

/// A prompt that a turn has taken up.
#[derive(Debug)]
pub struct TakenPrompt {
    pub prompt: MessageId,
    pub events: Vec<LoggedEvent>,
}

/// One page of a conversation, oldest first.
#[derive(Debug)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// Where the next page goes on, if there is one.
    pub next: Option<MessageId>,
}

/// A message as it is stored.
pub(crate) struct MessageRow<'a> {
    pub(crate) id: MessageId,
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    pub(crate) role: Role,
    pub(crate) content: &'a str,
    pub(crate) author: Option<UserId>,
    pub(crate) at: Timestamp,
}

impl Store {
    /// Queues a prompt, at most `queue_length` of them. `None` when the session is over.
    pub async fn queue_prompt(
        &self,
        new: NewPrompt<'_>,
        queue_length: u64,
    ) -> Result<Option<Result<Vec<LoggedEvent>, QueueFull>>, StoreError> {
        let mut tx = self.begin().await?;
        let held = hold(&mut tx, new.session).await?;
        let Some(held) = held.filter(|held| held.phase != Phase::Terminated) else {
            return Ok(None);
        };
        let n_waiting = match tx.one(WAITING, [new.session.0.into()]).await? {
            Some(row) => count(row.get("waiting")?)?,
            None => 0,
        };
        if n_waiting >= queue_length {
            return Ok(Some(Err(QueueFull { n_waiting })));
        }
        let body = EventBody::Message(MessageSaid {
            id: new.id,
            role: Role::User,
            content: new.content.to_owned(),
            author: Some(new.author),
            turn: None,
        });
        let bodies = [body];
        let seq = advance(
            &mut tx,
            new.session,
            held.phase,
            held.sandbox,
            &bodies,
            new.at,
        )
        .await?;
        let row = MessageRow {
            id: new.id,
            session: new.session,
            seq,
            role: Role::User,
            content: new.content,
            author: Some(new.author),
            at: new.at,
        };
        insert_message(&mut tx, row).await?;
        let events = insert_events(&mut tx, new.session, seq, &bodies, new.at).await?;
        tx.commit().await?;
        Ok(Some(Ok(events)))
    }

    /// Takes the oldest waiting prompt for a new turn, if there is one and the session is free.
    pub async fn take_prompt(
        &self,
        session: SessionId,
        turn: TurnId,
        at: Timestamp,
    ) -> Result<Option<TakenPrompt>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(held) = hold(&mut tx, session).await? else {
            return Ok(None);
        };
        let Some(phase) = held.phase.after(Signal::PromptTaken) else {
            return Ok(None);
        };
        let sql = "UPDATE messages SET taken_at_ms = $1 WHERE id = (\
                   SELECT id FROM messages WHERE session_id = $2 AND taken_at_ms IS NULL \
                   AND role = 'user' ORDER BY seq LIMIT 1) RETURNING id";
        let Some(row) = tx.one(sql, [millis(at), session.0.into()]).await? else {
            return Ok(None);
        };
        let prompt = MessageId(row.get("id")?);
        let bodies = [EventBody::Status(Status {
            state: phase,
            sandbox: held.sandbox,
            reason: None,
            turn: Some(turn),
            prompt: Some(prompt),
        })];
        let seq = advance(&mut tx, session, phase, held.sandbox, &bodies, at).await?;
        let sql = "UPDATE sessions SET turn_id = $1 WHERE id = $2";
        tx.execute(sql, [turn.0.into(), session.0.into()]).await?;
        let events = insert_events(&mut tx, session, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(TakenPrompt { prompt, events }))
    }

    /// How many prompts of a session wait.
    pub async fn n_waiting(&self, session: SessionId) -> Result<u64, StoreError> {
        match self.one(WAITING, [session.0.into()]).await? {
            Some(row) => count(row.get("waiting")?),
            None => Ok(0),
        }
    }

    /// A session's messages after `after`, oldest first.
    pub async fn messages(
        &self,
        session: SessionId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, StoreError> {
        let sql = "SELECT id, session_id, role, content, author_id, created_at_ms FROM messages \
                   WHERE session_id = $1 AND seq > COALESCE((SELECT seq FROM messages WHERE id = $2), 0) \
                   ORDER BY seq LIMIT $3";
        let after: Value = after.map(|id| id.0).into();
        let values = [
            session.0.into(),
            after,
            i64::from(limit.saturating_add(1)).into(),
        ];
        let rows = self.all(sql, values).await?;
        let mut messages = rows.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = messages.len() > wanted;
        messages.truncate(wanted);
        let next = messages.last().filter(|_| more).map(|last| last.id);
        Ok(MessagePage { messages, next })
    }
}

pub(crate) async fn insert_message(
    tx: &mut Transaction,
    row: MessageRow<'_>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO messages (id, session_id, seq, role, content, author_id, created_at_ms) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = [
        row.id.0.into(),
        row.session.0.into(),
        stored_count(row.seq),
        role_name(row.role).into(),
        row.content.into(),
        row.author.map(|author| author.0).into(),
        millis(row.at),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn message(row: &Row) -> Result<Message, StoreError> {
    let role: String = row.get("role")?;
    let author: Option<uuid::Uuid> = row.get("author_id")?;
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
        created_at: timestamp(row.get("created_at_ms")?)?,
    })
}
