//! Decisions: what a person is asked before the agent goes on.
//!
//! One mechanism for the agent's questions, approvals of what it is about to do, a vendor's safety
//! checks and budgets that are used up. A decision is settled once: by the first valid answer, by
//! its expiry, or because its turn ended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The tool call that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub kind: DecisionKind,
    /// The question, for people.
    pub prompt: String,
    pub form: Form,
    /// Exactly what would be done, where something would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The bound that would be passed, where that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
    /// What counts as the answer when nobody gave one in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Reply>,
    /// It waits for ever without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The tool use that a person is asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    pub tool: String,
    pub input: serde_json::Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Form {
    Text,
    /// One of these, or several.
    Choices {
        choices: Vec<Choice>,
        #[serde(default)]
        several: bool,
    },
    YesNo,
    File,
}

/// One of several possible answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What the agent is told.
    pub value: String,
    /// What people read.
    pub label: String,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Text(String),
    /// Values of choices, in the order in which they are offered.
    Choices(Vec<String>),
    Yes(bool),
    /// What is known of a file; its bytes are kept beside it.
    File(FileHead),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
mod tests {
    use super::*;

    fn choices(several: bool) -> Form {
        let choice = |value: &str| Choice {
            value: value.to_owned(),
            label: value.to_uppercase(),
        };
        Form::Choices {
            choices: vec![choice("a"), choice("b"), choice("c")],
            several,
        }
    }

    fn values(values: &[&str]) -> Reply {
        Reply::Choices(values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn replies_are_held_against_the_form() {
        let text = |text: &str| Reply::Text(text.to_owned());
        assert_eq!(Form::Text.check(text("yes")), Ok(text("yes")));
        assert_eq!(Form::Text.check(text(" \n")), Err(BadReply::Empty));
        let long = "ü".repeat(LONGEST_ANSWER_BYTES / 2 + 1);
        assert_eq!(Form::Text.check(text(&long)), Err(BadReply::Long));
        assert_eq!(Form::YesNo.check(Reply::Yes(false)), Ok(Reply::Yes(false)));
        for form in [Form::YesNo, Form::File, choices(true)] {
            let refused = form.check(text("yes"));
            assert!(
                matches!(refused, Err(BadReply::WrongForm { .. })),
                "{form:?}"
            );
        }
    }

    #[test]
    fn only_what_is_offered_can_be_chosen() {
        let one = choices(false);
        assert_eq!(one.check(values(&["b"])), Ok(values(&["b"])));
        assert_eq!(one.check(values(&["b", "b"])), Ok(values(&["b"])));
        assert_eq!(one.check(values(&[])), Err(BadReply::NotOne));
        assert_eq!(one.check(values(&["a", "b"])), Err(BadReply::NotOne));
        let several = choices(true);
        assert_eq!(several.check(values(&["c", "a"])), Ok(values(&["a", "c"])));
        assert_eq!(several.check(values(&[])), Err(BadReply::None));
        let refused = several.check(values(&["a", "d"]));
        let told = refused.unwrap_err().to_string();
        assert_eq!(told, r#""d" is not offered; the choices are a, b, c"#);
    }

    #[test]
    fn a_file_has_a_plain_name_and_a_bounded_size() {
        let file = |name: &str, n_bytes: usize| GivenFile {
            name: name.to_owned(),
            bytes: vec![0; n_bytes],
        };
        assert!(file("Übersicht 2.csv", LARGEST_FILE_BYTES).head().is_ok());
        for name in ["", ".", "..", ".bashrc", "a/b", "a\\b", "a\nb"] {
            assert_eq!(file(name, 1).head(), Err(BadReply::FileName), "{name:?}");
        }
        let large = file("a", LARGEST_FILE_BYTES + 1);
        assert_eq!(large.head(), Err(BadReply::LargeFile));
    }
}
