//! The queue of messages to the agent: sending them, and changing them while they wait.

mod errors;

use std::{collections::HashSet, sync::Arc};

use deskhand_core::{
    attachment::MOST_ATTACHMENTS,
    browser::WebUrl,
    event::QueueChange,
    id::{AttachmentId, MessageId, SessionId, UserId},
    message::{Delivery, LONGEST_MESSAGE_BYTES, Message},
    model::Effort,
    right::Right,
    session::{Phase, Session},
    viewer::Viewer,
};
use deskhand_store::{
    ChangeWaiting, ClearHeld, NoQueue, PromptRefused, QueuePrompt, Store, WaitingRefused,
};

pub use self::errors::{ChangeMessageError, SendPromptError};
use crate::{
    FindError,
    catalog::Catalog,
    feed::{bus::Bus, log::Log},
    live::{AwakeGuard, LiveSessions},
    sessions::find::{find, find_with},
};

/// The longest title that is taken from a first prompt, in characters.
const TITLE_FROM_PROMPT: usize = 80;

/// The waiting messages, in all sessions. Clones share them.
#[derive(Debug, Clone)]
pub struct Queue(Arc<QueueParts>);

/// The parts that a message goes through.
#[derive(Debug)]
pub(crate) struct QueueParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) bus: Arc<Bus>,
    pub(crate) live: LiveSessions,
    pub(crate) catalog: Catalog,
    /// The number of messages that may wait in one session.
    pub(crate) length: u64,
}

/// A message to send.
#[derive(Debug)]
pub struct SendPrompt {
    pub content: String,
    pub delivery: Delivery,
    /// The model that works on it, if not the session's.
    pub model: Option<String>,
    /// The effort of the model, if not the session's.
    pub effort: Option<Effort>,
    /// Files that the author has attached, in their order.
    pub attachments: Vec<AttachmentId>,
    /// The page that the browser opens before the agent reads it.
    pub start_url: Option<WebUrl>,
}

/// The changes to a waiting message. At least one is required.
#[derive(Debug, Default)]
pub struct ChangeMessage {
    pub content: Option<String>,
    pub delivery: Option<Delivery>,
    pub model: Option<Choice>,
    /// The effort of the model. `Some(None)` leaves it to the session.
    pub effort: Option<Option<Effort>>,
    /// True to keep it from the agent until it is released, false to release it.
    pub is_held: Option<bool>,
    pub place: Option<Place>,
}

/// The model that works on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Model(String),
    TheSessions,
}

/// A place in the queue, among the waiting messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Before(MessageId),
    Last,
}

