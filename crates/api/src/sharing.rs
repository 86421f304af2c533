//! People in a session, and links that let them in.

use deskhand_core::{
    id::{ShareId, UserId},
    right::Right,
    secret::Secret,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A right to give.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = GrantRight)]
#[serde(deny_unknown_fields)]
pub struct GrantBody {
    /// With `owner` they become the owner and you keep `drive`.
    pub right: Right,
}

/// A link to make.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ShareSession)]
#[serde(deny_unknown_fields)]
pub struct ShareBody {
    #[schema(value_type = GivenRight)]
    pub right: Right,
    /// A week from now by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A link to follow.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = JoinSession)]
#[serde(deny_unknown_fields)]
pub struct JoinBody {
    /// From a link into a session: `/?share=…`.
    #[schema(value_type = String, format = Password)]
    pub code: Secret,
}

/// A right that a link can give, for the schema: `app` refuses the others with a code of its own.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GivenRight {
    View,
    Suggest,
    Drive,
}

/// A person who has a right in a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Person)]
pub struct PersonView {
    #[schema(value_type = Uuid)]
    pub id: UserId,
    #[schema(max_length = 64)]
    pub name: String,
    pub right: Right,
    /// They have a stream open.
    pub here: bool,
}

/// Everybody who has a right in a session, the owner first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = People)]
pub struct PeopleView {
    pub people: Vec<PersonView>,
}

/// A link that lets people into a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Share)]
pub struct ShareView {
    #[schema(value_type = Uuid)]
    pub id: ShareId,
    #[schema(value_type = GivenRight)]
    pub right: Right,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A new link.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = MadeShare)]
pub struct MadeShareView {
    #[serde(flatten)]
    pub about: ShareView,
    /// Shown this once.
    #[schema(value_type = String)]
    pub code: Secret,
    /// Shown this once.
    #[schema(format = "uri")]
    pub url: String,
}

/// The links of a session that still work.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Shares)]
pub struct SharesView {
    pub shares: Vec<ShareView>,
}
