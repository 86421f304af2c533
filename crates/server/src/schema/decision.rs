//! What people are asked and how they answer, and what must be asked.

use serde::Serialize;
use utoipa::ToSchema;

/// Why a person is asked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionKind {
    /// The agent wants to know something.
    Question,
    /// The session's policy wants a person's yes before something is done.
    Approval,
    /// The model's vendor wants a person to look first.
    SafetyCheck,
    /// What may be used is used up, or the agent does not get on.
    Budget,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionState {
    /// It can be answered.
    Open,
    Answered,
    /// Nobody answered in time; the default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SettledState {
    Answered,
    /// Nobody answered in time; the default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

/// How a decision can be answered.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Form {
    Text,
    /// One of these, or several.
    Choices {
        choices: Vec<Choice>,
        several: bool,
    },
    YesNo,
    File,
}

/// One of several possible answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Choice {
    /// What the answer names and the agent is told.
    value: String,
    /// What people read.
    label: String,
}

/// The tool use that a person is asked about.
#[derive(Serialize, ToSchema)]
pub(crate) struct Subject {
    tool: String,
    input: serde_json::Value,
}

/// Something about a call that a person must agree to, whatever the policy says.
#[derive(Serialize, ToSchema)]
pub(crate) struct Check {
    kind: DecisionKind,
    prompt: String,
}

/// An answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Text(String),
    /// Values of choices.
    Choices(Vec<String>),
    Yes(bool),
    File(FileHead),
}

/// What is known of a file that was given.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileHead {
    name: String,
    n_bytes: u64,
}

/// What the agent must ask before it does it.
#[derive(Serialize, ToSchema)]
#[schema(as = ApprovalPolicy)]
pub(crate) struct Policy {
    #[schema(required = false)]
    mode: Mode,
    /// The first that matches wins over the mode.
    #[schema(required = false, max_items = 50)]
    rules: Vec<Rule>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ApprovalMode)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// Everything but looking is asked about.
    Always,
    /// What may do harm is asked about. This is the default.
    Risky,
    /// Nothing is asked about.
    Never,
}

/// What happens to calls of one kind.
#[derive(Serialize, ToSchema)]
#[schema(as = ApprovalRule)]
pub(crate) struct Rule {
    tool: RuleTool,
    /// The whole text of a call, in which `*` stands for anything. `*` when it is absent.
    #[schema(required = false, min_length = 1, max_length = 200)]
    pattern: String,
    then: Then,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuleTool {
    Computer,
    Bash,
    Editor,
    FillSecret,
    Any,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Then {
    Ask,
    Allow,
    Refuse,
}
