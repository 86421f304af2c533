//! The audit log: changes to accounts, rights, tokens, secrets, policies and limits.
//!
//! Entries are only ever added. A new action is one line in [`audit_actions!`].

use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::id::{AuditId, SessionId, TokenId, UserId};

/// The party behind a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Requester {
    /// `None` if the server itself made the change.
    pub user: Option<UserId>,
    /// The token that the request came with, if it was one.
    pub token: Option<TokenId>,
    /// The address that the request came from, as the server sees it.
    pub address: Option<IpAddr>,
}

/// The party behind a change, and the time of the change. Every audited change takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditStamp {
    pub by: Requester,
    pub at: Timestamp,
}

/// One entry of the audit log. Names are those at the time of the change.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    pub id: AuditId,
    pub at: Timestamp,
    /// [`AuditAction::name`]. An older server may read one that it does not know.
    pub action: String,
    pub actor: Option<UserId>,
    pub actor_name: Option<String>,
    /// The name of the token that the request came with.
    pub token_name: Option<String>,
    /// The user whose account or right changed.
    pub user: Option<UserId>,
    pub user_name: Option<String>,
    pub session: Option<SessionId>,
    pub address: Option<String>,
    pub details: Map<String, Value>,
}

/// One page of the audit log, newest first.
#[derive(Debug)]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    /// The beginning of the next page, if there is one.
    pub next: Option<AuditId>,
}

/// A selection of entries.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Entries by this user, or about them.
    pub user: Option<UserId>,
    /// The name of an action, or its subject.
    pub action: Option<String>,
    pub before: Option<AuditId>,
    pub limit: u32,
}

/// Declares the audited actions: the variant, its stable name, and the sentence behind the name of the actor.
///
/// In a sentence, `{user}` stands for the user whom the change is about, and every other name in braces for the detail
/// of that name.
macro_rules! audit_actions {
    ($($action:ident($name:literal): $sentence:literal,)+) => {
        /// An action that the audit log records.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AuditAction {
            $($action,)+
        }

        impl AuditAction {
            pub const ALL: &'static [Self] = &[$(Self::$action,)+];

            /// Returns the name in the store and on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)+
                }
            }

            fn sentence(self) -> &'static str {
                match self {
                    $(Self::$action => $sentence,)+
                }
            }
        }
    };
}

audit_actions! {
    UserCreated("user.created"): "added the user {user} as {role}",
    UserChanged("user.changed"): "changed the user {user}: {changes}",
    SignInLinkCreated("sign_in.link_created"): "created a sign-in link",
    UserInvited("sign_in.invited"): "created an invitation for {user}",
    SignInReset("sign_in.reset"): "reset the sign-in of {user}, sign-ins ended: {n_ended}",
    SignedIn("sign_in.started"): "signed in",
    SignInEnded("sign_in.ended"): "ended a sign-in: {how}",
    SignedOutEverywhere("sign_in.all_ended"): "signed out everywhere, sign-ins ended: {n_ended}",
    TokenCreated("token.created"): "created the token {name} with the scope {scope}",
    TokenRevoked("token.revoked"): "revoked the token {name}",
    SecretStored("secret.stored"): "stored the secret {name} for {origins}",
    SecretReplaced("secret.replaced"): "replaced the secret {name} for {origins}",
    HttpSecretStored("secret.http_stored"): "stored the secret {name} for requests to {origins}, in {headers} and as ${env}",
    HttpSecretReplaced("secret.http_replaced"):
        "replaced the secret {name} for requests to {origins}, in {headers} and as ${env}",
    SecretRemoved("secret.removed"): "removed the secret {name}",
    DefaultApprovalsChanged("approvals.default_changed"): "set the approvals of new sessions to {mode}",
    ApprovalsChanged("approvals.changed"): "set the approvals of a session to {mode}",
    BudgetChanged("budget.changed"): "set the budget of a session to {budget}",
    NetworkChanged("network.changed"): "set the network of a session to {mode}",
    NetworkAllowed("network.allowed"): "let all sessions of {user} contact {host}",
    NetworkListChanged("network.list_changed"): "set the hosts that all sessions of {user} may contact to {allow}",
    McpServersChanged("mcp.changed"): "set the MCP servers of a session to {servers}",
    LimitsChanged("limits.changed"): "set the limits of {user}",
    LimitRaised("limits.raised"): "raised the daily budget of {user} by {more}",
    RightGiven("right.given"): "gave {user} the right {right} in a session",
    RightRemoved("right.removed"): "removed {user} from a session",
    RightLeft("right.left"): "left a session",
    LinkCreated("link.created"): "created a link into a session with the right {right}",
    LinkEnded("link.ended"): "ended a link into a session",
    LinkFollowed("link.followed"): "joined a session by a link, with the right {right}",
    WatchLinkCreated("watch_link.created"): "created a watch link of a session",
    WatchLinkRevoked("watch_link.revoked"): "revoked a watch link of a session",
    PortShared("port.shared"): "let everybody in a session use port {port}",
    PortUnshared("port.unshared"): "let only people who may drive a session use port {port}",
    OfferMade("offer.made"): "offered {user} a session",
    OfferWithdrawn("offer.withdrawn"): "withdrew the offer of a session to {user}",
    OfferDeclined("offer.declined"): "declined a session of {user}",
    OfferAccepted("offer.accepted"): "accepted a session of {user}, who keeps the right {right}",
}

