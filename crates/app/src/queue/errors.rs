//! The reasons why messages are refused or not changed.

use deskhand_core::{
    attachment::MOST_ATTACHMENTS,
    id::{AttachmentId, MessageId, SessionId},
    message::LONGEST_MESSAGE_BYTES,
    model::UnknownModel,
};

use crate::{FindError, InternalError, WakeError, refusal::refusals};

/// The reason why a message was refused.
#[derive(Debug, thiserror::Error)]
pub enum SendPromptError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("a message needs some text or an attachment")]
    Empty,
    #[error("a message has at most {LONGEST_MESSAGE_BYTES} bytes, not {0}")]
    Long(usize),
    #[error("a message cannot contain the character U+0000")]
    Nul,
    #[error("a message may have at most {MOST_ATTACHMENTS} attachments, not {0}")]
    TooManyAttachments(usize),
    #[error("attachment {0} is listed twice")]
    AttachedTwice(AttachmentId),
    #[error("you have no unsent attachment {0} in this session; upload the file again")]
    NoAttachment(AttachmentId),
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("session {session} already has {n_waiting} messages waiting; wait or remove one")]
    QueueFull { session: SessionId, n_waiting: u64 },
    #[error(transparent)]
    Wake(#[from] WakeError),
    #[error("could not queue the message")]
    Internal(#[source] InternalError),
}

refusals! {
    SendPromptError passes on Find, UnknownModel, Wake, Internal;
    Self::Empty => Invalid("empty_message"),
    Self::Nul | Self::TooManyAttachments(_) | Self::AttachedTwice(_) => Invalid("malformed"),
    Self::NoAttachment(_) => Unfitting("no_attachment"),
    Self::Long(_) => TooLarge("long_message"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::QueueFull { n_waiting, .. } => TooMany("queue_full", { "n_waiting": n_waiting }),
}

/// The reason why a message was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeMessageError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Content(#[from] SendPromptError),
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    #[error("nothing to change: give content, delivery, model, effort, held or before")]
    Nothing,
    #[error("a message cannot be moved before itself")]
    BeforeItself,
    #[error("the agent has already started on message {0}")]
    Taken(MessageId),
    #[error("no message {0} is waiting in this session")]
    NotWaiting(MessageId),
    #[error("could not change the message")]
    Internal(#[source] InternalError),
}

refusals! {
    ChangeMessageError passes on Find, Content, UnknownModel, Internal;
    Self::Nothing | Self::BeforeItself => Invalid("malformed"),
    Self::Taken(_) => Conflict("message_taken"),
    Self::NotWaiting(_) => NotFound("no_message"),
}
