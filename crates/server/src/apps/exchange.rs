//! Exchanges the token in a link for a cookie, and redirects the browser to the same address without the token.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, Uri, header, request::Parts},
};
use deskhand_app::{AppPass, PassKind};
use deskhand_core::secret::Secret;

use super::{Gate, proxy};

/// The query parameter that holds the token.
const PARAMETER: &str = "token";
/// The time for which browsers keep the cookie. The expiry in its value decides how long it is valid.
const COOKIE_SECONDS: u32 = 12 * 3600;

impl Gate {
    /// Signs a person in whose address has a valid token. Returns `None` for a request without one.
    ///
    /// Programs may use a parameter with the same name themselves. So a token that is not ours is no error: the cookie
    /// decides then.
    pub(super) async fn exchange(
        &self,
        parts: &Parts,
    ) -> Result<Option<Response<Body>>, Response<Body>> {
        let Some(token) = token_of(&parts.uri) else {
            return Ok(None);
        };
        let notice = self.notice(parts);
        let apps = self.shared.app.apps();
        let (session, service) = (self.host.session, self.host.service);
        let read = apps.read(&token, PassKind::Open, session, service).await;
        let Some(pass) = read.map_err(|error| notice.failed(&error.to_string()))? else {
            return Ok(None);
        };
        let visitor = self.admit(parts, pass).await?;
        let woken = apps.wake(visitor.pass.user, session, service).await;
        woken.map_err(|error| proxy::explain(error, &notice))?;
        let path = path_of(&parts.uri);
        let cookie = self.cookie(&visitor.pass, &path).await;
        let cookie = cookie.map_err(|problem| notice.failed(&problem))?;
        // The address is absolute, since a path such as `//example.com` would lead to another host.
        let location = format!("{}{path}", self.host.origin(&self.site));
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        if let Ok(location) = HeaderValue::try_from(location) {
            headers.insert(header::LOCATION, location);
        }
        headers.insert(header::SET_COOKIE, cookie);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        );
        Ok(Some(response))
    }

    /// Returns the `Set-Cookie` header, or the reason why there is none.
    async fn cookie(&self, pass: &AppPass, landing: &str) -> Result<HeaderValue, String> {
        let value = self.shared.app.apps().stay(pass, landing).await;
        let value = value.map_err(|error| error.to_string())?;
        let (name, attributes) = (self.site.cookie(), self.site.cookie_attributes());
        let cookie = format!(
            "{name}={}; Path=/; HttpOnly; Max-Age={COOKIE_SECONDS}{attributes}",
            value.expose()
        );
        let mut cookie = HeaderValue::try_from(cookie).map_err(|error| error.to_string())?;
        cookie.set_sensitive(true);
        Ok(cookie)
    }
}

fn token_of(uri: &Uri) -> Option<Secret> {
    let pairs = uri.query()?.split('&');
    let mut tokens = pairs.filter_map(|pair| pair.strip_prefix(PARAMETER)?.strip_prefix('='));
    tokens.next().map(Secret::new)
}

/// Returns the path with the query, without the token.
pub(super) fn path_of(uri: &Uri) -> String {
    let is_kept = |pair: &&str| {
        let rest = pair.strip_prefix(PARAMETER);
        !rest.is_some_and(|rest| rest.starts_with('='))
    };
    let query: Vec<&str> = uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(is_kept)
        .collect();
    let query = query.join("&");
    if query.is_empty() {
        uri.path().to_owned()
    } else {
        format!("{}?{query}", uri.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_removed_and_nothing_else() {
        for (given, kept) in [
            ("/?token=x", "/"),
            ("/a/b?token=x&c=d", "/a/b?c=d"),
            ("/a?c=d&token=x&tokens=e", "/a?c=d&tokens=e"),
            ("//evil.example/?token=x", "//evil.example/"),
            ("/a?c", "/a?c"),
        ] {
            assert_eq!(path_of(&given.parse().unwrap()), kept);
        }
        let uri = "/a?tokens=1&token=abc".parse().unwrap();
        assert_eq!(token_of(&uri).unwrap().expose(), "abc");
        assert!(token_of(&"/a?tokens=1".parse().unwrap()).is_none());
    }
}
