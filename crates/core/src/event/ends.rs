//! Events that end a turn, and other failures.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{budget::Bound, id::TurnId};

/// Something failed. With a `turn` it ends that turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ErrorData)]
pub struct Failure {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// Stable, for programs: `server_restarted`, `model_failed`, …
    pub code: String,
    /// A sentence for people: the problem and the way out.
    pub message: String,
}

/// A turn ended normally, or because a person stopped it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CompleteData)]
pub struct Complete {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    pub outcome: Outcome,
    /// The number of model calls.
    pub n_steps: u32,
    pub duration_ms: u64,
    /// The bound that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bound: Option<Bound>,
}

/// The way in which a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The model ended its turn.
    Done,
    /// A person stopped it.
    Stopped,
    /// An interrupting message ended it and starts the next turn.
    Interrupted,
    /// It reached a bound, and a person chose to stop.
    Enough,
}
