//! The one way to change a session: hold its row, apply the change, number and log the events, commit.
//!
//! A change and its events share one transaction. Only the holder of a session's row assigns numbers, so numbers have
//! no gaps and follow the order of commits.

use std::future::Future;

use deskhand_core::{
    budget::Amount,
    clock::Clock,
    event::{EVENT_VERSION, EventBody, LoggedEvent, Status},
    id::{MessageId, SessionId, TurnId, UserId},
    session::{Phase, SandboxState},
};
use jiff::Timestamp;
use serde_json::Map;
use uuid::Uuid;

use crate::{
    budgets::nano,
    database::{
        Row, Store, StoreError, Transaction, Value, count, from_json, millis, parsed, stored_count,
    },
    events::insert_blob,
    servers::{ServerId, expiry},
    standing::write_standing,
};

/// The columns that every change reads.
const COLUMNS: &str = "phase, sandbox, turn_id, last_seq, owner_id, server_id, \
                       COALESCE(server_epoch, 0) AS server_epoch";

/// A change to one session.
pub trait Change: Send {
    /// The result of a change that was committed.
    type Output: Send;
    /// The reason for leaving the session as it is.
    type Refusal: Send;

    /// Returns the way in which the row is taken.
    fn hold(&self) -> Hold {
        Hold::Read
    }

    /// Returns the refusal for a session that does not exist.
    fn no_session(&self) -> Self::Refusal;

    /// Checks and changes the session, and returns the result. After a refusal nothing of it is stored.
    fn apply(
        self,
        session: &mut HeldSession,
    ) -> impl Future<Output = Result<Result<Self::Output, Self::Refusal>, StoreError>> + Send;
}

/// The statement that takes a session's row.
#[derive(Debug, Clone, Copy)]
pub enum Hold {
    /// Reads and locks the row. It is written once more at the end.
    Read,
    /// Assigns the numbers of the events and counts their cost while it takes the row. This saves a statement if all
    /// of that is known before the row is read, as it is for each piece of an answer.
    Count { n_events: usize, used: Amount },
}

/// A session while a transaction holds its row: no one else can change it before the end.
///
/// Its fields are the state it will have after the commit.
#[derive(Debug)]
pub struct HeldSession {
    pub(crate) tx: Transaction,
    pub(crate) id: SessionId,
    pub(crate) owner: UserId,
    /// The time of the change, read after the row was taken: times follow the order of the log.
    pub(crate) at: Timestamp,
    pub(crate) phase: Phase,
    pub(crate) sandbox: SandboxState,
    pub(crate) turn: Option<TurnId>,
    /// The server that makes the change.
    own_server: Option<ServerId>,
    server_epoch: u64,
    last_seq: u64,
    stored: Stored,
    /// The last number before the change.
    seq_before: u64,
    events: Vec<LoggedEvent>,
    changes_summary: bool,
    /// The events of this change that stand until the next one of their kind.
    standing: Map<String, serde_json::Value>,
}

/// The columns of the row as the database has them.
#[derive(Debug, PartialEq, Eq)]
struct Stored {
    phase: Phase,
    sandbox: SandboxState,
    turn: Option<TurnId>,
    last_seq: u64,
    server: Option<ServerId>,
}

/// A change that is stored.
#[derive(Debug)]
pub struct Committed<T> {
    pub output: T,
    /// The events of the change, in order.
    pub events: Vec<LoggedEvent>,
    /// True if lists of sessions show the session differently now.
    pub changes_summary: bool,
}

/// A change that was not made.
#[derive(Debug)]
pub struct Refused<R> {
    pub refusal: R,
    /// The number of the session's newest event.
    pub last_seq: u64,
}

