//! Decisions: questions to people, raised and settled once, each together with its event.

use deskhand_core::{
    audit::{AuditAction, Requester},
    budget::Over,
    decision::{Ask, Decision, DecisionKind, DecisionState, GivenFile, Reply, Settlement},
    event::{DecisionRaised, DecisionSettled, EventBody},
    id::{DecisionId, SessionId, TurnId, UserId},
    inbox::{DecisionPage, NamedDecision},
    session::Signal,
};
use jiff::Timestamp;

use crate::{
    approvals::add_answered_rule,
    audit::NewEntry,
    budgets::grant,
    commit::{Change, HeldSession},
    database::{Row, Store, StoreError, Value, from_json, json, millis, timestamp},
    decision_files::keep_file,
    network::allow_answered,
};

const COLUMNS: &str = "d.id, d.session_id, d.turn_id, d.ask, d.created_at_ms, d.state, d.answer, \
                       d.answered_by, d.settled_at_ms";

/// Asks people, and puts the session into the waiting state.
#[derive(Debug)]
pub struct RaiseDecision<'a> {
    pub turn: TurnId,
    pub id: DecisionId,
    pub ask: &'a Ask,
}

/// The refusal if the session does not work on this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAtWork;

/// Settles an open decision, and resumes the session after the last one.
#[derive(Debug)]
pub struct SettleDecision<'a> {
    pub id: DecisionId,
    pub settlement: &'a Settlement,
    /// The file, if the answer is one.
    pub file: Option<&'a GivenFile>,
}

/// The reason why a decision is not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleRefused {
    /// It is settled already.
    Already,
    /// There is no such decision in this session.
    Unknown,
    /// The answer adds a rule to a policy that is full.
    TooManyRules,
}

impl Change for RaiseDecision<'_> {
    type Output = ();
    type Refusal = NotAtWork;

    fn no_session(&self) -> NotAtWork {
        NotAtWork
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), NotAtWork>, StoreError> {
        let stops_turn = self.ask.stops_turn();
        let phase = if stops_turn {
            session.phase.after(Signal::QuestionAsked)
        } else {
            Some(session.phase)
        };
        let Some(phase) = phase.filter(|_| session.turn == Some(self.turn)) else {
            return Ok(Err(NotAtWork));
        };
        let sql = "INSERT INTO decisions (id, session_id, turn_id, kind, ask, expires_at_ms, \
                   created_at_ms, state) VALUES ($1, $2, $3, $4, $5, $6, $7, 'open')";
        let values = [
            self.id.0.into(),
            session.id.0.into(),
            self.turn.0.into(),
            self.ask.kind.name().into(),
            json(self.ask)?.into(),
            self.ask.expires_at.map(Timestamp::as_millisecond).into(),
            millis(session.at),
        ];
        session.tx.execute(sql, values).await?;
        session.phase = phase;
        let raised = EventBody::Decision(DecisionRaised {
            turn: self.turn,
            decision: self.id,
            ask: self.ask.clone(),
        });
        session.tell(&raised).await?;
        if stops_turn {
            session.tell_status(None, None, None).await?;
        }
        Ok(Ok(()))
    }
}

impl Change for SettleDecision<'_> {
    type Output = ();
    type Refusal = SettleRefused;

    fn no_session(&self) -> SettleRefused {
        SettleRefused::Unknown
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<(), SettleRefused>, StoreError> {
        let sql = "SELECT turn_id, state, ask FROM decisions WHERE id = $1 AND session_id = $2";
        let values = [self.id.0.into(), session.id.0.into()];
        let Some(row) = session.tx.one(sql, values).await? else {
            return Ok(Err(SettleRefused::Unknown));
        };
        if state(&row)? != DecisionState::Open {
            return Ok(Err(SettleRefused::Already));
        }
        let turn = TurnId(row.get("turn_id")?);
        let ask: Ask = from_json(row.get("ask")?)?;
        if !add_answered_rule(session, &ask, self.settlement).await? {
            return Ok(Err(SettleRefused::TooManyRules));
        }
        settle(session, self.id, turn, self.settlement).await?;
        if ask.kind == DecisionKind::Network {
            allow_answered(session, &ask, self.settlement).await?;
        }
        if self.settlement.reply().is_some_and(Reply::is_yes)
            && let Some(over) = ask.over
        {
            grant(session, &over).await?;
            audit_raise(session, &over, self.settlement.by()).await?;
        }
        if let Some(file) = self.file {
            keep_file(session, self.id, file).await?;
        }
        let mut open = open_of(session).await?.into_iter();
        let is_last = !open.any(|(_, _, ask)| ask.stops_turn());
        if let Some(phase) = session.phase.after(Signal::QuestionAnswered)
            && is_last
        {
            session.phase = phase;
            session.tell_status(None, None, None).await?;
        }
        Ok(Ok(()))
    }
}

