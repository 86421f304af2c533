//! Messages of people and the agent, and the queue of waiting ones.

use deskhand_core::{
    attachment::Attachment,
    id::{AttachmentId, MessageId, SessionId, UserId},
    message::{Delivery, Message, Role},
    model::Effort,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::present;

/// A message to send.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SendMessage)]
#[serde(deny_unknown_fields)]
pub struct SendMessageBody {
    /// At most 256 KiB in UTF-8. It may be empty only if there are attachments.
    #[schema(max_length = 262144)]
    pub content: String,
    #[serde(default)]
    pub delivery: Delivery,
    /// The model that works on it, as `vendor/name`. Without it the session's model does. A message that steers a
    /// turn does not change the turn's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort of the model that works on it. Without it the session's effort counts. A message that steers a turn
    /// does not change the turn's effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub effort: Option<Effort>,
    /// Files that the sender has uploaded, each once. With files, the text may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Uuid>, max_items = 20)]
    pub attachments: Vec<AttachmentId>,
}

/// A file that was uploaded for a message.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Attachment)]
pub struct AttachmentView {
    #[schema(value_type = Uuid)]
    pub id: AttachmentId,
    /// The name of the file, without a folder.
    pub name: String,
    /// Pictures and PDFs are recognized by their content, others by their name.
    pub media_type: String,
    pub n_bytes: u64,
}

/// A change to a waiting message. At least one field is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeMessage)]
#[serde(deny_unknown_fields)]
pub struct ChangeMessageBody {
    /// At most 256 KiB in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 262144, nullable = false)]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<Delivery>,
    /// The model that works on it, as `vendor/name`. Null for the session's model.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>)]
    pub model: Option<Option<String>>,
    /// The effort of the model that works on it. Null for the session's effort.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Effort>)]
    pub effort: Option<Option<Effort>>,
    /// True to keep it from the agent until it is released. False to release it, so that an idle agent takes it at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub held: Option<bool>,
    /// The message to move it before. Null for the end of the queue.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Uuid>)]
    pub before: Option<Option<MessageId>>,
}

/// A message of a person or the agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageView {
    #[schema(value_type = Uuid)]
    pub id: MessageId,
    #[schema(value_type = Uuid)]
    pub session_id: SessionId,
    pub role: Role,
    pub content: String,
    /// The person who wrote it, if one did.
    #[schema(required, value_type = Option<Uuid>)]
    pub author: Option<UserId>,
    /// Their name, even after they have left.
    #[schema(required)]
    pub author_name: Option<String>,
    pub delivery: Delivery,
    /// The model that works on it, if it is not the session's.
    #[schema(required)]
    pub model: Option<String>,
    /// The effort of the model that works on it, if it is not the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub effort: Option<Effort>,
    /// True if it waits until a person releases it, because they stopped the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentView>,
    pub created_at: Timestamp,
}

/// A page of messages, in order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = MessagesPage)]
pub struct MessagesView {
    pub messages: Vec<MessageView>,
    /// The `after` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<MessageId>,
}

/// The waiting messages, in the order in which the agent will take them.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Queue)]
pub struct QueueView {
    pub messages: Vec<MessageView>,
}

impl From<Attachment> for AttachmentView {
    fn from(attachment: Attachment) -> Self {
        Self {
            id: attachment.id,
            name: attachment.name,
            media_type: attachment.media_type,
            n_bytes: attachment.n_bytes,
        }
    }
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            session_id: message.session,
            role: message.role,
            content: message.content,
            author: message.author,
            author_name: message.author_name,
            delivery: message.delivery,
            model: message.model,
            effort: message.effort,
            held: message.is_held,
            attachments: message.attachments.into_iter().map(Into::into).collect(),
            created_at: message.created_at,
        }
    }
}

impl From<Vec<Message>> for QueueView {
    fn from(messages: Vec<Message>) -> Self {
        Self {
            messages: messages.into_iter().map(MessageView::from).collect(),
        }
    }
}
