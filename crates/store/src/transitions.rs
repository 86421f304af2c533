//! Transitions of a session from one state to another.

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
/// The change adds a `status` event if the state or the sandbox's state changes, or if there is a reason. When a
/// session comes to rest, its open questions are withdrawn.
#[derive(Debug, Default)]
pub struct Transition {
    pub phase: PhaseMove,
    pub sandbox: Option<SandboxState>,
    /// The reason, for people.
    pub reason: Option<String>,
    /// The turn that this transition suspends or resumes.
    pub turn: Option<TurnId>,
    /// Further events, logged before the status.
    pub events: Vec<EventBody>,
    /// The agent's answer, logged before everything else.
    pub answer: Option<FinalAnswer>,
}

/// The effect of a transition on the phase.
#[derive(Debug, Default, Clone, Copy)]
pub enum PhaseMove {
    /// The phase stays.
    #[default]
    Keep,
    /// The whole transition is refused if the signal means nothing in the session's phase.
    Must(Signal),
    /// The phase stays if the signal means nothing. The rest of the transition is made.
    May(Signal),
}

/// The agent's answer at the end of a turn.
#[derive(Debug)]
pub struct FinalAnswer {
    pub id: MessageId,
    pub turn: TurnId,
    pub content: String,
}

/// The refusal if the transition means nothing in the session's state, or if the session has ended or does not exist.
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
        effort: None,
        turn: Some(answer.turn),
        attachments: Vec::new(),
        start_url: None,
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
        effort: None,
        attachments: &[],
        start_url: None,
        at: session.at,
    };
    insert_message(&mut session.tx, row).await
}
