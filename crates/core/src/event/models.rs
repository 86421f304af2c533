//! Events of models: their answers, retries and costs, and the choice of one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    id::{TurnId, UserId},
    model::Usage,
};

/// The price of a model's answer. It comes last: everything that the model said and asked for precedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostData)]
pub struct Cost {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The number of the answer in its turn, from 1.
    pub step: u32,
    /// US dollars.
    pub usd: f64,
    /// The model that answered, as `vendor/name`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    #[serde(default)]
    #[schema(required)]
    pub usage: Usage,
    /// The price of the model is unknown, so `usd` is 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// The answer reached its length limit before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The model only announced its next step, so the turn continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
    /// The stream ended early, so this is not a full answer and may have cost more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken_off: bool,
    /// The answer was a summary of the conversation, not a step of the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
}

/// The model could not answer and is asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RetryData)]
pub struct Retry {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The number of the failed attempt at this answer, from 1.
    pub attempt: u32,
    /// The problem, in a sentence for people.
    pub message: String,
    /// The time of the next attempt.
    pub next_at: Timestamp,
    /// The model of the next attempt, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub model: Option<String>,
    /// The next attempt leaves out the attached files, because the model's vendor rejected a request with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_files: bool,
    /// The model refused to answer. The next one is not shown what it said of this answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// A program in the sandbox called a model. The call is not part of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = GatewayData)]
pub struct GatewayUse {
    /// The turn that was running. Absent when a person had control and the agent was idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid)]
    pub turn: Option<TurnId>,
    /// `vendor/name`.
    pub model: String,
    /// US dollars.
    pub usd: f64,
    pub usage: Usage,
    /// The price of the model is unknown, so `usd` is 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// The answer ended early, so it may have cost more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// A person gave the session another model, from its next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelData)]
pub struct ModelChanged {
    /// `vendor/name`.
    pub model: String,
    #[schema(value_type = Uuid)]
    pub by: UserId,
    /// Their name at that time.
    pub by_name: String,
}

/// The model was told in the conversation that something changed since the session's first turn: its system text and
/// its tools stay as they were then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ToldData)]
pub struct ModelTold {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The note as the model reads it.
    pub text: String,
    /// Everything that the model knows now, for the server to find the next change.
    #[schema(value_type = Object)]
    pub facts: ToldFacts,
}

/// The conversation became too long for the model and was shortened for it. The log keeps everything.
///
/// Messages and answers of people, the plan and the instructions are not part of the summary: the model gets them as
/// they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SummaryData)]
pub struct Summarized {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The model's summary of everything before. Absent if only the results of earlier calls were shortened to a line
    /// each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub text: Option<String>,
}

/// The facts that a model was told. Long texts are stored as fingerprints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldFacts {
    /// `Friday, 3 July 2026`.
    pub day: String,
    /// The fingerprint of the server's prompt.
    pub prompt: String,
    /// The fingerprint of the session's instructions.
    pub instructions: String,
    /// The fingerprint of the list of secrets for HTTP APIs. Empty if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub secrets: String,
    /// The fingerprint of the facts about the computer. Empty if the model was not told any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surroundings: String,
    /// The fingerprints of the tools, by name.
    pub tools: BTreeMap<String, String>,
}
