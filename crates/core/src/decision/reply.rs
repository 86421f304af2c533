//! Answers, in memory and on the wire.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

use super::FileHead;

/// The longest reason for a no, in bytes of UTF-8.
pub const LONGEST_REASON_BYTES: usize = 4 * 1024;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ReplyFields", into = "ReplyFields")]
pub enum Reply {
    Text(String),
    /// The values of the choices, in the order in which they are offered.
    Choices(Vec<String>),
    Yes(bool),
    /// Yes, and a rule allows the same from now on.
    YesFor(AnswerScope),
    /// No, with words for the agent.
    NoBecause(String),
    /// The name and size of a file. Its bytes are stored separately.
    File(FileHead),
}

/// The sessions in which an approval holds from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerScope {
    /// The rule is added to the session's policy.
    Session,
    /// The rule is added to the session's policy, and to the one of the owner's new sessions.
    Always,
}

/// An answer as it is stored and sent: an object with one of `text`, `choices`, `yes` and `file`.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
enum ReplyFields {
    Text {
        text: String,
    },
    /// The values of the choices, in the order in which they are offered.
    Choices {
        choices: Vec<String>,
    },
    Yes {
        yes: bool,
        /// The sessions in which the same is allowed from now on. Absent for a yes that counts once.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        scope: Option<AnswerScope>,
        /// The words for the agent that came with a no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        because: Option<String>,
    },
    /// The name and size of a file. Its bytes are stored separately.
    File {
        file: FileHead,
    },
}

impl Reply {
    /// Returns true if this is a yes, for once or for longer.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(true) | Self::YesFor(_))
    }

    /// Returns true if this is a no.
    pub fn is_no(&self) -> bool {
        matches!(self, Self::Yes(false) | Self::NoBecause(_))
    }

    /// Returns the words that came with a no.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NoBecause(reason) => Some(reason),
            Self::Text(_) | Self::Choices(_) | Self::Yes(_) | Self::YesFor(_) | Self::File(_) => {
                None
            }
        }
    }
}

impl From<Reply> for ReplyFields {
    fn from(reply: Reply) -> Self {
        let yes = |yes, scope, because| Self::Yes {
            yes,
            scope,
            because,
        };
        match reply {
            Reply::Text(text) => Self::Text { text },
            Reply::Choices(choices) => Self::Choices { choices },
            Reply::Yes(answer) => yes(answer, None, None),
            Reply::YesFor(scope) => yes(true, Some(scope), None),
            Reply::NoBecause(reason) => yes(false, None, Some(reason)),
            Reply::File(file) => Self::File { file },
        }
    }
}

impl From<ReplyFields> for Reply {
    fn from(fields: ReplyFields) -> Self {
        match fields {
            ReplyFields::Text { text } => Self::Text(text),
            ReplyFields::Choices { choices } => Self::Choices(choices),
            ReplyFields::Yes {
                yes: true,
                scope: Some(scope),
                ..
            } => Self::YesFor(scope),
            ReplyFields::Yes {
                yes: false,
                because: Some(reason),
                ..
            } => Self::NoBecause(reason),
            ReplyFields::Yes { yes, .. } => Self::Yes(yes),
            ReplyFields::File { file } => Self::File(file),
        }
    }
}

impl PartialSchema for Reply {
    fn schema() -> RefOr<Schema> {
        ReplyFields::schema()
    }
}

impl ToSchema for Reply {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Reply")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ReplyFields::schemas(schemas);
    }
}
