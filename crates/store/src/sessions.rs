//! Sessions: making, finding and naming them.

use deskhand_core::{
    budget::Budget,
    event::{EventBody, LoggedEvent, ModelChanged, Status},
    id::{SessionId, TurnId, UserId},
    limits::Limits,
    policy::Policy,
    session::{Phase, SandboxState, Session, SessionPage},
    viewer::Viewer,
};
use jiff::Timestamp;

use crate::{
    approvals::{policy, written},
    budgets::{budget, granted, nano, stored_tokens, usd},
    database::{Row, Store, StoreError, Transaction, Value, count, millis, timestamp},
    events::insert_events,
    lease::lease,
    limits::{MadeLately, made_lately},
    people::name_of,
    rights::right,
    transitions::{advance, hold},
};

const COLUMNS: &str = "s.id, s.owner_id, s.title, s.model, s.instructions, s.metadata, s.approvals, s.phase, \
                       s.sandbox, s.last_seq, s.created_at_ms, s.updated_at_ms, \
                       s.cost_nanousd, s.tokens, s.budget_nanousd, s.budget_tokens, \
                       s.granted_nanousd, s.granted_tokens, \
                       s.lease_user_id, s.lease_until_ms, \
                       (SELECT name FROM users WHERE id = s.lease_user_id) AS lease_name";

/// The right of Deskhand itself in every session, and of each in their own.
const OWNER: &str = "'owner' AS right_name";

/// A session to be made. It begins `initializing`, without a sandbox.
#[derive(Debug)]
pub struct NewSession<'a> {
    pub id: SessionId,
    pub owner: UserId,
    pub title: &'a str,
    pub model: &'a str,
    pub instructions: &'a str,
    pub metadata: &'a serde_json::Value,
    pub approvals: &'a Policy,
    pub budget: Budget,
    pub created_at: Timestamp,
}

/// A session that an earlier server did not leave in order.
#[derive(Debug)]
pub struct Unsettled {
    pub session: Session,
    /// The turn it was at work on.
    pub turn: Option<TurnId>,
    /// Whether prompts wait in it.
    pub is_awaited: bool,
}

impl Store {
    /// Makes a session and the first event of its log.
    pub async fn insert_session(
        &self,
        new: NewSession<'_>,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let mut transaction = self.begin().await?;
        let events = insert(&mut transaction, new).await?;
        transaction.commit().await?;
        Ok(events)
    }

    /// The same, unless its owner has made as many since `since` as `limits` allow.
    pub async fn insert_session_within(
        &self,
        new: NewSession<'_>,
        limits: Limits,
        since: Timestamp,
    ) -> Result<Result<Vec<LoggedEvent>, MadeLately>, StoreError> {
        let mut transaction = self.begin().await?;
        if transaction.is_postgres() {
            // Held, so that of two who come at once one sees the other's.
            let sql = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
            transaction.one(sql, [new.owner.0.into()]).await?;
        }
        let made = made_lately(&mut transaction, new.owner, limits, since).await?;
        if made.in_the_way.is_some() {
            return Ok(Err(made));
        }
        let events = insert(&mut transaction, new).await?;
        transaction.commit().await?;
        Ok(Ok(events))
    }

    /// A session, if this viewer may see it.
    pub async fn session(
        &self,
        viewer: Viewer,
        id: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        let row = match viewer {
            Viewer::System => {
                let sql = format!("SELECT {COLUMNS}, {OWNER} FROM sessions s WHERE s.id = $1");
                self.one(&sql, [id.0.into()]).await?
            }
            Viewer::User(user) => {
                let sql = format!(
                    "SELECT {COLUMNS}, CASE WHEN s.owner_id = $2 THEN 'owner' ELSE r.right_name END \
                     AS right_name FROM sessions s \
                     LEFT JOIN session_rights r ON r.session_id = s.id AND r.user_id = $2 \
                     WHERE s.id = $1 AND (s.owner_id = $2 OR r.user_id = $2)"
                );
                self.one(&sql, [id.0.into(), user.0.into()]).await?
            }
        };
        row.map(|row| session(&row)).transpose()
    }

