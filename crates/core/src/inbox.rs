//! Decisions as people see them in lists.

use crate::{decision::Decision, id::DecisionId};

/// A decision with the names that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedDecision {
    pub decision: Decision,
    pub session_title: String,
    /// The name of the person who answered.
    pub answered_by_name: Option<String>,
}

/// One page of a list of decisions, newest first.
#[derive(Debug)]
pub struct DecisionPage {
    pub decisions: Vec<NamedDecision>,
    /// The beginning of the next page, if there is one.
    pub next: Option<DecisionId>,
}