impl Queue {
    pub(crate) fn new(parts: QueueParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Queues a prompt. It is stored when this returns.
    pub async fn send(
        &self,
        author: UserId,
        id: SessionId,
        prompt: SendPrompt,
    ) -> Result<Message, SendPromptError> {
        let needed = if prompt.model.is_some() || prompt.effort.is_some() {
            // It spends the owner's money, as the session's model does.
            Right::Drive
        } else {
            needed_for(prompt.delivery)
        };
        let viewer = Viewer::User(author);
        let session = find_with(&self.0.store, needed, viewer, id).await?;
        if prompt.attachments.is_empty() || !prompt.content.is_empty() {
            check(&prompt.content)?;
        }
        check_attachments(&prompt.attachments)?;
        if let Some(model) = &prompt.model {
            self.0.catalog.check(model)?;
        }
        if session.phase == Phase::Terminated {
            return Err(SendPromptError::Ended(id));
        }
        // This is checked before it is stored: a message that cannot be worked on is refused.
        let guard = self.0.live.wake(&session).await?;
        let message = self.store(author, id, prompt, &guard).await?;
        deliver(&guard, message.id, message.delivery);
        self.suggest_title(&session, &message).await;
        self.0.bus.changed(id);
        Ok(message)
    }

    /// Writes a message to the queue and the log.
    async fn store(
        &self,
        author: UserId,
        session: SessionId,
        prompt: SendPrompt,
        guard: &AwakeGuard,
    ) -> Result<Message, SendPromptError> {
        let user = self.0.store.user(author).await?;
        let queue = QueuePrompt {
            id: MessageId::new(),
            content: prompt.content,
            author,
            author_name: user.map(|user| user.name).unwrap_or_default(),
            delivery: prompt.delivery,
            model: prompt.model,
            effort: prompt.effort,
            attachments: prompt.attachments,
            start_url: prompt.start_url,
            queue_length: self.0.length,
        };
        let queued = self.0.log.commit(session, queue).await;
        // It may have been stored although the response was lost, and must not wait unnoticed.
        let queued = queued.inspect_err(|_| guard.nudge())?;
        queued.map_err(|refused| match refused {
            PromptRefused::Ended => SendPromptError::Ended(session),
            PromptRefused::NoAttachment(id) => SendPromptError::NoAttachment(id),
            PromptRefused::QueueFull { n_waiting } => {
                SendPromptError::QueueFull { session, n_waiting }
            }
        })
    }

    /// Names a session after its first message.
    async fn suggest_title(&self, session: &Session, message: &Message) {
        if !session.title.is_empty() {
            return;
        }
        let title = match message.attachments.first() {
            Some(file) if message.content.is_empty() => title_from(&file.name),
            Some(_) | None => title_from(&message.content),
        };
        if let Err(error) = self.0.store.suggest_title(session.id, &title).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not name a session after its first message"
            );
        }
    }

    /// Lists the waiting messages, in the order in which the agent will take them.
    pub async fn list(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Message>, FindError> {
        find(&self.0.store, viewer, id).await?;
        Ok(self.0.store.waiting(id).await?)
    }

    /// Changes a waiting message. Returns the queue after the change.
    pub async fn change(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
        change: ChangeMessage,
    ) -> Result<Vec<Message>, ChangeMessageError> {
        let (store, viewer) = (&self.0.store, Viewer::User(by));
        if change.model.is_some() || change.effort.is_some() {
            find_with(store, Right::Drive, viewer, id).await?;
        }
        self.check_may_change(by, id, message).await?;
        let mut woken = None;
        if change.delivery.is_some() || change.is_held == Some(false) {
            let needed = change.delivery.map_or(Right::Suggest, needed_for);
            woken = Some(find_with(store, needed, viewer, id).await?);
        }
        let changes = self.changes(message, change)?;
        self.change_waiting(by, id, message, &changes).await?;
        let waiting = self.list(viewer, id).await?;
        if let Some(session) = woken {
            let changed = waiting.iter().find(|waiting| waiting.id == message);
            if let Some(free) = changed.filter(|changed| !changed.is_held) {
                let guard = self.0.live.wake_anyway(&session).await?;
                deliver(&guard, message, free.delivery);
            }
        }
        Ok(waiting)
    }

    /// Checks the requested changes, and returns them in the form of the log.
    fn changes(
        &self,
        message: MessageId,
        change: ChangeMessage,
    ) -> Result<Vec<QueueChange>, ChangeMessageError> {
        let mut changes = Vec::new();
        if let Some(content) = change.content {
            check(&content)?;
            changes.push(QueueChange::Edited { content });
        }
        if let Some(delivery) = change.delivery {
            changes.push(QueueChange::Redelivered { delivery });
        }
        if let Some(choice) = change.model {
            let model = match choice {
                Choice::Model(model) => self.0.catalog.check(&model).map(|()| Some(model))?,
                Choice::TheSessions => None,
            };
            changes.push(QueueChange::Reassigned { model });
        }
        if let Some(effort) = change.effort {
            changes.push(QueueChange::Reweighed { effort });
        }
        match change.is_held {
            Some(true) => changes.push(QueueChange::Held),
            Some(false) => changes.push(QueueChange::Released),
            None => {}
        }
        match change.place {
            Some(Place::Before(before)) if before == message => {
                return Err(ChangeMessageError::BeforeItself);
            }
            Some(Place::Before(before)) => changes.push(QueueChange::Moved {
                before: Some(before),
            }),
            Some(Place::Last) => changes.push(QueueChange::Moved { before: None }),
            None => {}
        }
        if changes.is_empty() {
            return Err(ChangeMessageError::Nothing);
        }
        Ok(changes)
    }

    /// Takes a waiting message out of the queue.
    pub async fn remove(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
    ) -> Result<(), ChangeMessageError> {
        self.check_may_change(by, id, message).await?;
        self.change_waiting(by, id, message, &[QueueChange::Removed])
            .await
    }

    /// Removes all waiting messages that are held. Returns the queue after the change.
    pub async fn clear_held(&self, by: UserId, id: SessionId) -> Result<Vec<Message>, FindError> {
        let viewer = Viewer::User(by);
        find_with(&self.0.store, Right::Drive, viewer, id).await?;
        let cleared = self.0.log.commit(id, ClearHeld { by }).await?;
        cleared.map_err(|NoQueue| FindError::NoSession(id))?;
        self.list(viewer, id).await
    }

    /// Checks that a user may change this message. Their own needs the right to send messages, other people's the
    /// right to drive.
    async fn check_may_change(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
    ) -> Result<(), ChangeMessageError> {
        let viewer = Viewer::User(by);
        let store = &self.0.store;
        find_with(store, Right::Suggest, viewer, id).await?;
        let waiting = store.waiting(id).await?;
        let is_of_others = |other: &Message| other.id == message && other.author != Some(by);
        if waiting.iter().any(is_of_others) {
            find_with(store, Right::Drive, viewer, id).await?;
        }
        Ok(())
    }

    async fn change_waiting(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
        changes: &[QueueChange],
    ) -> Result<(), ChangeMessageError> {
        let change = ChangeWaiting {
            message,
            by,
            changes,
        };
        let changed = self.0.log.commit(id, change).await?;
        changed.map_err(|refused| match refused {
            WaitingRefused::Taken => ChangeMessageError::Taken(message),
            WaitingRefused::NotWaiting(unknown) => ChangeMessageError::NotWaiting(unknown),
        })
    }
}

