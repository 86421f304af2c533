//! Users, sign-in and settings.

use deskhand_core::{
    id::{SignInId, UserId},
    policy::Policy,
    secret::Secret,
    user::{User, UserRole},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A user to add.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CreateUser)]
#[serde(deny_unknown_fields)]
pub struct CreateUserBody {
    /// Unique regardless of case.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// `member` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<UserRole>,
}

/// A change to a user.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeUser)]
#[serde(deny_unknown_fields)]
pub struct ChangeUserBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64)]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<UserRole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

/// A code to sign in with.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SignIn)]
#[serde(deny_unknown_fields)]
pub struct SignInBody {
    /// The code from a sign-in link (`/#code=…`). It is valid once, for ten minutes.
    #[schema(value_type = String, format = Password)]
    pub code: Secret,
    /// True to sign in although the browser is signed in as another user. That sign-in ends.
    #[serde(default)]
    pub replace: bool,
}

/// An invitation for a user, or a reset of their sign-in.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = InviteUser)]
#[serde(deny_unknown_fields)]
pub struct InviteBody {
    /// True for a user who has signed in before. All their sign-ins end, and their history says so.
    #[serde(default)]
    pub reset: bool,
}

/// A link that signs a user in once.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SignInLink)]
pub struct SignInLinkView {
    #[schema(format = "uri")]
    pub url: String,
    pub expires_at: Timestamp,
}

/// A person who can sign in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    #[schema(value_type = Uuid)]
    pub id: UserId,
    #[schema(max_length = 64)]
    pub name: String,
    pub role: UserRole,
    /// False if the user is signed out everywhere and cannot sign in.
    pub active: bool,
    pub created_at: Timestamp,
}

/// A page of users, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = UsersPage)]
pub struct UsersView {
    pub users: Vec<UserView>,
    /// The `after` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<UserId>,
}

/// A browser in which you are signed in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SignedInBrowser)]
pub struct SignInView {
    #[schema(value_type = Uuid)]
    pub id: SignInId,
    /// Null for sign-ins of early versions.
    #[schema(required)]
    pub created_at: Option<Timestamp>,
    /// Up to a minute behind after a server was killed.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    /// The address from which the browser signed in, as the server saw it.
    #[schema(required)]
    pub address: Option<String>,
    /// The name that the browser gives itself.
    #[schema(required)]
    pub browser: Option<String>,
    /// True for the browser that asks.
    pub current: bool,
}

/// The browsers in which you are signed in, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SignIns)]
pub struct SignInsView {
    pub sign_ins: Vec<SignInView>,
}

/// Your settings.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Settings)]
#[serde(deny_unknown_fields)]
pub struct SettingsView {
    /// The approvals that agents need in sessions that you create from now on.
    pub approvals: Policy,
}

/// The layout of a user's session page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Layout)]
pub struct LayoutView {
    /// The arrangement as the page stored it. Null if there is none.
    #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
    pub layout: Option<serde_json::Value>,
}

/// A new layout.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PutLayout)]
#[serde(deny_unknown_fields)]
pub struct LayoutBody {
    /// At most 16 KiB as JSON.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub layout: serde_json::Map<String, serde_json::Value>,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            role: user.role,
            active: user.active,
            created_at: user.created_at,
        }
    }
}
