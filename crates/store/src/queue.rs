//! The queue: prompts that wait for the agent, and what can be done with them until it takes them.

use deskhand_core::{
    event::{EventBody, LoggedEvent, MessageSaid, QueueChange, QueueChanged, Status},
    id::{MessageId, SessionId, TurnId, UserId},
    message::{Delivery, Message, Role},
    session::{Phase, Signal},
};
use jiff::Timestamp;

use crate::{
    database::{Row, Store, StoreError, Transaction, Value, count, millis},
    events::insert_events,
    messages::{COLUMNS, MessageRow, insert_message, message},
    transitions::{advance, hold},
};

/// Which messages wait.
const WAITING: &str =
    "session_id = $1 AND taken_at_ms IS NULL AND removed_at_ms IS NULL AND role = 'user'";

/// The order in which they are taken.
const ORDER: &str =
    "CASE delivery WHEN 'interrupt' THEN 0 WHEN 'steer' THEN 1 ELSE 2 END, place, seq";

/// A prompt to be queued.
#[derive(Debug)]
pub struct NewPrompt<'a> {
    pub id: MessageId,
    pub session: SessionId,
    pub content: &'a str,
    pub author: UserId,
    /// Their name now, for the log.
    pub author_name: &'a str,
    pub delivery: Delivery,
    /// Which model works on it, when it is not the session's.
    pub model: Option<&'a str>,
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

/// Messages that a turn has taken up on its way.
#[derive(Debug)]
pub struct Steering {
    pub messages: Vec<Message>,
    pub events: Vec<LoggedEvent>,
}

/// What came of changing a message that waits.
#[derive(Debug)]
pub enum ChangeWaiting {
    Changed(Vec<LoggedEvent>),
    /// The agent was quicker.
    Taken,
    /// No such message waits in this session.
    Unknown(MessageId),
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
        let sql = format!("SELECT COUNT(*) AS waiting FROM messages WHERE {WAITING}");
        let n_waiting = n_waiting(tx.one(&sql, [new.session.0.into()]).await?)?;
        if n_waiting >= queue_length {
            return Ok(Some(Err(QueueFull { n_waiting })));
        }
        let bodies = [EventBody::Message(MessageSaid {
            id: new.id,
            role: Role::User,
            content: new.content.to_owned(),
            author: Some(new.author),
            author_name: Some(new.author_name.to_owned()),
            delivery: new.delivery,
            model: new.model.map(str::to_owned),
            turn: None,
        })];
        let (phase, sandbox) = (held.phase, held.sandbox);
        let seq = advance(&mut tx, new.session, phase, sandbox, &bodies, new.at).await?;
        let row = MessageRow {
            id: new.id,
            session: new.session,
            seq,
            role: Role::User,
            content: new.content,
            author: Some(new.author),
            delivery: new.delivery,
            model: new.model,
            at: new.at,
        };
        insert_message(&mut tx, row).await?;
        let events = insert_events(&mut tx, new.session, seq, &bodies, new.at).await?;
        tx.commit().await?;
        Ok(Some(Ok(events)))
    }

    /// Takes the first waiting prompt for a new turn, if there is one and the session is free.
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
        let sql = format!(
            "UPDATE messages SET taken_at_ms = $2 WHERE id = (\
             SELECT id FROM messages WHERE {WAITING} ORDER BY {ORDER} LIMIT 1) RETURNING id"
        );
        let Some(row) = tx.one(&sql, [session.0.into(), millis(at)]).await? else {
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

    /// Takes all messages that are to steer the turn that runs. `None` when there are none, or
    /// another turn runs.
    pub async fn take_steering(
        &self,
        session: SessionId,
        turn: TurnId,
        at: Timestamp,
    ) -> Result<Option<Steering>, StoreError> {
        let steering = format!(
            "SELECT {COLUMNS} FROM messages WHERE {WAITING} AND delivery = 'steer' ORDER BY {ORDER}"
        );
        // Mostly there are none, and then nobody has to be held up.
        if self.one(&steering, [session.0.into()]).await?.is_none() {
            return Ok(None);
        }
        let mut tx = self.begin().await?;
        let Some(held) = hold(&mut tx, session).await? else {
            return Ok(None);
        };
        let sql = "SELECT 1 AS same FROM sessions WHERE id = $1 AND turn_id = $2";
        let values = [session.0.into(), turn.0.into()];
        if tx.one(sql, values).await?.is_none() {
            return Ok(None);
        }
        let rows = tx.all(&steering, [session.0.into()]).await?;
        let messages = rows.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        let mut bodies = Vec::with_capacity(messages.len());
        for message in &messages {
            let sql = "UPDATE messages SET taken_at_ms = $1 WHERE id = $2";
            tx.execute(sql, [millis(at), message.id.0.into()]).await?;
            bodies.push(EventBody::Status(Status {
                state: held.phase,
                sandbox: held.sandbox,
                reason: None,
                turn: Some(turn),
                prompt: Some(message.id),
            }));
        }
        let seq = advance(&mut tx, session, held.phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, session, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(Steering { messages, events }))
    }

    /// Changes a message that waits, in all these ways or in none.
    pub async fn change_waiting(
        &self,
        session: SessionId,
        id: MessageId,
        by: UserId,
        changes: &[QueueChange],
        at: Timestamp,
    ) -> Result<ChangeWaiting, StoreError> {
        let mut tx = self.begin().await?;
        let held = hold(&mut tx, session).await?;
        let Some(held) = held.filter(|held| held.phase != Phase::Terminated) else {
            return Ok(ChangeWaiting::Unknown(id));
        };
        let sql = "SELECT taken_at_ms IS NOT NULL AS is_taken, removed_at_ms IS NOT NULL AS is_removed \
                   FROM messages WHERE id = $1 AND session_id = $2 AND role = 'user'";
        let Some(row) = tx.one(sql, [id.0.into(), session.0.into()]).await? else {
            return Ok(ChangeWaiting::Unknown(id));
        };
        if row.get("is_removed")? {
            return Ok(ChangeWaiting::Unknown(id));
        }
        if row.get("is_taken")? {
            return Ok(ChangeWaiting::Taken);
        }
        let mut bodies = Vec::with_capacity(changes.len());
        for change in changes {
            if let Err(unknown) = apply(&mut tx, session, id, change, at).await? {
                return Ok(ChangeWaiting::Unknown(unknown));
            }
            bodies.push(EventBody::Queue(QueueChanged {
                message: id,
                by,
                change: change.clone(),
            }));
        }
        let seq = advance(&mut tx, session, held.phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, session, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(ChangeWaiting::Changed(events))
    }

    /// The messages that wait, in the order in which they will be taken.
    pub async fn waiting(&self, session: SessionId) -> Result<Vec<Message>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM messages WHERE {WAITING} ORDER BY {ORDER}");
        let rows = self.all(&sql, [session.0.into()]).await?;
        rows.iter().map(message).collect()
    }
}

