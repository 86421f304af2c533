//! Moves of a session from one state to another.

use deskhand_core::{
    event::{EventBody, MessageSaid},
    id::{MessageId, TurnId},
    message::{Delivery, Role},
    session::{Phase, SandboxState, Signal},
};

use crate::{
    commit::{Change, HeldSession},
    database::StoreError,
    decisions::withdraw_open,
    lease::end_with_session,
    messages::{MessageRow, insert_message},
};

/// Moves a session to another state.
///
/// A `status` event is added when the state or the sandbox's state changes, or a reason is given. A session that
/// comes to rest waits for nobody: its open questions are withdrawn.
#[derive(Debug, Default)]
pub struct Transition {
    pub phase: PhaseMove,
    pub sandbox: Option<SandboxState>,
    /// Why, for people.
    pub reason: Option<String>,
    /// The turn that is held up or resumes with this move.
    pub turn: Option<TurnId>,
    /// Further events, told before the status.
    pub events: Vec<EventBody>,
    /// The agent's answer, told before everything else.
    pub answer: Option<FinalAnswer>,
}

/// The effect of a move on the phase.
#[derive(Debug, Default, Clone, Copy)]
pub enum PhaseMove {
    /// The phase stays.
    #[default]
    Keep,
    /// The whole move is refused when the signal means nothing in the phase the session is in.
    Must(Signal),
    /// The phase stays when the signal means nothing; the rest of the move is made.
    May(Signal),
}

/// The agent's answer at the end of a turn.
#[derive(Debug)]
pub struct FinalAnswer {
    pub id: MessageId,
    pub turn: TurnId,
    pub content: String,
}

/// The move means nothing in the state that the session is in, or the session is over or does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CannotMove;

impl Change for Transition {
    type Output = ();
    type Refusal = CannotMove;

    fn no_session(&self) -> CannotMove {
        CannotMove
    }

    async fn apply(self, session: &mut HeldSession) -> Result<Result<(), CannotMove>, StoreError> {
        if session.is_terminated() {
            return Ok(Err(CannotMove));
        }
        let before = (session.phase, session.sandbox);
        session.phase = match self.phase {
            PhaseMove::Keep => session.phase,
            PhaseMove::May(signal) => session.phase.after(signal).unwrap_or(session.phase),
            PhaseMove::Must(signal) => match session.phase.after(signal) {
                Some(phase) => phase,
                None => return Ok(Err(CannotMove)),
            },
        };
        session.sandbox = self.sandbox.unwrap_or(session.sandbox);

        if let Some(answer) = self.answer {
            say(session, answer).await?;
        }
        if !matches!(session.phase, Phase::Running | Phase::Waiting) {
            withdraw_open(session).await?;
        }
        for event in &self.events {
            session.tell(event).await?;
        }
        if session.is_terminated() {
            end_with_session(session).await?;
        }
        if before != (session.phase, session.sandbox) || self.reason.is_some() {
            session.tell_status(self.reason, self.turn, None).await?;
        }
        Ok(Ok(()))
    }
}

/// Adds the agent's answer to the conversation.
async fn say(session: &mut HeldSession, answer: FinalAnswer) -> Result<(), StoreError> {
    let said = EventBody::Message(MessageSaid {
        id: answer.id,
        role: Role::Assistant,
        content: answer.content.clone(),
        author: None,
        author_name: None,
        delivery: Delivery::default(),
        model: None,
        turn: Some(answer.turn),
    });
    let row = MessageRow {
        id: answer.id,
        session: session.id,
        seq: session.tell(&said).await?,
        role: Role::Assistant,
        content: &answer.content,
        author: None,
        delivery: Delivery::default(),
        model: None,
        at: session.at,
    };
    insert_message(&mut session.tx, row).await
}
