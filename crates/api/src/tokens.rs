//! API tokens.

use deskhand_core::{
    id::TokenId,
    secret::Secret,
    user::{Scope, Token},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token to create.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CreateToken)]
#[serde(deny_unknown_fields)]
pub struct CreateTokenBody {
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// `write` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The time of expiry. Without it the token never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A token without its secret.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Token)]
pub struct TokenView {
    #[schema(value_type = Uuid)]
    pub id: TokenId,
    #[schema(max_length = 64)]
    pub name: String,
    /// Its first characters, by which people recognise it. Empty for tokens of early versions.
    pub prefix: String,
    pub scope: Scope,
    pub created_at: Timestamp,
    /// Null if it never expires.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
}

/// A new token.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = MadeToken)]
pub struct MadeTokenView {
    #[serde(flatten)]
    pub about: TokenView,
    /// The token itself, shown only this once.
    #[schema(value_type = String)]
    pub token: Secret,
}

/// Your tokens.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Tokens)]
pub struct TokensView {
    pub tokens: Vec<TokenView>,
}

impl From<Token> for TokenView {
    fn from(token: Token) -> Self {
        Self {
            id: token.id,
            name: token.name,
            prefix: token.prefix,
            scope: token.scope,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
        }
    }
}
