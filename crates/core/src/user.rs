//! Users who may sign in, and the permissions of their tokens.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{SignInId, TokenId, UserId};

/// The longest name of a user or a token, in characters.
pub const LONGEST_NAME: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Unique regardless of case.
    pub name: String,
    pub role: UserRole,
    /// False if the user is signed out everywhere and cannot sign in.
    pub active: bool,
    pub created_at: Timestamp,
}

/// One page of the list of users, oldest first.
#[derive(Debug)]
pub struct UserPage {
    pub users: Vec<User>,
    /// The beginning of the next page, if there is one.
    pub next: Option<UserId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserRole {
    /// May also manage users. Sees no more of other people's sessions than any other user.
    Admin,
    Member,
}

impl UserRole {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Admin, Self::Member]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

/// The permissions of a token. Each includes those before it, except that metrics need `Metrics` or `Admin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Only the metrics of the server, for an administrator's monitoring.
    Metrics,
    /// Reading and watching.
    Read,
    /// Also everything else about sessions.
    Write,
    /// Also the account: tokens, sign-in links and, for an administrator, users.
    Admin,
}

impl Scope {
    /// Returns the name in the store and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Metrics, Self::Read, Self::Write, Self::Admin]
            .into_iter()
            .find(|scope| scope.name() == name)
    }
}

/// An API token as it is listed. The token itself is stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub name: String,
    /// Its first characters, so that people recognize it. Empty for tokens of early versions.
    pub prefix: String,
    pub scope: Scope,
    pub created_at: Timestamp,
    /// The time of expiry. Without it the token never expires.
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

/// A user who has proven their identity, and the permissions of the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub user: UserId,
    pub role: UserRole,
    pub scope: Scope,
    /// The token that proved it, if one did.
    pub token: Option<TokenId>,
    /// The time at which the proof expires.
    pub expires_at: Option<Timestamp>,
}

/// A browser in which a user is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    pub id: SignInId,
    pub created_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    /// The address from which it signed in, as the server saw it. Absent for sign-ins of early versions.
    pub address: Option<String>,
    /// The name that it gives itself.
    pub name: Option<String>,
}

/// The reason why a text cannot be the name of a user or a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a name has 1 to {LONGEST_NAME} characters, none of them a control character, and is not an id"
)]
pub struct BadName;

/// Checks a name, and returns it without the whitespace around it.
///
/// A name must not look like an id, since some places accept either.
pub fn check_name(name: &str) -> Result<&str, BadName> {
    let name = name.trim();
    let good = !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && !name.chars().any(char::is_control)
        && name.parse::<UserId>().is_err();
    if good { Ok(name) } else { Err(BadName) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_checked() {
        assert_eq!(check_name(" Ada Lovelace "), Ok("Ada Lovelace"));
        assert_eq!(check_name(&"ü".repeat(64)).map(str::len), Ok(128));
        for bad in [
            "",
            "  ",
            "a\0b",
            "a\nb",
            &"u".repeat(65),
            "0190163d-8694-739b-aea5-966c26f8ad91",
        ] {
            assert_eq!(check_name(bad), Err(BadName), "{bad:?}");
        }
    }
}