fn n_waiting(row: Option<Row>) -> Result<u64, StoreError> {
    row.map_or(Ok(0), |row| count(row.get("waiting")?))
}

/// Makes one change. `Err` names a message that should wait and does not.
async fn apply(
    tx: &mut Transaction,
    session: SessionId,
    id: MessageId,
    change: &QueueChange,
    at: Timestamp,
) -> Result<Result<(), MessageId>, StoreError> {
    let (column, value): (&str, Value) = match change {
        QueueChange::Edited { content } => ("content", content.as_str().into()),
        QueueChange::Redelivered { delivery } => ("delivery", delivery.name().into()),
        QueueChange::Reassigned { model } => ("model", model.clone().into()),
        QueueChange::Removed => ("removed_at_ms", millis(at)),
        QueueChange::Moved { before } => return move_before(tx, session, id, *before).await,
    };
    let sql = format!("UPDATE messages SET {column} = $1 WHERE id = $2");
    tx.execute(&sql, [value, id.0.into()]).await?;
    Ok(Ok(()))
}

/// Gives all that wait their places anew. There are few of them.
async fn move_before(
    tx: &mut Transaction,
    session: SessionId,
    id: MessageId,
    before: Option<MessageId>,
) -> Result<Result<(), MessageId>, StoreError> {
    let sql = format!("SELECT id FROM messages WHERE {WAITING} ORDER BY place, seq");
    let rows = tx.all(&sql, [session.0.into()]).await?;
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
    // New messages get their event's number for a place, which is larger than any of these.
    for (place, id) in (0_i64..).zip(order) {
        let sql = "UPDATE messages SET place = $1 WHERE id = $2";
        tx.execute(sql, [place.into(), id.0.into()]).await?;
    }
    Ok(Ok(()))
}
