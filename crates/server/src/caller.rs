//! Who is asking.

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
};
use deskhand_app::Users;
use deskhand_core::{id::UserId, secret::Secret, viewer::Viewer};

use crate::{Shared, problem::Problem};

/// The cookie's name.
pub(crate) const COOKIE: &str = "deskhand";

/// The signed-in user behind a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) UserId);

impl Caller {
    pub(crate) fn viewer(self) -> Viewer {
        Viewer::User(self.0)
    }
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let users = Users::from_ref(shared);
        let user = if let Some(token) = bearer(&parts.headers) {
            users.user_of_token(&token).await?
        } else if let Some(cookie) = cookie(&parts.headers) {
            from_our_page(parts)?;
            users.user_of_cookie(&cookie).await?
        } else {
            None
        };
        user.map(|user| Self(user.id))
            .ok_or_else(Problem::not_signed_in)
    }
}

fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| Secret::new(token.trim()))
}

/// The value of our cookie.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<Secret> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| Secret::new(value))
}

/// Refuses what another site makes a signed-in browser send: requests that change something, and
/// every `WebSocket`, which no browser keeps to its own site.
fn from_our_page(parts: &Parts) -> Result<(), Problem> {
    let harmless = matches!(parts.method, Method::GET | Method::HEAD)
        && !parts.headers.contains_key(header::UPGRADE);
    if harmless {
        return Ok(());
    }
    let text = |name| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let host = text(header::HOST);
    let origin = text(header::ORIGIN)
        .and_then(|origin| origin.split_once("://"))
        .map(|(_, host)| host);
    if origin.is_some() && origin == host {
        Ok(())
    } else {
        let message =
            "with a cookie this works only from Deskhand's own page; programs send a bearer token";
        Err(Problem::refuse(
            StatusCode::FORBIDDEN,
            "wrong_origin",
            message,
        ))
    }
}
