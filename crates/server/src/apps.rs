//! The app gateway: services of sandboxes, each on an origin of its own.
//!
//! A sandbox's page is untrusted. Its host differs from that of the dashboard and of every other service, so the browser
//! isolates cookies, storage and frames. Requests are routed by their `Host` before anything else: the API does not answer
//! at a service's host, and no service answers elsewhere. The gateway checks what the browser does not: that a request
//! comes from the service's own page, and that the person may still use the service.

mod body;
mod exchange;
mod headers;
mod notice;
mod origin;
mod proxy;
mod socket;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use deskhand_app::{Admission, AdmitError, AppPass, PassKind};
use tracing::Instrument;

pub(crate) use self::origin::{AppHost, AppSite};
use self::{notice::Notice, origin::HostKind};
use crate::{Shared, caller::cookies, metrics, problem::Problem, request_id};

/// The maximum number of cookies with our name that are tried.
const MOST_COOKIES: usize = 8;
/// The route of services, in metrics and log lines.
const ROUTE: &str = "service";

/// Answers requests for services, and passes all others on to the dashboard.
pub(crate) async fn by_host(
    State(shared): State<Shared>,
    request: Request,
    next: Next,
) -> Response {
    let Some(site) = shared.apps.clone() else {
        return next.run(request).await;
    };
    match site.kind_of(request.uri(), request.headers()) {
        HostKind::Other => next.run(request).await,
        HostKind::Unclear => {
            let message =
                "the request names more than one host; use one of the addresses of this server";
            Problem::refuse(StatusCode::MISDIRECTED_REQUEST, "unknown_host", message)
                .into_response()
        }
        HostKind::App(host) => {
            let span = request_id::span(
                request_id::new_id().as_ref(),
                request.method(),
                Some(ROUTE),
                Some(host.session),
            );
            let count = metrics::begin(request.method());
            let gate = Gate { shared, site, host };
            let answered = request_id::logged(gate.answer(request)).instrument(span);
            let mut response = answered.await;
            count.end(ROUTE.to_owned(), response.status());
            headers::protect(response.headers_mut(), &gate.site);
            response
        }
    }
}

/// Answers the requests for one service.
#[derive(Debug)]
struct Gate {
    shared: Shared,
    site: std::sync::Arc<AppSite>,
    host: AppHost,
}

/// A person who may use the service now.
#[derive(Debug)]
struct Visitor {
    pass: AppPass,
    admission: Admission,
}

/// The initiator of a request, according to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Initiator {
    /// The service's own page, the person themselves, or a program.
    Own,
    /// Another page navigates the browser here.
    Navigation,
    /// Another page sends requests to the service.
    Foreign,
}

impl Gate {
    async fn answer(&self, request: Request) -> Response {
        match self.try_answer(request).await {
            Ok(response) => response,
            Err(notice) => notice,
        }
    }

    async fn try_answer(&self, request: Request) -> Result<Response, Response> {
        let (parts, body) = request.into_parts();
        let notice = self.notice(&parts);
        if let Some(response) = self.exchange(&parts).await? {
            return Ok(response);
        }
        let pass = self.pass(&parts).await?;
        let visitor = self.admit(&parts, pass).await?;
        match initiator(&parts, &self.host.origin(&self.site)) {
            Initiator::Own => {}
            Initiator::Navigation => {
                let path = exchange::path_of(&parts.uri);
                let apps = self.shared.app.apps();
                let has_landed = apps.has_just_landed(&visitor.pass, &path);
                return Err(notice.on_the_way(has_landed));
            }
            Initiator::Foreign => return Err(notice.foreign()),
        }
        let request = Request::from_parts(parts, body);
        self.pass_on(visitor, request).await
    }

    /// Verifies the cookie.
    async fn pass(&self, parts: &Parts) -> Result<AppPass, Response> {
        let notice = self.notice(parts);
        let (session, service) = (self.host.session, self.host.service);
        let apps = self.shared.app.apps();
        let mut has_wrong = false;
        // A page on a sibling host can set a cookie with this name for the whole domain, and it may come first.
        for value in cookies(&parts.headers, self.site.cookie()).take(MOST_COOKIES) {
            let read = apps.read(&value, PassKind::Stay, session, service).await;
            let pass = read.map_err(|error| notice.failed(&error.to_string()))?;
            if let Some(pass) = pass {
                return Ok(pass);
            }
            has_wrong = true;
        }
        if has_wrong {
            let counted = self.shared.rates.count_wrong_token(parts);
            counted.map_err(IntoResponse::into_response)?;
        }
        Err(notice.signed_out())
    }

