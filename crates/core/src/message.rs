//! Messages between people and the agent.

use jiff::Timestamp;

use crate::{
    attachment::Attachment,
    browser::WebUrl,
    id::{MessageId, SessionId, UserId},
    model::Effort,
};

/// The longest message a person may send.
pub const LONGEST_MESSAGE_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    pub role: Role,
    pub content: String,
    /// The person who wrote it, if one did.
    pub author: Option<UserId>,
    pub author_name: Option<String>,
    pub delivery: Delivery,
    /// The model that works on it, if it is not the session's.
    pub model: Option<String>,
    /// The effort of the model that works on it, if it is not the session's.
    pub effort: Option<Effort>,
    /// True if it waits until a person releases it, because they stopped the agent.
    pub is_held: bool,
    /// The files that came with it, in their order.
    pub attachments: Vec<Attachment>,
    /// The page that the browser opens before the agent reads it.
    pub start_url: Option<WebUrl>,
    pub created_at: Timestamp,
}

/// One page of a conversation, oldest first.
#[derive(Debug)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// The beginning of the next page, if there is one.
    pub next: Option<MessageId>,
}

/// The way in which a message reaches a busy agent. An idle agent takes any message at once.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// It waits for its turn.
    #[default]
    Queue,
    /// The agent receives it with its next step.
    Steer,
    /// It ends the running turn and starts the next one.
    Interrupt,
}

impl Delivery {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Steer => "steer",
            Self::Interrupt => "interrupt",
        }
    }
}

/// The error for a name that no delivery has.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a way to deliver a message")]
pub struct UnknownDelivery(pub String);

impl std::str::FromStr for Delivery {
    type Err = UnknownDelivery;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Queue, Self::Steer, Self::Interrupt]
            .into_iter()
            .find(|delivery| delivery.name() == text)
            .ok_or_else(|| UnknownDelivery(text.to_owned()))
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A prompt.
    User,
    /// The agent's answer at the end of a turn.
    Assistant,
}
