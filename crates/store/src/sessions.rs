//! Creates, finds and names sessions.

use std::cmp::Reverse;

use deskhand_core::{
    budget::Budget,
    computer::{ComputerKind, DrivingTools},
    event::{EventBody, LoggedEvent, Status},
    id::{SessionId, TurnId, UserId},
    limits::Limits,
    model::Effort,
    network::policy::NetworkPolicy,
    policy::Policy,
    session::{Phase, SandboxState, Session, SessionPage},
    tool_server::spec::McpServerSpec,
    viewer::Viewer,
};
use jiff::Timestamp;

use crate::{
    approvals::policy,
    budgets::{budget, granted, nano, stored_tokens, usd},
    commit::HeldSession,
    database::{
        Row, Store, StoreError, Transaction, Value, count, from_json, json, millis, parsed,
        timestamp,
    },
    lease::lease,
    limits::{MadeLately, made_lately},
    messages::effort,
    network::network_policy,
    rights::right,
    standing::standing,
};

const COLUMNS: &str = "s.id, s.owner_id, s.title, s.model, s.effort, s.computer, s.tools, s.instructions, s.metadata, s.approvals, s.network, s.mcp_servers, s.phase, \
                       s.sandbox, s.last_seq, s.standing, s.created_at_ms, s.updated_at_ms, \
                       s.cost_nanousd, s.tokens, s.budget_nanousd, s.budget_tokens, \
                       s.granted_nanousd, s.granted_tokens, \
                       s.lease_user_id, s.lease_until_ms, \
                       (SELECT name FROM users WHERE id = s.lease_user_id) AS lease_name";

/// The right of Deskhand itself in every session, and of users in their own.
const OWNER: &str = "'owner' AS right_name";

/// A session to be created. It begins `initializing`, without a sandbox.
#[derive(Debug)]
pub struct NewSession<'a> {
    pub id: SessionId,
    pub owner: UserId,
    pub title: &'a str,
    pub model: &'a str,
    pub effort: Option<Effort>,
    pub computer: ComputerKind,
    pub tools: &'a DrivingTools,
    pub instructions: &'a str,
    pub metadata: &'a serde_json::Value,
    pub approvals: &'a Policy,
    pub network: &'a NetworkPolicy,
    pub mcp_servers: &'a [McpServerSpec],
    pub budget: Budget,
    /// False if it does not count for the daily limit of its owner.
    pub is_counted: bool,
    pub created_at: Timestamp,
}

/// A session that an earlier server left unfinished.
#[derive(Debug)]
pub struct Unsettled {
    pub session: Session,
    /// The turn that it was working on.
    pub turn: Option<TurnId>,
    /// True if prompts wait in it that nobody holds.
    pub is_awaited: bool,
}

impl Store {
    /// Creates a session with the first event of its log.
    pub async fn insert_session(
        &self,
        new: NewSession<'_>,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let tx = self.begin().await?;
        insert(tx, new).await
    }

    /// Creates a session unless its owner has reached the number that `limits` allow since `since`.
    pub async fn insert_session_within(
        &self,
        new: NewSession<'_>,
        limits: Limits,
        since: Timestamp,
    ) -> Result<Result<Vec<LoggedEvent>, MadeLately>, StoreError> {
        let mut tx = self.begin().await?;
        if tx.is_postgres() {
            // Of two concurrent requests, one waits here and then counts the other's session.
            let sql = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
            tx.one(sql, [new.owner.0.into()]).await?;
        }
        let made = made_lately(&mut tx, new.owner, limits, since).await?;
        if made.in_the_way.is_some() {
            return Ok(Err(made));
        }
        Ok(Ok(insert(tx, new).await?))
    }

    /// Returns a session, if this viewer may see it.
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

