//! People in a session, and links that let them in.

use deskhand_core::{
    id::{SessionId, ShareId, UserId},
    right::{Right, SessionOffer},
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
    /// The right. `owner` is an offer: they become the owner when they accept it.
    pub right: Right,
}

/// A link to create.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ShareSession)]
#[serde(deny_unknown_fields)]
pub struct ShareBody {
    #[schema(value_type = GivenRight)]
    pub right: Right,
    /// The time of expiry, at most 90 days from now. A week from now by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// True if the link ends with its first use.
    #[serde(default)]
    pub single_use: bool,
}

/// The acceptance of a session.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = AcceptOffer)]
#[serde(deny_unknown_fields)]
pub struct AcceptOfferBody {
    /// The right that the owner before keeps. `view` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<GivenRight>)]
    pub giver_keeps: Option<Right>,
}

/// A link to follow.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = JoinSession)]
#[serde(deny_unknown_fields)]
pub struct JoinBody {
    /// The code from a link into a session (`/#share=…`).
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
    /// The open offer of the session. Only its owner sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub offer: Option<OfferView>,
}

/// A session that its owner wants to hand over. It has no new owner before the other accepts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Offer)]
pub struct OfferView {
    #[schema(value_type = Uuid)]
    pub session_id: SessionId,
    pub session_title: String,
    /// The owner.
    #[schema(value_type = Uuid)]
    pub from: UserId,
    pub from_name: String,
    /// The user who can accept.
    #[schema(value_type = Uuid)]
    pub to: UserId,
    pub to_name: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The number of other people with a right in it. They keep the right to view it.
    pub n_people: u64,
    /// True if there are instructions for its agent, which stay.
    pub has_instructions: bool,
}

/// The open offers to you, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Offers)]
pub struct OffersView {
    pub offers: Vec<OfferView>,
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
    /// True if it ends with its first use.
    #[serde(default)]
    #[schema(required)]
    pub single_use: bool,
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

impl From<SessionOffer> for OfferView {
    fn from(offer: SessionOffer) -> Self {
        Self {
            session_id: offer.session,
            session_title: offer.session_title,
            from: offer.from,
            from_name: offer.from_name,
            to: offer.to,
            to_name: offer.to_name,
            created_at: offer.created_at,
            expires_at: offer.expires_at,
            n_people: offer.n_people,
            has_instructions: offer.has_instructions,
        }
    }
}