    /// Checks that the person behind a pass may use the service now.
    async fn admit(&self, parts: &Parts, pass: AppPass) -> Result<Visitor, Response> {
        let notice = self.notice(parts);
        let admitted = self
            .shared
            .app
            .admit(pass.credential.clone(), pass.session)
            .await;
        let admission = admitted.map_err(|error| match error {
            AdmitError::SignedOut => notice.signed_out(),
            AdmitError::Find(error) => notice.not_found(&error),
        })?;
        let apps = self.shared.app.apps();
        let is_same = admission.identity().user == pass.user && admission.may_write();
        if !is_same || !apps.may_use(pass.user, pass.session, pass.service).await {
            return Err(notice.not_allowed());
        }
        let counted = self.shared.rates.count_app(pass.user);
        counted.map_err(IntoResponse::into_response)?;
        Ok(Visitor { pass, admission })
    }

    fn notice(&self, parts: &Parts) -> Notice {
        Notice {
            host: self.host,
            dashboard: self.shared.settings.public_url.clone(),
            // The address is absolute, since a path such as `//example.com` would lead to another host.
            address: format!(
                "{}{}",
                self.host.origin(&self.site),
                exchange::path_of(&parts.uri)
            ),
            is_page: wants_page(&parts.method, &parts.headers),
            tells_people: parts.headers.contains_key("sec-fetch-mode"),
        }
    }
}

/// Returns true if the response is shown to a person.
fn wants_page(method: &Method, headers: &HeaderMap) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    *method == Method::GET && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Returns the initiator of a request.
///
/// Browsers send it in headers that pages cannot set. Without these headers, the client is a program, or an older browser,
/// which at least sends `Origin` with requests that change something. A WebSocket always needs the service's own origin.
fn initiator(parts: &Parts, own: &str) -> Initiator {
    let text = |name: &str| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let is_own_origin = text("origin").map(|origin| origin == own);
    if parts.headers.contains_key(header::UPGRADE) {
        return if is_own_origin == Some(true) {
            Initiator::Own
        } else {
            Initiator::Foreign
        };
    }
    match text("sec-fetch-site") {
        Some("same-origin" | "none") => Initiator::Own,
        Some(_) => {
            let is_read = matches!(parts.method, Method::GET | Method::HEAD);
            if is_read && text("sec-fetch-mode") == Some("navigate") {
                Initiator::Navigation
            } else {
                Initiator::Foreign
            }
        }
        None if is_own_origin == Some(false) => Initiator::Foreign,
        None => Initiator::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initiator_of(method: Method, headers: &[(&str, &str)]) -> Initiator {
        let mut request = axum::http::Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        initiator(&parts, "http://port-3000--s.localhost:7878")
    }

    /// A method, headers, and the expected initiator.
    type InitiatorCase<'a> = (Method, &'a [(&'a str, &'a str)], Initiator);

    #[test]
    fn other_pages_neither_use_nor_read_a_service() {
        use Initiator::{Foreign, Navigation, Own};
        let own = "http://port-3000--s.localhost:7878";
        let other = "http://port-3001--s.localhost:7878";
        let cases: &[InitiatorCase<'_>] = &[
            (Method::GET, &[], Own),
            (Method::POST, &[], Own),
            (Method::POST, &[("origin", own)], Own),
            (Method::POST, &[("origin", other)], Foreign),
            (Method::GET, &[("origin", "null")], Foreign),
            (Method::GET, &[("sec-fetch-site", "same-origin")], Own),
            (
                Method::POST,
                &[("sec-fetch-site", "same-origin"), ("origin", "null")],
                Own,
            ),
            (
                Method::GET,
                &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
                Own,
            ),
            (
                Method::GET,
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "no-cors"),
                ],
                Foreign,
            ),
            (
                Method::GET,
                &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
                Foreign,
            ),
            (
                Method::GET,
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "navigate"),
                ],
                Navigation,
            ),
            (
                Method::POST,
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "navigate"),
                ],
                Foreign,
            ),
            (Method::GET, &[("upgrade", "websocket")], Foreign),
            (
                Method::GET,
                &[("upgrade", "websocket"), ("origin", other)],
                Foreign,
            ),
            (
                Method::GET,
                &[("upgrade", "websocket"), ("origin", own)],
                Own,
            ),
        ];
        for (method, headers, expected) in cases {
            assert_eq!(
                initiator_of(method.clone(), headers),
                *expected,
                "{method} {headers:?}"
            );
        }
    }
}