/// Notifies the agent of a message according to its delivery.
fn deliver(guard: &AwakeGuard, message: MessageId, delivery: Delivery) {
    match delivery {
        Delivery::Interrupt => guard.interrupt(message),
        Delivery::Steer => guard.steer(),
        Delivery::Queue => {}
    }
    guard.nudge();
}

/// Returns the right that this delivery needs.
fn needed_for(delivery: Delivery) -> Right {
    match delivery {
        Delivery::Queue | Delivery::Steer => Right::Suggest,
        // It stops the agent.
        Delivery::Interrupt => Right::Drive,
    }
}

fn check(content: &str) -> Result<(), SendPromptError> {
    if content.trim().is_empty() {
        return Err(SendPromptError::Empty);
    }
    if content.len() > LONGEST_MESSAGE_BYTES {
        return Err(SendPromptError::Long(content.len()));
    }
    if content.contains('\0') {
        return Err(SendPromptError::Nul);
    }
    Ok(())
}

fn check_attachments(ids: &[AttachmentId]) -> Result<(), SendPromptError> {
    if ids.len() > MOST_ATTACHMENTS {
        return Err(SendPromptError::TooManyAttachments(ids.len()));
    }
    let mut seen = HashSet::with_capacity(ids.len());
    match ids.iter().find(|id| !seen.insert(**id)) {
        Some(twice) => Err(SendPromptError::AttachedTwice(*twice)),
        None => Ok(()),
    }
}

/// Returns the first line of a prompt, cut to the length of a title.
fn title_from(prompt: &str) -> String {
    let line = prompt.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= TITLE_FROM_PROMPT {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_FROM_PROMPT - 1).collect();
    format!("{}…", cut.trim_end())
}
