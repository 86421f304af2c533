//! Decisions: raised with the event that asks, settled once with the event that tells.

use deskhand_core::{
    decision::{Ask, Decision, DecisionKind, DecisionState, GivenFile, Reply, Settlement},
    event::{DecisionRaised, DecisionSettled, EventBody, LoggedEvent, Status},
    id::{DecisionId, SessionId, TurnId, UserId},
    inbox::{DecisionPage, NamedDecision},
    session::{Phase, Signal},
};
use jiff::Timestamp;

use crate::{
    budgets::grant,
    database::{Row, Store, StoreError, Transaction, Value, millis, timestamp},
    events::insert_events,
    transitions::{advance, hold},
};

const COLUMNS: &str = "d.id, d.session_id, d.turn_id, d.ask, d.created_at_ms, d.state, d.answer, \
                       d.answered_by, d.settled_at_ms";

/// What came of settling a decision.
#[derive(Debug)]
pub enum Settle {
    Settled(Vec<LoggedEvent>),
    /// Somebody or something was quicker.
    Already,
    /// There is no such decision in this session.
    Unknown,
}

impl Store {
    /// What a session waits for, oldest first.
    pub async fn open_decisions(
        &self,
        session: SessionId,
    ) -> Result<Vec<(DecisionId, DecisionKind)>, StoreError> {
        let sql = "SELECT id, kind FROM decisions WHERE session_id = $1 AND state = 'open' \
                   ORDER BY id";
        let rows = self.all(sql, [session.0.into()]).await?;
        let open = rows.iter().map(|row| {
            let name: String = row.get("kind")?;
            let kind = DecisionKind::from_name(&name);
            let unknown = || StoreError::Unreadable(format!("{name:?} is no kind of decision"));
            Ok((DecisionId(row.get("id")?), kind.ok_or_else(unknown)?))
        });
        open.collect()
    }

    /// Asks, and lets the session wait. `None` when the session is not at work on this turn.
    pub async fn raise_decision(
        &self,
        session: SessionId,
        turn: TurnId,
        id: DecisionId,
        ask: &Ask,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(held) = hold(&mut tx, session).await? else {
            return Ok(None);
        };
        let sql = "SELECT 1 AS same FROM sessions WHERE id = $1 AND turn_id = $2";
        let same = tx.one(sql, [session.0.into(), turn.0.into()]).await?;
        let (Some(phase), Some(_)) = (held.phase.after(Signal::QuestionAsked), same) else {
            return Ok(None);
        };
        let sql = "INSERT INTO decisions (id, session_id, turn_id, kind, ask, expires_at_ms, \
                   created_at_ms, state) VALUES ($1, $2, $3, $4, $5, $6, $7, 'open')";
        let values = [
            id.0.into(),
            session.0.into(),
            turn.0.into(),
            ask.kind.name().into(),
            json(ask)?.into(),
            ask.expires_at.map(Timestamp::as_millisecond).into(),
            millis(at),
        ];
        tx.execute(sql, values).await?;
        let bodies = [
            EventBody::Decision(DecisionRaised {
                turn,
                decision: id,
                ask: ask.clone(),
            }),
            EventBody::Status(Status {
                state: phase,
                sandbox: held.sandbox,
                reason: None,
                turn: None,
                prompt: None,
            }),
        ];
        let first = advance(&mut tx, session, phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, session, first, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(events))
    }

