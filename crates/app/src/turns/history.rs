//! The log as a conversation: each prompt is at the place where it was taken, not where it was sent.

use std::collections::HashMap;

use deskhand_core::{
    event::{Event, EventBody, LoggedEvent, QueueChange, QueueChanged, Status},
    id::{MessageId, SessionId, TurnId},
    message::Role,
};
use deskhand_store::{Store, StoreError};

const PAGE: u32 = 1_000;

/// Reads a session's whole log, oldest first, with prompts moved to the beginning of their turns. Waiting prompts are
/// left out, so the newest message is the one being worked on.
pub(crate) async fn read(store: &Store, session: SessionId) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let page = store.events(session, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        let read = page
            .iter()
            .map(LoggedEvent::read)
            .collect::<Result<Vec<_>, _>>();
        events.extend(read.map_err(|error| StoreError::Unreadable(error.to_string()))?);
    }
    Ok(in_order_of_work(events))
}

/// Returns the message that a turn began with.
pub(crate) fn prompt_of(log: &[Event], turn: TurnId) -> Option<MessageId> {
    log.iter().find_map(|event| {
        let EventBody::Status(status) = &event.body else {
            return None;
        };
        status.prompt.filter(|_| status.turn == Some(turn))
    })
}

fn in_order_of_work(events: Vec<Event>) -> Vec<Event> {
    let mut waiting = HashMap::new();
    let mut ordered = Vec::with_capacity(events.len());
    for event in events {
        if let EventBody::Message(said) = &event.body
            && said.role == Role::User
        {
            waiting.insert(said.id, event);
            continue;
        }
        if let EventBody::Queue(changed) = &event.body {
            change(&mut waiting, changed);
        }
        let taken = if let EventBody::Status(Status {
            prompt: Some(prompt),
            ..
        }) = &event.body
        {
            waiting.remove(prompt)
        } else {
            None
        };
        ordered.push(event);
        ordered.extend(taken);
    }
    ordered
}

/// Applies a change to a waiting message. The order in which messages are taken is in the log.
fn change(waiting: &mut HashMap<MessageId, Event>, changed: &QueueChanged) {
    match &changed.change {
        QueueChange::Edited { content } => {
            if let Some(event) = waiting.get_mut(&changed.message)
                && let EventBody::Message(said) = &mut event.body
            {
                said.content.clone_from(content);
            }
        }
        QueueChange::Removed => {
            waiting.remove(&changed.message);
        }
        QueueChange::Redelivered { .. }
        | QueueChange::Reassigned { .. }
        | QueueChange::Reweighed { .. }
        | QueueChange::Held
        | QueueChange::Released
        | QueueChange::Moved { .. } => {}
    }
}
