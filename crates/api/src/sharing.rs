//! People in a session, and links that let them in.

use deskhand_core::{
    id::{ShareId, UserId},
    right::Right,
    secret::Secret,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A right to grant.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = GrantRight)]
#[serde(deny_unknown_fields)]
pub struct GrantBody {
    /// The right. With `owner` they become the owner and you keep `drive`.
    pub right: Right,
}

/// A link to create.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ShareSession)]
#[serde(deny_unknown_fields)]
pub struct ShareBody {
    #[schema(value_type = GivenRight)]
    pub right: Right,
    /// The time of expiry. A week from now by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A link to follow.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = JoinSession)]
#[serde(deny_unknown_fields)]
pub struct JoinBody {
    /// The code from a link into a session (`/?share=…`).
    #[schema(value_type = String, format = Password)]
    pub code: Secret,
}

/// A right that a link can give.
// Only the schema uses it: `app` refuses the other rights with its own error code.
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
    /// True if they have a stream open.
    pub here: bool,
}

/// Everyone who has a right in a session, the owner first.
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
    /// The code of the link, shown only once.
    #[schema(value_type = String)]
    pub code: Secret,
    /// The whole link, shown only once.
    #[schema(format = "uri")]
    pub url: String,
}

/// The valid links of a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Shares)]
pub struct SharesView {
    pub shares: Vec<ShareView>,
}