    /// Returns the sessions that this viewer may see, newest first, created before `before`.
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
        // Each half uses its own index and stops at the limit. The owner has no row among the rights, so there are no
        // duplicates. Only ids are merged; the columns of those on the page are read afterwards.
        let sql = format!(
            "SELECT {COLUMNS}, page.right_name FROM (\
             SELECT * FROM (SELECT s.id, {OWNER} FROM sessions s \
             WHERE {own} AND s.id < $2 ORDER BY s.id DESC LIMIT $3) AS own \
             UNION ALL \
             SELECT * FROM (SELECT r.session_id AS id, r.right_name FROM session_rights r \
             WHERE r.user_id = $1 AND r.session_id < $2 \
             ORDER BY r.session_id DESC LIMIT $3) AS shared \
             ORDER BY id DESC LIMIT $3) AS page \
             JOIN sessions s ON s.id = page.id"
        );
        let values = [
            owner(viewer),
            before.map_or(uuid::Uuid::max(), |id| id.0).into(),
            i64::from(limit.saturating_add(1)).into(),
        ];
        let rows = self.all(&sql, values).await?;
        let mut sessions = rows.iter().map(session).collect::<Result<Vec<_>, _>>()?;
        sessions.sort_by_key(|session| Reverse(session.id));
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = sessions.len() > wanted;
        sessions.truncate(wanted);
        let next = sessions.last().filter(|_| more).map(|last| last.id);
        Ok(SessionPage { sessions, next })
    }

    /// Names a session that has no name yet.
    pub async fn suggest_title(&self, id: SessionId, title: &str) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET title = $1 WHERE id = $2 AND title = ''";
        self.write(sql, [title.into(), id.0.into()]).await?;
        Ok(())
    }

    /// Returns every session whose state cannot be true without a running server, or in which prompts wait that
    /// nobody holds.
    pub async fn unsettled_sessions(&self) -> Result<Vec<Unsettled>, StoreError> {
        let waits = "EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id \
                     AND m.taken_at_ms IS NULL AND m.removed_at_ms IS NULL AND m.held_at_ms IS NULL \
                     AND m.role = 'user')";
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

    /// Returns those of these sessions that have ended or do not exist.
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

    /// Returns the turn that a session is working on.
    pub async fn open_turn(&self, id: SessionId) -> Result<Option<TurnId>, StoreError> {
        let sql = "SELECT turn_id FROM sessions WHERE id = $1";
        let Some(row) = self.one(sql, [id.0.into()]).await? else {
            return Ok(None);
        };
        let turn: Option<uuid::Uuid> = row.get("turn_id")?;
        Ok(turn.map(TurnId))
    }
}

/// Inserts a session with the first event of its log, and commits.
async fn insert(mut tx: Transaction, new: NewSession<'_>) -> Result<Vec<LoggedEvent>, StoreError> {
    let sql = "INSERT INTO sessions (id, owner_id, title, model, metadata, phase, sandbox, \
               last_seq, created_at_ms, updated_at_ms, approvals, budget_nanousd, budget_tokens, \
               instructions, network, instructions_by, computer, tools, mcp_servers, effort, is_counted) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8, $9, $10, $11, $12, $13, $2, $14, $15, $16, $17, $18)";
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
        json(new.approvals)?.into(),
        new.budget.usd.map(nano).into(),
        stored_tokens(new.budget.tokens),
        new.instructions.into(),
        json(new.network)?.into(),
        new.computer.name().into(),
        json(new.tools)?.into(),
        json(&new.mcp_servers)?.into(),
        new.effort.map(Effort::as_str).into(),
        new.is_counted.into(),
    ];
    tx.execute(sql, values).await?;
    let mut session = HeldSession::inserted(tx, new.id, new.owner, &first, new.created_at);
    session.tell(&EventBody::Status(first)).await?;
    Ok(session.commit(()).await?.events)
}

/// Returns the owner that rows must have for this viewer to see them. Null stands for any owner.
fn owner(viewer: Viewer) -> Value {
    viewer.user().map(|user| user.0).into()
}

fn session(row: &Row) -> Result<Session, StoreError> {
    Ok(Session {
        id: SessionId(row.get("id")?),
        owner: UserId(row.get("owner_id")?),
        right: right(row)?,
        title: row.get("title")?,
        model: row.get("model")?,
        effort: effort(row)?,
        computer: parsed(row.get("computer")?)?,
        tools: driving_tools(row)?,
        instructions: row.get("instructions")?,
        metadata: from_json(row.get("metadata")?)?,
        approvals: policy(row)?,
        network: network_policy(row)?,
        mcp_servers: from_json(row.get("mcp_servers")?)?,
        phase: parsed(row.get("phase")?)?,
        sandbox: parsed(row.get("sandbox")?)?,
        lease: lease(row)?,
        last_seq: count(row.get("last_seq")?)?,
        standing: standing(row)?,
        cost_usd: usd(row.get("cost_nanousd")?),
        tokens: count(row.get("tokens")?)?,
        budget: budget(row)?,
        granted: granted(row)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        updated_at: timestamp(row.get("updated_at_ms")?)?,
    })
}

/// Reads the choice of tools. Sessions of earlier versions have none: theirs is that of a desktop.
fn driving_tools(row: &Row) -> Result<DrivingTools, StoreError> {
    let stored: Option<String> = row.get("tools")?;
    stored.map_or_else(|| Ok(DrivingTools::default()), |tools| from_json(&tools))
}
