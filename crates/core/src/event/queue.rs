//! Events about the messages that wait for the agent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    id::{MessageId, UserId},
    message::Delivery,
    model::Effort,
};

/// A message was changed while it waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = QueueData)]
pub struct QueueChanged {
    #[schema(value_type = Uuid)]
    pub message: MessageId,
    #[schema(value_type = Uuid)]
    pub by: UserId,
    #[serde(flatten)]
    pub change: QueueChange,
}

/// A change of a waiting message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum QueueChange {
    /// It has another text.
    Edited { content: String },
    /// It has another delivery.
    Redelivered { delivery: Delivery },
    /// Another model works on it. Without a name, it is the session's model.
    Reassigned {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        model: Option<String>,
    },
    /// Its model works with another effort. Without one, it is the session's effort.
    Reweighed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        effort: Option<Effort>,
    },
    /// It was moved before another message, or to the end.
    Moved {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Uuid)]
        before: Option<MessageId>,
    },
    /// The agent does not take it until a person releases it.
    Held,
    /// The agent takes it when its turn comes.
    Released,
    /// The agent will never see it.
    Removed,
}