    /// Settles a decision if it is open, and lets the session go on.
    pub async fn settle_decision(
        &self,
        session: SessionId,
        id: DecisionId,
        settlement: &Settlement,
        file: Option<&GivenFile>,
        at: Timestamp,
    ) -> Result<Settle, StoreError> {
        let mut tx = self.begin().await?;
        let Some(held) = hold(&mut tx, session).await? else {
            return Ok(Settle::Unknown);
        };
        let sql = "SELECT turn_id, state, ask FROM decisions WHERE id = $1 AND session_id = $2";
        let Some(row) = tx.one(sql, [id.0.into(), session.0.into()]).await? else {
            return Ok(Settle::Unknown);
        };
        if state(&row)? != DecisionState::Open {
            return Ok(Settle::Already);
        }
        let turn = TurnId(row.get("turn_id")?);
        let mut bodies = vec![settle(&mut tx, id, turn, settlement, at).await?];
        if settlement.reply() == Some(&Reply::Yes(true)) {
            let ask: String = row.get("ask")?;
            if let Some(over) = read::<Ask>(&ask)?.over {
                grant(&mut tx, session, &over, at).await?;
            }
        }
        if let Some(file) = file {
            let sql = "INSERT INTO decision_files (decision_id, name, bytes) VALUES ($1, $2, $3)";
            let values = [
                id.0.into(),
                file.name.as_str().into(),
                file.bytes.clone().into(),
            ];
            tx.execute(sql, values).await?;
        }
        let is_last = open_of(&mut tx, session).await?.is_empty();
        let phase = match held.phase.after(Signal::QuestionAnswered) {
            Some(phase) if is_last => phase,
            Some(_) | None => held.phase,
        };
        if phase != held.phase {
            bodies.push(EventBody::Status(Status {
                state: phase,
                sandbox: held.sandbox,
                reason: None,
                turn: None,
                prompt: None,
            }));
        }
        let first = advance(&mut tx, session, phase, held.sandbox, &bodies, at).await?;
        let events = insert_events(&mut tx, session, first, &bodies, at).await?;
        tx.commit().await?;
        Ok(Settle::Settled(events))
    }

    /// A session's decision.
    pub async fn decision(
        &self,
        session: SessionId,
        id: DecisionId,
    ) -> Result<Option<NamedDecision>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, s.title, u.name FROM decisions d \
             JOIN sessions s ON s.id = d.session_id LEFT JOIN users u ON u.id = d.answered_by \
             WHERE d.id = $1 AND d.session_id = $2"
        );
        let row = self.one(&sql, [id.0.into(), session.0.into()]).await?;
        row.map(|row| named(&row)).transpose()
    }

    /// A session's decisions, newest first, raised before `before`.
    pub async fn decisions(
        &self,
        session: SessionId,
        state: Option<DecisionState>,
        before: Option<DecisionId>,
        limit: u32,
    ) -> Result<DecisionPage, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, s.title, u.name FROM decisions d \
             JOIN sessions s ON s.id = d.session_id LEFT JOIN users u ON u.id = d.answered_by \
             WHERE d.session_id = $1 AND d.id < $2 AND ($3 IS NULL OR d.state = $3) \
             ORDER BY d.id DESC LIMIT $4"
        );
        self.decision_page(&sql, session.0.into(), state, before, limit)
            .await
    }

    /// The decisions that somebody may answer, or could have, newest first.
    pub async fn inbox(
        &self,
        user: UserId,
        state: Option<DecisionState>,
        before: Option<DecisionId>,
        limit: u32,
    ) -> Result<DecisionPage, StoreError> {
        // The rights are those of `DecisionKind::needed`.
        let sql = format!(
            "SELECT {COLUMNS}, s.title, u.name FROM decisions d \
             JOIN sessions s ON s.id = d.session_id LEFT JOIN users u ON u.id = d.answered_by \
             LEFT JOIN session_rights r ON r.session_id = s.id AND r.user_id = $1 \
             WHERE (s.owner_id = $1 OR r.right_name = 'drive' \
             OR (r.right_name = 'suggest' AND d.kind = 'question')) \
             AND d.id < $2 AND ($3 IS NULL OR d.state = $3) ORDER BY d.id DESC LIMIT $4"
        );
        self.decision_page(&sql, user.0.into(), state, before, limit)
            .await
    }

    /// Open decisions whose time is over, oldest first.
    pub async fn expired_decisions(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Decision>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM decisions d WHERE d.state = 'open' AND d.expires_at_ms <= $1 \
             ORDER BY d.expires_at_ms, d.id LIMIT $2"
        );
        let rows = self
            .all(&sql, [millis(now), i64::from(limit).into()])
            .await?;
        rows.iter().map(decision).collect()
    }

    /// When the next open decision expires.
    pub async fn next_expiry(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(expires_at_ms) AS next FROM decisions \
                   WHERE state = 'open' AND expires_at_ms IS NOT NULL";
        let next: Option<i64> = match self.one(sql, []).await? {
            Some(row) => row.get("next")?,
            None => None,
        };
        next.map(timestamp).transpose()
    }

    /// The file that answered a decision.
    pub async fn decision_file(&self, id: DecisionId) -> Result<Option<GivenFile>, StoreError> {
        let sql = "SELECT name, bytes FROM decision_files WHERE decision_id = $1";
        let Some(row) = self.one(sql, [id.0.into()]).await? else {
            return Ok(None);
        };
        Ok(Some(GivenFile {
            name: row.get("name")?,
            bytes: row.get("bytes")?,
        }))
    }

    async fn decision_page(
        &self,
        sql: &str,
        whose: Value,
        state: Option<DecisionState>,
        before: Option<DecisionId>,
        limit: u32,
    ) -> Result<DecisionPage, StoreError> {
        let values = [
            whose,
            before.map_or(uuid::Uuid::max(), |id| id.0).into(),
            state.map(DecisionState::name).into(),
            i64::from(limit.saturating_add(1)).into(),
        ];
        let rows = self.all(sql, values).await?;
        let mut decisions = rows.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = decisions.len() > wanted;
        decisions.truncate(wanted);
        let next = decisions
            .last()
            .filter(|_| more)
            .map(|last| last.decision.id);
        Ok(DecisionPage { decisions, next })
    }
}

