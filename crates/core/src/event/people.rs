//! Events about the people of a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{id::UserId, right::Right};

/// The session has another owner, who accepted it. Its desktop was stopped, and its links ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandedOverData)]
pub struct HandedOver {
    /// The owner before.
    #[schema(value_type = Uuid)]
    pub from: UserId,
    /// Their name at that time.
    pub from_name: String,
    /// The new owner.
    #[schema(value_type = Uuid)]
    pub to: UserId,
    pub to_name: String,
    /// The right that the owner before keeps.
    pub giver_keeps: Right,
}