impl Store {
    /// Makes a change to a session, with its events and in one transaction.
    pub async fn commit<C: Change>(
        &self,
        session: SessionId,
        change: C,
        clock: &dyn Clock,
    ) -> Result<Result<Committed<C::Output>, Refused<C::Refusal>>, StoreError> {
        let mut tx = self.begin().await?;
        let how = change.hold();
        let Some(row) = hold(&mut tx, session, how, clock.now()).await? else {
            let refusal = change.no_session();
            return Ok(Err(Refused {
                refusal,
                last_seq: 0,
            }));
        };
        let mut held = HeldSession::new(tx, session, &row, self.server(), clock.now())?;
        if let Hold::Count { n_events, .. } = how {
            held.count_again_from(n_events);
        }
        match change.apply(&mut held).await? {
            Ok(output) => Ok(Ok(held.commit(output).await?)),
            Err(refusal) => Ok(Err(Refused {
                refusal,
                last_seq: held.seq_before,
            })),
        }
    }
}

/// Reads a session's row and locks it until the end of the transaction.
pub(crate) async fn lock_row(
    tx: &mut Transaction,
    session: SessionId,
) -> Result<Option<Row>, StoreError> {
    // SQLite has one writer at a time anyway.
    let lock = if tx.is_postgres() { "FOR UPDATE" } else { "" };
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = $1 {lock}");
    tx.one(&sql, [session.0.into()]).await
}

/// Takes the session's row.
async fn hold(
    tx: &mut Transaction,
    session: SessionId,
    hold: Hold,
    now: Timestamp,
) -> Result<Option<Row>, StoreError> {
    match hold {
        Hold::Read => lock_row(tx, session).await,
        Hold::Count { n_events, used } => {
            let sql = format!(
                "UPDATE sessions SET last_seq = last_seq + $1, updated_at_ms = $2, \
                 cost_nanousd = cost_nanousd + $3, tokens = tokens + $4 WHERE id = $5 \
                 RETURNING {COLUMNS}"
            );
            let values = [
                stored_count(u64::try_from(n_events).unwrap_or(u64::MAX)),
                millis(now),
                nano(used.usd).into(),
                stored_count(used.tokens),
                session.0.into(),
            ];
            tx.one(&sql, values).await
        }
    }
}

impl HeldSession {
    fn new(
        tx: Transaction,
        id: SessionId,
        row: &Row,
        own_server: Option<ServerId>,
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        let turn: Option<Uuid> = row.get("turn_id")?;
        let server: Option<Uuid> = row.get("server_id")?;
        let stored = Stored {
            phase: parsed(row.get("phase")?)?,
            sandbox: parsed(row.get("sandbox")?)?,
            turn: turn.map(TurnId),
            last_seq: count(row.get("last_seq")?)?,
            server: server.map(ServerId),
        };
        Ok(Self {
            tx,
            id,
            owner: UserId(row.get("owner_id")?),
            at,
            phase: stored.phase,
            sandbox: stored.sandbox,
            turn: stored.turn,
            own_server,
            server_epoch: count(row.get("server_epoch")?)?,
            last_seq: stored.last_seq,
            seq_before: stored.last_seq,
            stored,
            events: Vec::new(),
            changes_summary: false,
            standing: Map::new(),
        })
    }

    /// Holds a session whose row was inserted in this transaction, with the number 1 given to its first event.
    pub(crate) fn inserted(
        tx: Transaction,
        id: SessionId,
        owner: UserId,
        first: &Status,
        at: Timestamp,
    ) -> Self {
        let stored = Stored {
            phase: first.state,
            sandbox: first.sandbox,
            turn: None,
            last_seq: 1,
            server: None,
        };
        let mut held = Self {
            tx,
            id,
            owner,
            at,
            phase: stored.phase,
            sandbox: stored.sandbox,
            turn: None,
            own_server: None,
            server_epoch: 0,
            last_seq: stored.last_seq,
            seq_before: stored.last_seq,
            stored,
            events: Vec::new(),
            changes_summary: false,
            standing: Map::new(),
        };
        held.count_again_from(1);
        held
    }

    /// Gives the numbers that were taken together with the row.
    fn count_again_from(&mut self, n_taken: usize) {
        let n_taken = u64::try_from(n_taken).unwrap_or(u64::MAX);
        self.last_seq = self.last_seq.saturating_sub(n_taken);
        self.seq_before = self.last_seq;
    }