impl Requester {
    /// The server itself.
    pub const SERVER: Self = Self {
        user: None,
        token: None,
        address: None,
    };

    /// Returns this party with the time of its change.
    pub fn at(self, at: Timestamp) -> AuditStamp {
        AuditStamp { by: self, at }
    }
}

impl From<UserId> for Requester {
    fn from(user: UserId) -> Self {
        Self {
            user: Some(user),
            ..Self::SERVER
        }
    }
}

impl AuditAction {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// Returns the part of the name before the dot.
    pub fn subject(self) -> &'static str {
        let name = self.name();
        name.split_once('.').map_or(name, |(subject, _)| subject)
    }
}

impl AuditEntry {
    /// Returns the sentence for people, without the actor's name in front.
    pub fn summary(&self) -> String {
        let Some(action) = AuditAction::from_name(&self.action) else {
            return self.action.clone();
        };
        let mut summary = String::new();
        let mut rest = action.sentence();
        while let Some((before, name, after)) = placeholder(rest) {
            summary.push_str(before);
            summary.push_str(&self.word(name));
            rest = after;
        }
        summary + rest
    }

    fn word(&self, name: &str) -> String {
        let user = self.user_name.clone().filter(|_| name == "user");
        user.unwrap_or_else(|| match self.details.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "?".to_owned(),
        })
    }
}

/// Splits a sentence at its first placeholder.
fn placeholder(sentence: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = sentence.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    fn entry(action: &str, details: Value) -> AuditEntry {
        let Value::Object(details) = details else {
            panic!("details are an object");
        };
        AuditEntry {
            id: AuditId::new(),
            at: Timestamp::UNIX_EPOCH,
            action: action.to_owned(),
            actor: None,
            actor_name: None,
            token_name: None,
            user: None,
            user_name: Some("Ada".to_owned()),
            session: None,
            address: None,
            details,
        }
    }

    #[test]
    fn a_sentence_names_the_user_and_the_details() {
        let reset = entry("sign_in.reset", json!({"n_ended": 2}));
        assert_eq!(
            reset.summary(),
            "reset the sign-in of Ada, sign-ins ended: 2"
        );
        let token = entry(
            "token.created",
            json!({"name": "ci {scope}", "scope": "write"}),
        );
        assert_eq!(
            token.summary(),
            "created the token ci {scope} with the scope write"
        );
    }

    #[test]
    fn an_action_of_a_newer_server_is_shown_by_its_name() {
        assert_eq!(entry("moon.landed", json!({})).summary(), "moon.landed");
    }

    #[test]
    fn every_action_has_a_name_of_its_own() {
        let names: HashSet<_> = AuditAction::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names.len(), AuditAction::ALL.len());
    }
}
