//! Moves of a session from one state to another, with the events that tell of them.

use deskhand_core::{
    event::{EventBody, LoggedEvent, MessageSaid, Status},
    id::{MessageId, SessionId, TurnId},
    message::{Delivery, Role},
    session::{Phase, SandboxState, Signal},
};
use jiff::Timestamp;

use crate::{
    database::{Store, StoreError, Transaction, millis},
    decisions::withdraw_open,
    events::{first_seq, insert_events, stored_len},
    lease::end_with_session,
    messages::{MessageRow, insert_message},
};

/// A move of a session. A `status` event is added when the state or the sandbox's state changes, or
/// a reason is given. A session that comes to rest waits for nobody any more: what it asked is
/// withdrawn.
#[derive(Debug, Default)]
pub struct Transition {
    pub phase: PhaseMove,
    pub sandbox: Option<SandboxState>,
    /// Why, for people.
    pub reason: Option<String>,
    /// The turn that is held up or goes on with this move.
    pub turn: Option<TurnId>,
    /// What else there is to tell, before the status.
    pub events: Vec<EventBody>,
    /// The agent's answer, told before everything else.
    pub answer: Option<Answer>,
}

/// What becomes of the phase.
#[derive(Debug, Default, Clone, Copy)]
pub enum PhaseMove {
    /// It stays.
    #[default]
    Keep,
    /// The whole move is refused when the signal means nothing in the phase the session is in.
    Must(Signal),
    /// The phase stays when the signal means nothing; the rest of the move is made.
    May(Signal),
}

/// The agent's answer at the end of a turn.
#[derive(Debug)]
pub struct Answer {
    pub id: MessageId,
    pub turn: TurnId,
    pub content: String,
}

/// What a session is, while a transaction holds it.
pub(crate) struct Held {
    pub(crate) phase: Phase,
    pub(crate) sandbox: SandboxState,
}

impl Store {
    /// Makes a move. `None` when it was refused, or there is no such session. One that is over does
    /// not move any more.
    pub async fn transition(
        &self,
        session: SessionId,
        transition: Transition,
        at: Timestamp,
    ) -> Result<Option<Vec<LoggedEvent>>, StoreError> {
        let mut tx = self.begin().await?;
        let held = hold(&mut tx, session).await?;
        let Some(held) = held.filter(|held| held.phase != Phase::Terminated) else {
            return Ok(None);
        };
        let phase = match transition.phase {
            PhaseMove::Keep => held.phase,
            PhaseMove::May(signal) => held.phase.after(signal).unwrap_or(held.phase),
            PhaseMove::Must(signal) => match held.phase.after(signal) {
                Some(phase) => phase,
                None => return Ok(None),
            },
        };
        let sandbox = transition.sandbox.unwrap_or(held.sandbox);

        let mut bodies = Vec::new();
        if let Some(answer) = &transition.answer {
            bodies.push(EventBody::Message(MessageSaid {
                id: answer.id,
                role: Role::Assistant,
                content: answer.content.clone(),
                author: None,
                author_name: None,
                delivery: Delivery::default(),
                model: None,
                turn: Some(answer.turn),
            }));
        }
        bodies.extend(withdraw_open(&mut tx, session, phase, at).await?);
        bodies.extend(transition.events);
        if phase == Phase::Terminated {
            bodies.extend(end_with_session(&mut tx, session).await?);
        }
        let Transition { reason, turn, .. } = transition;
        if phase != held.phase || sandbox != held.sandbox || reason.is_some() {
            bodies.push(EventBody::Status(Status {
                state: phase,
                sandbox,
                reason,
                turn,
                prompt: None,
            }));
        }
        let first = advance(&mut tx, session, phase, sandbox, &bodies, at).await?;
        if let Some(answer) = transition.answer {
            let row = MessageRow {
                id: answer.id,
                session,
                seq: first,
                role: Role::Assistant,
                content: &answer.content,
                author: None,
                delivery: Delivery::default(),
                model: None,
                at,
            };
            insert_message(&mut tx, row).await?;
        }
        let events = insert_events(&mut tx, session, first, &bodies, at).await?;
        tx.commit().await?;
        Ok(Some(events))
    }
}

/// Reads the state a session is in, inside the transaction that will change it.
pub(crate) async fn hold(
    tx: &mut Transaction,
    session: SessionId,
) -> Result<Option<Held>, StoreError> {
    // Nobody else may change it before this is over. SQLite has one writer at a time anyway.
    let sql = if tx.is_postgres() {
        "SELECT phase, sandbox FROM sessions WHERE id = $1 FOR UPDATE"
    } else {
        "SELECT phase, sandbox FROM sessions WHERE id = $1"
    };
    let Some(row) = tx.one(sql, [session.0.into()]).await? else {
        return Ok(None);
    };
    let phase: String = row.get("phase")?;
    let sandbox: String = row.get("sandbox")?;
    let unreadable =
        |error: deskhand_core::session::UnknownState| StoreError::Unreadable(error.to_string());
    Ok(Some(Held {
        phase: phase.parse().map_err(unreadable)?,
        sandbox: sandbox.parse().map_err(unreadable)?,
    }))
}

/// Writes the new state and takes numbers for the events; answers the first number.
///
/// A session that is not at work has no turn.
pub(crate) async fn advance(
    tx: &mut Transaction,
    session: SessionId,
    phase: Phase,
    sandbox: SandboxState,
    bodies: &[EventBody],
    at: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "UPDATE sessions SET phase = $1, sandbox = $2, last_seq = last_seq + $3, \
               updated_at_ms = $4 WHERE id = $5 RETURNING last_seq";
    let values = [
        phase.name().into(),
        sandbox.name().into(),
        stored_len(bodies),
        millis(at),
        session.0.into(),
    ];
    let row = tx
        .one(sql, values)
        .await?
        .ok_or_else(|| StoreError::Unreadable(format!("session {session} went away")))?;
    if !matches!(phase, Phase::Running | Phase::Waiting) {
        tx.execute(
            "UPDATE sessions SET turn_id = NULL WHERE id = $1",
            [session.0.into()],
        )
        .await?;
    }
    first_seq(&row, bodies.len())
}
