//! Decisions: questions that a person answers before the agent continues.
//!
//! One mechanism serves the agent's questions, approvals of its next action, a vendor's safety checks and exhausted
//! budgets. A decision is settled once: by the first valid answer, by its expiry, or because its turn ended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

mod given_file;
mod reply;

pub use self::{
    given_file::{FileHead, GivenFile, LARGEST_FILE_BYTES, LONGEST_FILE_NAME},
    reply::{AnswerScope, LONGEST_REASON_BYTES, Reply},
};
use crate::{
    budget::Over,
    id::{DecisionId, SessionId, TurnId, UserId},
    policy::Rule,
    right::Right,
};

/// The longest question, in bytes of UTF-8.
pub const LONGEST_QUESTION_BYTES: usize = 8 * 1024;
/// The longest text that answers a question, in bytes of UTF-8.
pub const LONGEST_ANSWER_BYTES: usize = 64 * 1024;
/// The most choices a question offers.
pub const MOST_CHOICES: usize = 50;
/// The longest choice, in characters.
pub const LONGEST_CHOICE: usize = 200;
/// The longest time until a question expires.
pub const LONGEST_EXPIRY_S: u64 = 30 * 24 * 60 * 60;

/// A question to a person, with its state and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub id: DecisionId,
    pub session: SessionId,
    pub turn: TurnId,
    pub ask: Ask,
    pub created_at: Timestamp,
    pub state: DecisionState,
    /// The answer that counts, even if it is the default that applied at the expiry.
    pub answer: Option<Reply>,
    /// The person who answered, if one did.
    pub answered_by: Option<UserId>,
    /// The time at which it was answered, expired or withdrawn.
    pub settled_at: Option<Timestamp>,
}

/// A question and the form of its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Ask {
    /// The tool call that waits for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub call: Option<String>,
    pub kind: DecisionKind,
    /// The question, for people.
    pub prompt: String,
    pub form: Form,
    /// The exact action that would be carried out, if the question is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub subject: Option<Subject>,
    /// The bound that would be passed, if that is the reason for the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub over: Option<Over>,
    /// The rule that an answer may add, so that this is not asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub rule: Option<Rule>,
    /// The answer that counts if the decision expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub default: Option<Reply>,
    /// The time of expiry. Without it the decision never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub expires_at: Option<Timestamp>,
}

/// The tool use that needs a person's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Subject {
    pub tool: String,
    pub input: serde_json::Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// The agent wants to know something.
    Question,
    /// The session's policy requires a person's approval before an action.
    Approval,
    /// Only the session's owner can approve the action, since it uses a secret of theirs. Without a `call`, a program
    /// wants to use it, and the agent goes on meanwhile.
    OwnerApproval,
    /// The model's vendor requires a person to check first.
    SafetyCheck,
    /// A limit is reached, or the agent makes no progress.
    Budget,
    /// A program wants to contact a host that the network policy does not list. The agent goes on meanwhile.
    Network,
}

/// The form of the answer to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Form {
    Text,
    /// One of these choices, or several if `several` is true.
    Choices {
        choices: Vec<Choice>,
        #[serde(default)]
        #[schema(required)]
        several: bool,
    },
    YesNo,
    File,
}

/// One of several possible answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The value that the agent receives.
    pub value: String,
    /// The text that people read.
    pub label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionState {
    /// It can be answered.
    Open,
    Answered,
    /// No one answered in time. The default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

/// The state of a settled decision.
// Only the schema of the event uses it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledState {
    Answered,
    /// No one answered in time. The default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

/// The way in which a decision was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    Answered { by: UserId, reply: Reply },
    Expired { default: Option<Reply> },
    Withdrawn,
}

/// The reason why a reply does not answer a decision. The text is for the person who gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReply {
    #[error("this needs an answer with {wanted}")]
    WrongForm { wanted: &'static str },
    #[error("the answer needs some text")]
    Empty,
    #[error("an answer has at most {LONGEST_ANSWER_BYTES} bytes")]
    Long,
    #[error("{value:?} is not a choice; the choices are {offered}")]
    NotOffered { value: String, offered: String },
    #[error("this cannot be allowed for longer than once; answer yes without `for`")]
    OnlyOnce,
    #[error(
        "only a no to something that the agent wants to do takes a reason; answer without `because`"
    )]
    NoReason,
    #[error("a reason has at most {LONGEST_REASON_BYTES} bytes")]
    LongReason,
    #[error("choose exactly one")]
    NotOne,
    #[error("choose at least one")]
    None,
    #[error(
        "a file's name has 1 to {LONGEST_FILE_NAME} characters, without slashes and control characters, and does not begin with a dot"
    )]
    FileName,
    #[error("a file has at most {LARGEST_FILE_BYTES} bytes")]
    LargeFile,
}

