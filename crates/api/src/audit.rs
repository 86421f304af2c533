//! The audit log.

use deskhand_core::{
    audit::AuditEntry,
    id::{AuditId, SessionId, UserId},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A change to an account, a right, a token, a secret, a policy or a limit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditEntryView {
    #[schema(value_type = Uuid)]
    pub id: AuditId,
    pub at: Timestamp,
    /// A stable name, such as `token.created`. A newer server may send others.
    pub action: String,
    /// A sentence for people, to stand behind the name of the actor: `created the token ci with the scope write`.
    pub summary: String,
    /// The user who made the change. Null if the server itself did.
    #[schema(required, value_type = Option<Uuid>)]
    pub actor: Option<UserId>,
    /// Names are those at the time of the change.
    #[schema(required)]
    pub actor_name: Option<String>,
    /// The token that the request came with, if it was one.
    #[schema(required)]
    pub token_name: Option<String>,
    /// The user whose account or right changed.
    #[schema(required, value_type = Option<Uuid>)]
    pub user: Option<UserId>,
    #[schema(required)]
    pub user_name: Option<String>,
    #[schema(required, value_type = Option<Uuid>)]
    pub session: Option<SessionId>,
    /// The address that the request came from, as the server saw it. Your own history leaves out those of others.
    #[schema(required)]
    pub address: Option<String>,
    #[schema(value_type = Object)]
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// A page of the audit log, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditPage)]
pub struct AuditView {
    pub entries: Vec<AuditEntryView>,
    /// The `before` of the next page, if there is one.
    #[schema(required, value_type = Option<Uuid>)]
    pub next: Option<AuditId>,
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            summary: entry.summary(),
            id: entry.id,
            at: entry.at,
            action: entry.action,
            actor: entry.actor,
            actor_name: entry.actor_name,
            token_name: entry.token_name,
            user: entry.user,
            user_name: entry.user_name,
            session: entry.session,
            address: entry.address,
            details: entry.details,
        }
    }
}
