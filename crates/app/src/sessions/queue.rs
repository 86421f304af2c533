//! Messages to the agent: sending them, and changing them while they wait.

use deskhand_core::{
    event::QueueChange,
    id::{MessageId, SessionId, UserId},
    message::{Delivery, LONGEST_MESSAGE_BYTES, Message},
    right::Right,
    session::Phase,
    viewer::Viewer,
};
use deskhand_store::{ChangeWaiting, PromptRefused, QueuePrompt, WaitingRefused};

use super::{ChangeMessageError, FindError, SendPromptError, Sessions};
use crate::awake::KeptAwake;

/// How much of a first prompt becomes the title.
const TITLE_FROM_PROMPT: usize = 80;

/// A message somebody sends.
#[derive(Debug)]
pub struct SendPrompt {
    pub content: String,
    pub delivery: Delivery,
    /// Which model works on it, when it is not the session's.
    pub model: Option<String>,
}

/// What to change of a message that waits. At least one of them.
#[derive(Debug, Default)]
pub struct ChangeMessage {
    pub content: Option<String>,
    pub delivery: Option<Delivery>,
    pub model: Option<Choice>,
    pub place: Option<Place>,
}

/// Which model works on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Model(String),
    TheSessions,
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Before(MessageId),
    Last,
}

impl Sessions {
    /// Queues a prompt. It is stored when this returns.
    pub async fn send_prompt(
        &self,
        author: UserId,
        id: SessionId,
        prompt: SendPrompt,
    ) -> Result<Message, SendPromptError> {
        let needed = match &prompt.model {
            // It spends what is the owner's, as the session's model does.
            Some(_) => Right::Drive,
            None => needed_for(prompt.delivery),
        };
        let session = self.find_with(needed, Viewer::User(author), id).await?;
        check(&prompt.content)?;
        if let Some(model) = &prompt.model {
            self.shared.check_model(model)?;
        }
        if session.phase == Phase::Terminated {
            return Err(SendPromptError::Ended(id));
        }
        // Before it is stored: a message that could not be worked on is not taken.
        let kept = self.wake(&session).await?;
        let user = self.shared.store.user(author).await?;
        let author_name = user.map(|user| user.name).unwrap_or_default();
        let queue = QueuePrompt {
            id: MessageId::new(),
            content: prompt.content,
            author,
            author_name,
            delivery: prompt.delivery,
            model: prompt.model,
            queue_length: self.shared.settings.queue_length,
        };
        let queued = self.shared.log.commit(id, queue).await;
        // It may have been stored although the answer got lost, and must not wait unseen.
        let queued = queued.inspect_err(|_| kept.live.nudge(&self.shared))?;
        let message = queued.map_err(|refused| match refused {
            PromptRefused::Ended => SendPromptError::Ended(id),
            PromptRefused::QueueFull { n_waiting } => SendPromptError::QueueFull {
                session: id,
                n_waiting,
            },
        })?;
        self.deliver(&kept, message.id, message.delivery);
        if session.title.is_empty() {
            let title = title_from(&message.content);
            if let Err(error) = self.shared.store.suggest_title(id, &title).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a session was not named after its first message"
                );
            }
        }
        self.shared.bus.changed(id);
        Ok(message)
    }

    /// The messages that wait, in the order in which the agent will take them.
    pub async fn queue(&self, viewer: Viewer, id: SessionId) -> Result<Vec<Message>, FindError> {
        self.find(viewer, id).await?;
        Ok(self.shared.store.waiting(id).await?)
    }

    /// Changes a message that waits; answers the queue as it is then.
    pub async fn change_message(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
        change: ChangeMessage,
    ) -> Result<Vec<Message>, ChangeMessageError> {
        if change.model.is_some() {
            self.find_with(Right::Drive, Viewer::User(by), id).await?;
        }
        self.may_change(by, id, message).await?;
        let mut session = None;
        if let Some(delivery) = change.delivery {
            let needed = needed_for(delivery);
            session = Some(self.find_with(needed, Viewer::User(by), id).await?);
        }
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
                Choice::Model(model) => self.shared.check_model(&model).map(|()| Some(model))?,
                Choice::TheSessions => None,
            };
            changes.push(QueueChange::Reassigned { model });
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
        self.change_waiting(by, id, message, &changes).await?;
        if let (Some(delivery), Some(session)) = (change.delivery, session) {
            let kept = self.wake_anyway(&session).await?;
            self.deliver(&kept, message, delivery);
        }
        Ok(self.queue(Viewer::User(by), id).await?)
    }

    /// Takes a message that waits out of the queue.
    pub async fn remove_message(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
    ) -> Result<(), ChangeMessageError> {
        self.may_change(by, id, message).await?;
        self.change_waiting(by, id, message, &[QueueChange::Removed])
            .await
    }

    /// Whether they may change this message: their own with the right to send some, other
    /// people's with the right to drive.
    async fn may_change(
        &self,
        by: UserId,
        id: SessionId,
        message: MessageId,
    ) -> Result<(), ChangeMessageError> {
        let viewer = Viewer::User(by);
        self.find_with(Right::Suggest, viewer, id).await?;
        let waiting = self.shared.store.waiting(id).await?;
        let is_of_others = |other: &Message| other.id == message && other.author != Some(by);
        if waiting.iter().any(is_of_others) {
            self.find_with(Right::Drive, viewer, id).await?;
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
        let changed = self.shared.log.commit(id, change).await?;
        changed.map_err(|refused| match refused {
            WaitingRefused::Taken => ChangeMessageError::Taken(message),
            WaitingRefused::NotWaiting(unknown) => ChangeMessageError::NotWaiting(unknown),
        })
    }

    /// Lets the agent know of a message in the way it was sent. A turn that is steered looks for
    /// it by itself.
    fn deliver(&self, kept: &KeptAwake, message: MessageId, delivery: Delivery) {
        if delivery == Delivery::Interrupt {
            kept.live.interrupt(message);
        }
        kept.live.nudge(&self.shared);
    }
}

/// What somebody must be allowed to do to have a message delivered like this.
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

/// The first line of a prompt, cut to a title's length.
fn title_from(prompt: &str) -> String {
    let line = prompt.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= TITLE_FROM_PROMPT {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_FROM_PROMPT - 1).collect();
    format!("{}…", cut.trim_end())
}
