//! What a turn may come up against.

use serde::Serialize;
use utoipa::ToSchema;

/// What a turn may come up against.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    SessionUsd,
    SessionTokens,
    /// Of the session's owner in one day.
    DayUsd,
    DayTokens,
    /// How often the model is asked in one turn.
    Steps,
    /// How long one turn takes.
    Seconds,
    /// How often the agent does the same and nothing changes.
    Repeats,
}

/// A bound that would be passed, in the bound's own unit.
#[derive(Serialize, ToSchema)]
#[schema(as = OverBound)]
pub(crate) struct Over {
    bound: Bound,
    used: f64,
    limit: f64,
    /// What a yes adds to the limit.
    more: f64,
}