impl Store {
    /// Returns the open decisions of a session, oldest first.
    pub async fn open_decisions(
        &self,
        session: SessionId,
    ) -> Result<Vec<(DecisionId, DecisionKind)>, StoreError> {
        let sql = "SELECT id, kind FROM decisions WHERE session_id = $1 AND state = 'open' \
                   ORDER BY id";
        let rows = self.all(sql, [session.0.into()]).await?;
        let open = rows
            .iter()
            .map(|row| Ok((DecisionId(row.get("id")?), kind(row)?)));
        open.collect()
    }

    /// Returns a decision of a session.
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

    /// Returns a session's decisions, newest first, raised before `before`.
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

    /// Returns the decisions that a user may answer, or could have, newest first.
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
             WHERE (s.owner_id = $1 \
             OR (r.right_name = 'drive' AND d.kind <> 'owner_approval') \
             OR (r.right_name = 'suggest' AND d.kind = 'question')) \
             AND d.id < $2 AND ($3 IS NULL OR d.state = $3) ORDER BY d.id DESC LIMIT $4"
        );
        self.decision_page(&sql, user.0.into(), state, before, limit)
            .await
    }

    /// Returns open decisions that have expired, oldest first.
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

    /// Returns the time at which the next open decision expires.
    pub async fn next_expiry(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(expires_at_ms) AS next FROM decisions \
                   WHERE state = 'open' AND expires_at_ms IS NOT NULL";
        let next: Option<i64> = match self.one(sql, []).await? {
            Some(row) => row.get("next")?,
            None => None,
        };
        next.map(timestamp).transpose()
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

/// Withdraws the open decisions of a session that comes to rest.
pub(crate) async fn withdraw_open(session: &mut HeldSession) -> Result<(), StoreError> {
    for (id, turn, _) in open_of(session).await? {
        settle(session, id, turn, &Settlement::Withdrawn).await?;
    }
    Ok(())
}

/// Returns the open decisions of a session.
async fn open_of(session: &mut HeldSession) -> Result<Vec<(DecisionId, TurnId, Ask)>, StoreError> {
    let sql = "SELECT id, turn_id, ask FROM decisions WHERE session_id = $1 AND state = 'open' \
               ORDER BY id";
    let rows = session.tx.all(sql, [session.id.0.into()]).await?;
    rows.iter()
        .map(|row| {
            let (id, turn) = (DecisionId(row.get("id")?), TurnId(row.get("turn_id")?));
            Ok((id, turn, from_json(row.get("ask")?)?))
        })
        .collect()
}

/// Stores and logs the settlement of an open decision.
async fn settle(
    session: &mut HeldSession,
    id: DecisionId,
    turn: TurnId,
    settlement: &Settlement,
) -> Result<(), StoreError> {
    let sql = "UPDATE decisions SET state = $1, answer = $2, answered_by = $3, settled_at_ms = $4 \
               WHERE id = $5";
    let values = [
        settlement.state().name().into(),
        settlement.reply().map(json).transpose()?.into(),
        settlement.by().map(|user| user.0).into(),
        millis(session.at),
        id.0.into(),
    ];
    session.tx.execute(sql, values).await?;
    let settled = EventBody::Answer(DecisionSettled {
        turn,
        decision: id,
        state: settlement.state(),
        answer: settlement.reply().cloned(),
        by: settlement.by(),
    });
    session.tell(&settled).await?;
    Ok(())
}

/// Records that a person raised the daily budget of the session's owner.
async fn audit_raise(
    session: &mut HeldSession,
    over: &Over,
    by: Option<UserId>,
) -> Result<(), StoreError> {
    if !over.bound.is_of_owner() {
        return Ok(());
    }
    let stamp = by.map_or(Requester::SERVER, Requester::from).at(session.at);
    let raised = NewEntry::new(AuditAction::LimitRaised).about(session.owner);
    let raised = raised.within(session.id).with("more", over.more);
    raised.append(&mut session.tx, stamp).await
}

fn kind(row: &Row) -> Result<DecisionKind, StoreError> {
    let name: String = row.get("kind")?;
    DecisionKind::from_name(&name)
        .ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a kind of decision")))
}

fn state(row: &Row) -> Result<DecisionState, StoreError> {
    let name: String = row.get("state")?;
    DecisionState::from_name(&name)
        .ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a decision's state")))
}

fn decision(row: &Row) -> Result<Decision, StoreError> {
    let answer: Option<String> = row.get("answer")?;
    let answered_by: Option<uuid::Uuid> = row.get("answered_by")?;
    let settled_at: Option<i64> = row.get("settled_at_ms")?;
    Ok(Decision {
        id: DecisionId(row.get("id")?),
        session: SessionId(row.get("session_id")?),
        turn: TurnId(row.get("turn_id")?),
        ask: from_json(row.get("ask")?)?,
        created_at: timestamp(row.get("created_at_ms")?)?,
        state: state(row)?,
        answer: answer.as_deref().map(from_json).transpose()?,
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