/// Withdraws what a session still waits for when it comes to rest; answers the events that say so.
pub(crate) async fn withdraw_open(
    tx: &mut Transaction,
    session: SessionId,
    phase: Phase,
    at: Timestamp,
) -> Result<Vec<EventBody>, StoreError> {
    if matches!(phase, Phase::Running | Phase::Waiting) {
        return Ok(Vec::new());
    }
    let mut bodies = Vec::new();
    for (id, turn) in open_of(tx, session).await? {
        bodies.push(settle(tx, id, turn, &Settlement::Withdrawn, at).await?);
    }
    Ok(bodies)
}

/// What a session waits for.
async fn open_of(
    tx: &mut Transaction,
    session: SessionId,
) -> Result<Vec<(DecisionId, TurnId)>, StoreError> {
    let sql = "SELECT id, turn_id FROM decisions WHERE session_id = $1 AND state = 'open' \
               ORDER BY id";
    let rows = tx.all(sql, [session.0.into()]).await?;
    rows.iter()
        .map(|row| Ok((DecisionId(row.get("id")?), TurnId(row.get("turn_id")?))))
        .collect()
}

/// Writes how an open decision was settled; answers the event that says so.
async fn settle(
    tx: &mut Transaction,
    id: DecisionId,
    turn: TurnId,
    settlement: &Settlement,
    at: Timestamp,
) -> Result<EventBody, StoreError> {
    let sql = "UPDATE decisions SET state = $1, answer = $2, answered_by = $3, settled_at_ms = $4 \
               WHERE id = $5";
    let values = [
        settlement.state().name().into(),
        settlement.reply().map(json).transpose()?.into(),
        settlement.by().map(|user| user.0).into(),
        millis(at),
        id.0.into(),
    ];
    tx.execute(sql, values).await?;
    Ok(EventBody::Answer(DecisionSettled {
        turn,
        decision: id,
        state: settlement.state(),
        answer: settlement.reply().cloned(),
        by: settlement.by(),
    }))
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unreadable(error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable(error.to_string()))
}

fn state(row: &Row) -> Result<DecisionState, StoreError> {
    let name: String = row.get("state")?;
    DecisionState::from_name(&name)
        .ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a decision's state")))
}

fn decision(row: &Row) -> Result<Decision, StoreError> {
    let ask: String = row.get("ask")?;
    let answer: Option<String> = row.get("answer")?;
    let answered_by: Option<uuid::Uuid> = row.get("answered_by")?;
    let settled_at: Option<i64> = row.get("settled_at_ms")?;
    Ok(Decision {
        id: DecisionId(row.get("id")?),
        session: SessionId(row.get("session_id")?),
        turn: TurnId(row.get("turn_id")?),
        ask: read::<Ask>(&ask)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        state: state(row)?,
        answer: answer.as_deref().map(read::<Reply>).transpose()?,
        answered_by: answered_by.map(UserId),
        settled_at: settled_at.map(timestamp).transpose()?,
    })
}

fn named(row: &Row) -> Result<NamedDecision, StoreError> {
    Ok(NamedDecision {
        decision: decision(row)?,
        session_title: row.get("title")?,
        answered_by_name: row.get("name")?,
    })
}