    /// The sessions this viewer may see, newest first, made before `before`.
    pub async fn sessions(
        &self,
        viewer: Viewer,
        before: Option<SessionId>,
        limit: u32,
    ) -> Result<SessionPage, StoreError> {
        let own = match viewer {
            Viewer::System => "TRUE",
            Viewer::User(_) => "s.owner_id = $1",
        };
        // Each half goes along its own index and stops in time. The owner has no row among the
        // rights, so nothing comes twice.
        let sql = format!(
            "SELECT * FROM (SELECT {COLUMNS}, {OWNER} FROM sessions s \
             WHERE {own} AND s.id < $2 ORDER BY s.id DESC LIMIT $3) AS own \
             UNION ALL \
             SELECT * FROM (SELECT {COLUMNS}, r.right_name FROM session_rights r \
             JOIN sessions s ON s.id = r.session_id \
             WHERE r.user_id = $1 AND r.session_id < $2 \
             ORDER BY r.session_id DESC LIMIT $3) AS shared \
             ORDER BY id DESC LIMIT $3"
        );
        let values = [
            owner(viewer),
            before.map_or(uuid::Uuid::max(), |id| id.0).into(),
            i64::from(limit.saturating_add(1)).into(),
        ];
        let rows = self.all(&sql, values).await?;
        let mut sessions = rows.iter().map(session).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = sessions.len() > wanted;
        sessions.truncate(wanted);
        let next = sessions.last().filter(|_| more).map(|last| last.id);
        Ok(SessionPage { sessions, next })
    }

    /// Names a session, if it is this viewer's.
    pub async fn set_title(
        &self,
        viewer: Viewer,
        id: SessionId,
        title: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE sessions SET title = $1 WHERE id = $2 AND ($3 IS NULL OR owner_id = $3)";
        Ok(self
            .write(sql, [title.into(), id.0.into(), owner(viewer)])
            .await?
            > 0)
    }

    /// Gives a session another model, from its next turn on. The log says so, unless it is the one it
    /// has. `None` when the session is over, or was never there.
    pub async fn set_model(
        &self,
        id: SessionId,
        model: &str,
        by: UserId,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut tx = self.begin().await?;
        let held = hold(&mut tx, id).await?;
        let Some(held) = held.filter(|held| held.phase != Phase::Terminated) else {
            return Ok(None);
        };
        let sql = "UPDATE sessions SET model = $1 WHERE id = $2 AND model <> $1";
        if tx.execute(sql, [model.into(), id.0.into()]).await? == 0 {
            return Ok(Some(Vec::new()));
        }
        let bodies = [EventBody::Model(ModelChanged {
            model: model.to_owned(),
            by,
            by_name: name_of(&mut tx, by).await?,
        })];
        let seq = advance(&mut tx, id, held.phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, id, seq, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(events))
    }

    /// Gives a session's agent other instructions, from its next turn on; tells whether there is
    /// such a session.
    pub async fn set_instructions(
        &self,
        id: SessionId,
        instructions: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE sessions SET instructions = $1 WHERE id = $2";
        Ok(self.write(sql, [instructions.into(), id.0.into()]).await? > 0)
    }

