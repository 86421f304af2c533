//! Authenticates callers and checks the scope of their tokens.
//!
//! Every handler that needs a signed-in user takes one of these six extractors, so that no route can forget the
//! check. Reading needs the scope `read`, everything else at least `write`. The scope `metrics` gives access to the
//! metrics only.

use std::net::IpAddr;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
};
use deskhand_app::{Credential, Users};
use deskhand_core::{
    audit::Requester,
    id::UserId,
    secret::Secret,
    user::{Identity, Scope, UserRole},
    viewer::Viewer,
};

use crate::{Shared, origin_address::address, problem::Problem};

/// The signed-in user behind a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) UserId);

/// A signed-in user who may manage their own account.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccountHolder(pub(crate) UserId, pub(crate) Requester);

/// A signed-in user who may manage the server and all accounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Administrator(pub(crate) Requester);

/// A caller who may read the server's metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Monitor;

/// A caller's identity and credential, for a connection that stays open and is checked again.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) identity: Identity,
    pub(crate) credential: Credential,
    address: Option<IpAddr>,
}

/// A caller who has sent a token that may at least read. Browsers send no token by themselves, so no page of another site
/// can use one.
#[derive(Debug)]
pub(crate) struct TokenHolder(pub(crate) Pass);

/// A request that our own page sends, from a browser that may not be signed in yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnPage;

impl Caller {
    pub(crate) fn viewer(self) -> Viewer {
        Viewer::User(self.0)
    }
}

impl Pass {
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::User(self.identity.user)
    }

    /// Refuses a token whose scope is too narrow.
    pub(crate) fn require(&self, needed: Scope) -> Result<(), Problem> {
        require(self.identity, needed)
    }

    /// Refuses callers who do not administer the server.
    pub(crate) fn require_administrator(&self) -> Result<(), Problem> {
        require_administrator(self.identity)
    }

    /// Returns the party behind the request, for the audit log.
    pub(crate) fn requester(&self) -> Requester {
        Requester {
            user: Some(self.identity.user),
            token: self.identity.token,
            address: self.address,
        }
    }
}

impl Pass {
    /// Identifies the caller, without checking the scope.
    async fn read(parts: &Parts, shared: &Shared) -> Result<Self, Problem> {
        let credential = if let Some(token) = bearer(&parts.headers) {
            Credential::token(&token)
        } else if let Some(cookie) = cookie(&parts.headers, shared.site.cookie()) {
            if needs_own_page(parts) {
                shared.site.require_own_page(parts)?;
            }
            Credential::cookie(&cookie)
        } else {
            return Err(Problem::not_signed_in());
        };
        let identity = Users::from_ref(shared).identify(&credential).await?;
        let Some(identity) = identity else {
            shared.rates.count_wrong_token(parts)?;
            return Err(Problem::not_signed_in());
        };
        shared.rates.count(&identity)?;
        Ok(Self {
            identity,
            credential,
            address: address(parts),
        })
    }
}

impl FromRequestParts<Shared> for Pass {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let pass = Self::read(parts, shared).await?;
        let needed = match parts.method {
            Method::GET | Method::HEAD => Scope::Read,
            _ => Scope::Write,
        };
        require(pass.identity, needed)?;
        Ok(pass)
    }
}

impl FromRequestParts<Shared> for TokenHolder {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        if bearer(&parts.headers).is_none() {
            return Err(Problem::no_token());
        }
        let pass = Pass::read(parts, shared).await?;
        require(pass.identity, Scope::Read)?;
        Ok(Self(pass))
    }
}

impl FromRequestParts<Shared> for Monitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let Pass { identity, .. } = Pass::read(parts, shared).await?;
        require_administrator(identity)?;
        if identity.scope != Scope::Metrics {
            require(identity, Scope::Admin)?;
        }
        Ok(Self)
    }
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let pass = Pass::from_request_parts(parts, shared).await?;
        Ok(Self(pass.identity.user))
    }
}

impl FromRequestParts<Shared> for AccountHolder {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let pass = Pass::from_request_parts(parts, shared).await?;
        require(pass.identity, Scope::Admin)?;
        Ok(Self(pass.identity.user, pass.requester()))
    }
}

impl FromRequestParts<Shared> for Administrator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let pass = Pass::from_request_parts(parts, shared).await?;
        require_administrator(pass.identity)?;
        require(pass.identity, Scope::Admin)?;
        Ok(Self(pass.requester()))
    }
}

impl FromRequestParts<Shared> for OwnPage {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        shared.site.require_own_page(parts)?;
        Ok(Self)
    }
}

fn require_administrator(identity: Identity) -> Result<(), Problem> {
    if identity.role == UserRole::Admin {
        return Ok(());
    }
    let message = "only administrators may do this";
    Err(Problem::refuse(
        StatusCode::FORBIDDEN,
        "not_administrator",
        message,
    ))
}

/// Refuses a token whose scope is too narrow.
fn require(identity: Identity, needed: Scope) -> Result<(), Problem> {
    if identity.scope >= needed {
        return Ok(());
    }
    let (has, needs) = (identity.scope.name(), needed.name());
    let message = format!(
        "this token has the scope {has}, but this request needs {needs}: create a token with that scope"
    );
    Err(Problem::refuse(
        StatusCode::FORBIDDEN,
        "narrow_scope",
        message,
    ))
}

fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| Secret::new(token.trim()))
}

/// Returns the value of the cookie with our name.
pub(crate) fn cookie(headers: &HeaderMap, our_name: &str) -> Option<Secret> {
    cookies(headers, our_name).next()
}

/// Returns the values of all cookies with this name.
pub(crate) fn cookies(headers: &HeaderMap, our_name: &str) -> impl Iterator<Item = Secret> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(name, _)| *name == our_name)
        .map(|(_, value)| Secret::new(value))
}

/// Returns true if another site could make a signed-in browser send this request, and it would matter.
///
/// This applies to requests that change something, and to every `WebSocket`: browsers do not restrict those to their
/// own site.
fn needs_own_page(parts: &Parts) -> bool {
    !matches!(parts.method, Method::GET | Method::HEAD)
        || parts.headers.contains_key(header::UPGRADE)
}
