//! Decisions: what a person is asked before the agent goes on.
//!
//! One mechanism for the agent's questions, approvals of what it is about to do, a vendor's safety
//! checks and budgets that are used up. A decision is settled once: by the first valid answer, by
//! its expiry, or because its turn ended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    budget::Over,
    id::{DecisionId, SessionId, TurnId, UserId},
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
/// The largest file that answers a question: in base64 it fits into a request.
pub const LARGEST_FILE_BYTES: usize = 700 * 1024;
/// The longest name of such a file, in characters.
pub const LONGEST_FILE_NAME: usize = 100;
/// The longest a question may wait for its default.
pub const LONGEST_EXPIRY_S: u64 = 30 * 24 * 60 * 60;

/// Something a person is asked, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub id: DecisionId,
    pub session: SessionId,
    pub turn: TurnId,
    pub ask: Ask,
    pub created_at: Timestamp,
    pub state: DecisionState,
    /// What counts, also when it is the default that came with the expiry.
    pub answer: Option<Reply>,
    /// Who answered, when a person did.
    pub answered_by: Option<UserId>,
    /// When it was answered, expired or withdrawn.
    pub settled_at: Option<Timestamp>,
}

/// What is asked, and how it can be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Ask {
    /// The tool call that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub call: Option<String>,
    pub kind: DecisionKind,
    /// The question, for people.
    pub prompt: String,
    pub form: Form,
    /// Exactly what would be done, where something would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub subject: Option<Subject>,
    /// The bound that would be passed, where that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub over: Option<Over>,
    /// What counts as the answer when nobody gave one in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub default: Option<Reply>,
    /// It waits for ever without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub expires_at: Option<Timestamp>,
}

/// The tool use that a person is asked about.
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
    /// The session's policy wants a person's yes before something is done.
    Approval,
    /// The model's vendor wants a person to look first.
    SafetyCheck,
    /// What may be used is used up, or the agent does not get on.
    Budget,
}

/// How a decision can be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Form {
    Text,
    /// One of these, or several.
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
    /// What the agent is told.
    pub value: String,
    /// What people read.
    pub label: String,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Text(String),
    /// Values of choices, in the order in which they are offered.
    Choices(Vec<String>),
    Yes(bool),
    /// What is known of a file; its bytes are kept beside it.
    File(FileHead),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileHead {
    pub name: String,
    pub n_bytes: u64,
}

/// A file that somebody gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionState {
    /// It can be answered.
    Open,
    Answered,
    /// Nobody answered in time; the default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

/// The states of a decision that is settled, for the schema of its event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledState {
    Answered,
    /// Nobody answered in time; the default counts, if there is one.
    Expired,
    /// Its turn ended first.
    Withdrawn,
}

/// How a decision was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    Answered { by: UserId, reply: Reply },
    Expired { default: Option<Reply> },
    Withdrawn,
}

/// Why a reply does not answer a decision. The text is for whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReply {
    #[error("this is answered with {wanted}")]
    WrongForm { wanted: &'static str },
    #[error("the answer needs some text")]
    Empty,
    #[error("an answer has at most {LONGEST_ANSWER_BYTES} bytes")]
    Long,
    #[error("{value:?} is not offered; the choices are {offered}")]
    NotOffered { value: String, offered: String },
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
    pub const ALL: [Self; 4] = [
        Self::Question,
        Self::Approval,
        Self::SafetyCheck,
        Self::Budget,
    ];

    /// As it is written in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::SafetyCheck => "safety_check",
            Self::Budget => "budget",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The right that answering needs: whoever may talk to the agent may answer its questions,
    /// and whoever may act for it may say what it does.
    pub fn needed(self) -> Right {
        match self {
            Self::Question => Right::Suggest,
            Self::Approval | Self::SafetyCheck | Self::Budget => Right::Drive,
        }
    }
}

impl DecisionState {
    pub const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Expired, Self::Withdrawn];

    /// As it is written in the store and on the wire.
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

    /// What counts as the answer.
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
    /// The reply as it is kept, if it answers this form.
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
            (Self::YesNo, Reply::Yes(yes)) => Ok(Reply::Yes(yes)),
            (Self::File, Reply::File(head)) => Ok(Reply::File(head)),
            (Self::Text | Self::Choices { .. } | Self::YesNo | Self::File, _) => {
                Err(BadReply::WrongForm {
                    wanted: self.wanted(),
                })
            }
        }
    }

    /// What an answer is, in words.
    fn wanted(&self) -> &'static str {
        match self {
            Self::Text => "`text`",
            Self::Choices { .. } => "`choices`",
            Self::YesNo => "`yes`: true or false",
            Self::File => "a `file`",
        }
    }
}

/// The chosen values, each once and in the order in which they are offered.
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

impl GivenFile {
    /// What is kept of it in the log, if it may be given.
    pub fn head(&self) -> Result<FileHead, BadReply> {
        let n_chars = self.name.chars().count();
        let is_name = (1..=LONGEST_FILE_NAME).contains(&n_chars)
            && !self.name.starts_with('.')
            && !self.name.contains(['/', '\\'])
            && !self.name.chars().any(char::is_control);
        if !is_name {
            return Err(BadReply::FileName);
        }
        if self.bytes.len() > LARGEST_FILE_BYTES {
            return Err(BadReply::LargeFile);
        }
        Ok(FileHead {
            name: self.name.clone(),
            n_bytes: u64::try_from(self.bytes.len()).unwrap_or(u64::MAX),
        })
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