    /// Logs an event and returns its number.
    pub(crate) async fn tell(&mut self, body: &EventBody) -> Result<u64, StoreError> {
        let seq = self.last_seq + 1;
        let data = body.data().map_err(StoreError::Encode)?;
        let sql = "INSERT INTO events (session_id, seq, version, kind, at_ms, data) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            self.id.0.into(),
            stored_count(seq),
            i32::from(EVENT_VERSION).into(),
            body.kind().into(),
            millis(self.at),
            data.clone().into(),
        ];
        self.tx.execute(sql, values).await?;
        for blob in body.blobs() {
            insert_blob(&mut self.tx, self.id, blob).await?;
        }
        if EventBody::STANDING.contains(&body.kind()) {
            self.standing
                .insert(body.kind().to_owned(), from_json(&data)?);
        }
        self.events.push(LoggedEvent {
            seq,
            at: self.at,
            kind: body.kind().to_owned(),
            data,
        });
        self.last_seq = seq;
        self.changes_summary |= body.changes_summary();
        Ok(seq)
    }

    /// Logs the state that the session has after the change.
    pub(crate) async fn tell_status(
        &mut self,
        reason: Option<String>,
        turn: Option<TurnId>,
        prompt: Option<MessageId>,
    ) -> Result<(), StoreError> {
        let status = EventBody::Status(Status {
            state: self.phase,
            sandbox: self.sandbox,
            reason,
            turn,
            prompt,
        });
        self.tell(&status).await?;
        Ok(())
    }

    /// Returns true if the session has ended.
    pub(crate) fn is_terminated(&self) -> bool {
        self.phase == Phase::Terminated
    }

    /// Returns the number of the newest event, including those of this change.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Writes the row, unless it is up to date, and commits.
    pub(crate) async fn commit<T>(mut self, output: T) -> Result<Committed<T>, StoreError> {
        let after = self.after();
        if after.server != self.stored.server {
            self.write_with_server(&after).await?;
        } else if after != self.stored {
            self.write(&after).await?;
        }
        if !self.standing.is_empty() {
            write_standing(&mut self.tx, self.id, self.standing).await?;
        }
        self.tx.commit().await?;
        Ok(Committed {
            output,
            events: self.events,
            changes_summary: self.changes_summary,
        })
    }

    /// Returns the values of the row after the change.
    fn after(&self) -> Stored {
        let is_at_work = matches!(self.phase, Phase::Running | Phase::Waiting);
        let has_sandbox = matches!(
            self.sandbox,
            SandboxState::Starting | SandboxState::Ready | SandboxState::Paused
        );
        Stored {
            phase: self.phase,
            sandbox: self.sandbox,
            // A session that is not at work has no turn.
            turn: self.turn.filter(|_| is_at_work),
            last_seq: self.last_seq,
            // A session that a server keeps busy belongs to that server.
            server: self.own_server.filter(|_| is_at_work || has_sandbox),
        }
    }

    async fn write(&mut self, after: &Stored) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET phase = $1, sandbox = $2, turn_id = $3, last_seq = $4, \
                   updated_at_ms = $5 WHERE id = $6";
        let values = self.columns(after);
        self.tx.execute(sql, values).await?;
        Ok(())
    }

    /// Writes the row of a session that gets another server or none.
    async fn write_with_server(&mut self, after: &Stored) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET phase = $1, sandbox = $2, turn_id = $3, last_seq = $4, \
                   updated_at_ms = $5, server_id = $7, server_epoch = $8, server_expires_at_ms = $9 \
                   WHERE id = $6";
        let is_taken = after.server.is_some();
        let expires_at = after.server.map(|_| expiry(self.at).as_millisecond());
        let mut values = self.columns(after).to_vec();
        values.extend([
            after.server.map(|server| server.0).into(),
            stored_count(self.server_epoch + u64::from(is_taken)),
            expires_at.into(),
        ]);
        self.tx.execute(sql, values).await?;
        Ok(())
    }

    fn columns(&self, after: &Stored) -> [Value; 6] {
        [
            after.phase.name().into(),
            after.sandbox.name().into(),
            after.turn.map(|turn| turn.0).into(),
            stored_count(after.last_seq),
            millis(self.at),
            self.id.0.into(),
        ]
    }
}