    /// Names a session that has no name yet.
    pub async fn suggest_title(&self, id: SessionId, title: &str) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET title = $1 WHERE id = $2 AND title = ''";
        self.write(sql, [title.into(), id.0.into()]).await?;
        Ok(())
    }

    /// Every session that says more of itself than is true when no server runs, or in which prompts
    /// wait.
    pub async fn unsettled_sessions(&self) -> Result<Vec<Unsettled>, StoreError> {
        let waits = "EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id \
                     AND m.taken_at_ms IS NULL AND m.removed_at_ms IS NULL AND m.role = 'user')";
        let sql = format!(
            "SELECT {COLUMNS}, {OWNER}, s.turn_id, {waits} AS is_awaited FROM sessions s \
             WHERE s.phase <> 'terminated' AND (s.turn_id IS NOT NULL \
             OR s.phase IN ('initializing', 'running', 'waiting') \
             OR s.sandbox IN ('starting', 'ready', 'paused') OR s.lease_user_id IS NOT NULL \
             OR {waits}) ORDER BY s.id"
        );
        let rows = self.all(&sql, []).await?;
        rows.iter()
            .map(|row| {
                let turn: Option<uuid::Uuid> = row.get("turn_id")?;
                Ok(Unsettled {
                    session: session(row)?,
                    turn: turn.map(TurnId),
                    is_awaited: row.get("is_awaited")?,
                })
            })
            .collect()
    }

    /// Which of these sessions are over, or never were.
    pub async fn ended_among(&self, ids: Vec<SessionId>) -> Result<Vec<SessionId>, StoreError> {
        let mut ended = Vec::new();
        for id in ids {
            let sql = "SELECT id FROM sessions WHERE id = $1 AND phase <> 'terminated'";
            if self.one(sql, [id.0.into()]).await?.is_none() {
                ended.push(id);
            }
        }
        Ok(ended)
    }

    /// The turn a session is at work on.
    pub async fn open_turn(&self, id: SessionId) -> Result<Option<TurnId>, StoreError> {
        let sql = "SELECT turn_id FROM sessions WHERE id = $1";
        let Some(row) = self.one(sql, [id.0.into()]).await? else {
            return Ok(None);
        };
        let turn: Option<uuid::Uuid> = row.get("turn_id")?;
        Ok(turn.map(TurnId))
    }
}

async fn insert(
    transaction: &mut Transaction,
    new: NewSession<'_>,
) -> Result<Vec<LoggedEvent>, StoreError> {
    let sql = "INSERT INTO sessions (id, owner_id, title, model, metadata, phase, sandbox, \
               last_seq, created_at_ms, updated_at_ms, approvals, budget_nanousd, budget_tokens, \
               instructions) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8, $9, $10, $11, $12)";
    let first = Status {
        state: Phase::Initializing,
        sandbox: SandboxState::None,
        reason: None,
        turn: None,
        prompt: None,
    };
    let values = [
        new.id.0.into(),
        new.owner.0.into(),
        new.title.into(),
        new.model.into(),
        new.metadata.to_string().into(),
        first.state.name().into(),
        first.sandbox.name().into(),
        millis(new.created_at),
        written(new.approvals)?.into(),
        new.budget.usd.map(nano).into(),
        stored_tokens(new.budget.tokens),
        new.instructions.into(),
    ];
    transaction.execute(sql, values).await?;
    let body = EventBody::Status(first);
    insert_events(transaction, new.id, 1, &[body], new.created_at).await
}

/// The owner that rows must have for this viewer to see them; null for all.
fn owner(viewer: Viewer) -> Value {
    viewer.user().map(|user| user.0).into()
}

fn session(row: &Row) -> Result<Session, StoreError> {
    let unreadable = |error: &dyn std::fmt::Display| StoreError::Unreadable(error.to_string());
    let metadata: &str = row.get("metadata")?;
    let phase: &str = row.get("phase")?;
    let sandbox: &str = row.get("sandbox")?;
    Ok(Session {
        id: SessionId(row.get("id")?),
        owner: UserId(row.get("owner_id")?),
        right: right(row)?,
        title: row.get("title")?,
        model: row.get("model")?,
        instructions: row.get("instructions")?,
        metadata: serde_json::from_str(metadata).map_err(|error| unreadable(&error))?,
        approvals: policy(row)?,
        phase: phase.parse::<Phase>().map_err(|error| unreadable(&error))?,
        sandbox: sandbox
            .parse::<SandboxState>()
            .map_err(|error| unreadable(&error))?,
        lease: lease(row)?,
        last_seq: count(row.get("last_seq")?)?,
        cost_usd: usd(row.get("cost_nanousd")?),
        tokens: count(row.get("tokens")?)?,
        budget: budget(row)?,
        granted: granted(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        updated_at: timestamp(row.get("updated_at_ms")?)?,
    })
}