impl DecisionKind {
    pub const ALL: [Self; 6] = [
        Self::Question,
        Self::Approval,
        Self::OwnerApproval,
        Self::SafetyCheck,
        Self::Budget,
        Self::Network,
    ];

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::OwnerApproval => "owner_approval",
            Self::SafetyCheck => "safety_check",
            Self::Budget => "budget",
            Self::Network => "network",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the right that answering needs. Those who may talk to the agent may answer its questions; those who
    /// may drive decide what it does; the owner decides about their secrets.
    pub fn needed(self) -> Right {
        match self {
            Self::Question => Right::Suggest,
            Self::Approval | Self::SafetyCheck | Self::Budget | Self::Network => Right::Drive,
            Self::OwnerApproval => Right::Owner,
        }
    }
}

impl Ask {
    /// Checks that `reply` answers this, and returns it in the form in which it is stored. A text answers every question
    /// of an agent: none of its choices may fit.
    pub fn check(&self, reply: Reply) -> Result<Reply, BadReply> {
        match &reply {
            Reply::Text(_) if self.kind == DecisionKind::Question => Form::Text.check(reply),
            Reply::YesFor(_) if self.rule.is_none() => Err(BadReply::OnlyOnce),
            Reply::NoBecause(_) if self.call.is_none() || self.subject.is_none() => {
                Err(BadReply::NoReason)
            }
            Reply::NoBecause(reason) if reason.len() > LONGEST_REASON_BYTES => {
                Err(BadReply::LongReason)
            }
            Reply::Text(_)
            | Reply::Choices(_)
            | Reply::Yes(_)
            | Reply::YesFor(_)
            | Reply::NoBecause(_)
            | Reply::File(_) => self.form.check(reply),
        }
    }

    /// Returns true if the turn waits for the answer. Otherwise only a program does.
    pub fn stops_turn(&self) -> bool {
        match self.kind {
            DecisionKind::Network => false,
            // A program that uses a secret waits on its own, unlike a call of the agent.
            DecisionKind::OwnerApproval => self.call.is_some(),
            DecisionKind::Question
            | DecisionKind::Approval
            | DecisionKind::SafetyCheck
            | DecisionKind::Budget => true,
        }
    }
}

impl DecisionState {
    pub const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Expired, Self::Withdrawn];

    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl Settlement {
    pub fn state(&self) -> DecisionState {
        match self {
            Self::Answered { .. } => DecisionState::Answered,
            Self::Expired { .. } => DecisionState::Expired,
            Self::Withdrawn => DecisionState::Withdrawn,
        }
    }

    /// Returns the answer that counts, if there is one.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Answered { reply, .. } => Some(reply),
            Self::Expired { default } => default.as_ref(),
            Self::Withdrawn => None,
        }
    }

    pub fn by(&self) -> Option<UserId> {
        match self {
            Self::Answered { by, .. } => Some(*by),
            Self::Expired { .. } | Self::Withdrawn => None,
        }
    }
}

impl Form {
    /// Checks that `reply` answers this form, and returns it in the form in which it is stored.
    pub fn check(&self, reply: Reply) -> Result<Reply, BadReply> {
        match (self, reply) {
            (Self::Text, Reply::Text(text)) => {
                if text.trim().is_empty() {
                    return Err(BadReply::Empty);
                }
                if text.len() > LONGEST_ANSWER_BYTES {
                    return Err(BadReply::Long);
                }
                Ok(Reply::Text(text))
            }
            (Self::Choices { choices, several }, Reply::Choices(values)) => {
                chosen(choices, *several, &values)
            }
            (Self::YesNo, reply @ (Reply::Yes(_) | Reply::YesFor(_))) => Ok(reply),
            (Self::YesNo, Reply::NoBecause(reason)) if reason.trim().is_empty() => {
                Ok(Reply::Yes(false))
            }
            (Self::YesNo, Reply::NoBecause(reason)) => {
                Ok(Reply::NoBecause(reason.trim().to_owned()))
            }
            (Self::File, Reply::File(head)) => Ok(Reply::File(head)),
            (Self::Text | Self::Choices { .. } | Self::YesNo | Self::File, _) => {
                Err(BadReply::WrongForm {
                    wanted: self.wanted(),
                })
            }
        }
    }

    /// Describes the expected answer in words.
    fn wanted(&self) -> &'static str {
        match self {
            Self::Text => "`text`",
            Self::Choices { .. } => "`choices`",
            Self::YesNo => "`yes`: true or false",
            Self::File => "a `file`",
        }
    }
}

/// Returns the chosen values, each once and in the order in which they are offered.
fn chosen(choices: &[Choice], several: bool, values: &[String]) -> Result<Reply, BadReply> {
    let offered = |value: &String| choices.iter().any(|choice| choice.value == *value);
    if let Some(value) = values.iter().find(|value| !offered(value)) {
        let offered: Vec<_> = choices.iter().map(|choice| &*choice.value).collect();
        return Err(BadReply::NotOffered {
            value: value.clone(),
            offered: offered.join(", "),
        });
    }
    let chosen: Vec<_> = choices
        .iter()
        .filter(|choice| values.contains(&choice.value))
        .map(|choice| choice.value.clone())
        .collect();
    match (chosen.len(), several) {
        (0, true) => Err(BadReply::None),
        (1, false) | (_, true) => Ok(Reply::Choices(chosen)),
        (_, false) => Err(BadReply::NotOne),
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
