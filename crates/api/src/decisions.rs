//! Decisions of people, and their answers.

use deskhand_core::{
    budget::Over,
    decision::{AnswerScope, DecisionKind, DecisionState, Form, Reply, Subject},
    id::{DecisionId, SessionId, TurnId, UserId},
    policy::Rule,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A question to people, with its state and answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Decision)]
pub struct DecisionView {
    #[schema(value_type = Uuid)]
    pub id: DecisionId,
    #[schema(value_type = Uuid)]
    pub session_id: SessionId,
    pub session_title: String,
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The tool call that waits for the answer.
    #[schema(required)]
    pub call: Option<String>,
    pub kind: DecisionKind,
    /// The question, for people.
    pub prompt: String,
    pub form: Form,
    /// The exact action, if there is one.
    #[schema(required)]
    pub subject: Option<Subject>,
    /// The bound that the agent would pass, if that is the reason.
    #[schema(required)]
    pub over: Option<Over>,
    /// The rule that an answer with `for` adds. Null if the same cannot be allowed for longer than once.
    #[serde(default)]
    #[schema(required)]
    pub rule: Option<Rule>,
    /// The answer that counts if no one gives one in time.
    #[schema(required)]
    pub default: Option<Reply>,
    /// Null if it never expires.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub state: DecisionState,
    /// The answer that counts, which is the default after an expiry.
    #[schema(required)]
    pub answer: Option<Reply>,
    /// The person who answered, if one did.
    #[schema(required, value_type = Option<Uuid>)]
    pub answered_by: Option<UserId>,
    #[schema(required)]
    pub answered_by_name: Option<String>,
    /// The time at which it was answered, expired or was withdrawn.
    #[schema(required)]
    pub settled_at: Option<Timestamp>,
}

/// A page of decisions, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = DecisionsPage)]
pub struct DecisionsView {
    pub decisions: Vec<DecisionView>,
    /// The `before` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<DecisionId>,
}

/// An answer. Exactly one of `text`, `choices`, `yes` and `file` is set, the one that the form asks for. A `text` answers
/// every question of an agent: none of its choices may fit.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = AnswerDecision)]
#[serde(deny_unknown_fields)]
pub struct AnswerBody {
    /// At most 64 KiB in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 65536, nullable = false)]
    pub text: Option<String>,
    /// The values of the chosen choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 50, nullable = false)]
    pub choices: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub yes: Option<bool>,
    /// With a yes, the sessions in which the same is allowed from now on. Absent, it is allowed once. `always` is for the
    /// owner.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scope: Option<AnswerScope>,
    /// With a no, words for the agent. At most 4 KiB in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096, nullable = false)]
    pub because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub file: Option<AnswerFile>,
}

impl AnswerBody {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    pub fn choices(values: Vec<String>) -> Self {
        Self {
            choices: Some(values),
            ..Self::default()
        }
    }

    pub fn yes(yes: bool) -> Self {
        Self {
            yes: Some(yes),
            ..Self::default()
        }
    }

    /// Returns a yes that holds for longer than once.
    pub fn yes_for(scope: AnswerScope) -> Self {
        Self {
            scope: Some(scope),
            ..Self::yes(true)
        }
    }

    /// Returns a no with words for the agent.
    pub fn no_because(reason: impl Into<String>) -> Self {
        Self {
            because: Some(reason.into()),
            ..Self::yes(false)
        }
    }

    pub fn file(file: AnswerFile) -> Self {
        Self {
            file: Some(file),
            ..Self::default()
        }
    }
}

/// A file for the agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerFile {
    /// The name, without slashes.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The bytes, at most 700 KiB, in base64.
    #[schema(content_encoding = "base64")]
    pub base64: String,
}
