//! The gateway's own responses: a small page for people, and a line of text for programs.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use deskhand_app::{FindError, Refusal, RefusalKind};
use deskhand_core::service::Service;

use super::AppHost;

/// The content security policy of these pages. They load and run nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = "html{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;display:grid;\
    place-content:center;min-height:90vh;margin:0;padding:1.5rem;background:Canvas;color:CanvasText}\
    main{max-width:32rem}h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:.5rem 0;opacity:.8}\
    code{font-size:.9em;background:color-mix(in srgb,CanvasText 10%,transparent);padding:.1em .35em;border-radius:.3em}\
    a{color:LinkText}";

/// Opens the address of the page's first link, unless the browser denies storage to pages in frames.
const OPEN_IF_STORED: &str = r#"try{localStorage.length;location.replace(document.links[0].href)}catch{document.body.className="stuck"}"#;
/// The content security policy of the page with this script, which it allows by its hash.
const OPENING_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
    script-src 'sha256-qfL9FXXwwNhIO9qLfgdmGWGxSVzTQTmMggvAvEnUvSE='";

/// Writes responses about one service.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) host: AppHost,
    /// The address of the dashboard.
    pub(super) dashboard: String,
    /// The absolute address of the request, without the token.
    pub(super) address: String,
    /// True if the response is shown to a person.
    pub(super) is_page: bool,
    /// True if the browser marks requests that a person made.
    pub(super) tells_people: bool,
}

/// The contents of one response.
#[derive(Debug, Default)]
struct Text<'a> {
    code: &'static str,
    title: &'a str,
    words: &'a str,
    link: Option<Link>,
    /// The seconds until the page reloads.
    again: Option<u32>,
}

/// The link on a page.
#[derive(Debug, Clone, Copy)]
enum Link {
    /// The session on the dashboard, in a new window, because the dashboard cannot be framed.
    Session,
    /// The page's own address.
    Continue,
    /// The page's own address. Opening it by hand wakes the desktop.
    Wake,
}

impl Notice {
    pub(super) fn signed_out(&self) -> Response<Body> {
        self.write(StatusCode::UNAUTHORIZED, &Text {
            code: "not_signed_in",
            title: "Open this from Deskhand",
            words: "This address works only for people whom Deskhand lets in, and for twelve hours at most. \
                Open it again from the session.",
            link: Some(Link::Session),
            ..Text::default()
        })
    }

    pub(super) fn not_allowed(&self) -> Response<Body> {
        self.write(StatusCode::FORBIDDEN, &Text {
            code: "not_allowed",
            title: "You may not use this",
            words: "The session is gone, or you may not use this program of it. Its owner can share it with you.",
            ..Text::default()
        })
    }

    /// Responds if the person cannot see the session, or it could not be read.
    pub(super) fn not_found(&self, error: &FindError) -> Response<Body> {
        let kind = error.facts().kind;
        if matches!(kind, RefusalKind::NotFound | RefusalKind::Forbidden) {
            return self.not_allowed();
        }
        self.failed("The session cannot be read now. Try again in a moment.")
    }

    pub(super) fn foreign(&self) -> Response<Body> {
        self.write(StatusCode::FORBIDDEN, &Text {
            code: "wrong_origin",
            title: "Another page tried to use this",
            words: "Pages of other sites and of other services cannot use this service. Let the program itself \
                pass requests on, for example with the proxy of its development server.",
            ..Text::default()
        })
    }

    /// Responds to a navigation from another page. The program only sees requests from its own page, so this page sends
    /// the browser on: at once if the person has just opened this path, and otherwise when they click.
    pub(super) fn on_the_way(&self, has_landed: bool) -> Response<Body> {
        if has_landed && self.host.service == Service::Code && self.is_page {
            return self.open_code();
        }
        if has_landed {
            return self.write(
                StatusCode::OK,
                &Text {
                    code: "opening",
                    title: "Opening…",
                    words: "",
                    link: Some(Link::Continue),
                    again: Some(0),
                },
            );
        }
        self.write(
            StatusCode::FORBIDDEN,
            &Text {
                code: "wrong_origin",
                title: "Another page led you here",
                words: "Continue only if you meant to open this program of your desktop.",
                link: Some(Link::Continue),
                ..Text::default()
            },
        )
    }

    /// Sends the browser on to VS Code, which needs storage. Browsers that block third-party cookies deny storage to a page
    /// in a frame, and VS Code would stay blank.
    fn open_code(&self) -> Response<Body> {
        let address = escaped(&self.address);
        let body = format!(
            r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><noscript><meta http-equiv="refresh" content="0;url={address}"></noscript><title>Opening…</title><style>{STYLE}.stuck .on,body:not(.stuck) .off{{display:none}}</style></head><body><main class="on"><h1>Opening…</h1><p><a href="{address}">Continue</a></p></main><main class="off"><h1>Your browser blocks storage here</h1><p>VS Code needs to store its state in the browser, and yours does not allow that to a page within another. Open it in a new tab with the button above, or allow third-party cookies for Deskhand.</p></main><script>{OPEN_IF_STORED}</script></body></html>"#
        );
        respond(
            StatusCode::OK,
            "opening",
            ("text/html; charset=utf-8", OPENING_POLICY),
            body,
        )
    }

    pub(super) fn gone(&self) -> Response<Body> {
        self.write(
            StatusCode::GONE,
            &Text {
                code: "sandbox_gone",
                title: "This desktop is gone",
                words: "The session has ended, and nothing runs on its desktop any more.",
                link: Some(Link::Session),
                ..Text::default()
            },
        )
    }

    pub(super) fn asleep(&self, may_wake: bool) -> Response<Body> {
        let words = if may_wake {
            "Nothing runs on it now. Wake it, and start your programs again or ask the agent to."
        } else {
            "Somebody who may send messages in the session has to wake it. This page opens by itself then."
        };
        let link = if may_wake && self.tells_people {
            Link::Wake
        } else {
            Link::Session
        };
        self.write(
            StatusCode::CONFLICT,
            &Text {
                code: "no_sandbox",
                title: "The computer is asleep",
                words,
                link: Some(link),
                again: Some(10),
            },
        )
    }

    pub(super) fn starting(&self) -> Response<Body> {
        let mut response = self.write(
            StatusCode::SERVICE_UNAVAILABLE,
            &Text {
                code: "sandbox_starting",
                title: "The computer is starting…",
                words: "This page opens by itself in a moment.",
                again: Some(1),
                ..Text::default()
            },
        );
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        response
    }

    pub(super) fn nothing_listens(&self) -> Response<Body> {
        let (title, words) = match self.host.service {
            Service::Port(port) => (
                format!("Nothing listens on port {port}"),
                format!(
                    "Start your server on port {port} of the desktop, or ask the agent to. This page tries again by itself."
                ),
            ),
            Service::Code => (
                "VS Code does not answer".to_owned(),
                "This page tries again by itself.".to_owned(),
            ),
        };
        self.write(
            StatusCode::BAD_GATEWAY,
            &Text {
                code: "nothing_listens",
                title: &title,
                words: &words,
                again: Some(2),
                ..Text::default()
            },
        )
    }

    pub(super) fn somebody_else(&self) -> Response<Body> {
        self.write(StatusCode::CONFLICT, &Text {
            code: "somebody_else_drives",
            title: "Another person has control",
            words: "While somebody has control of the desktop, nobody else can use its programs. This page opens by \
                itself when control is handed back.",
            again: Some(3),
            ..Text::default()
        })
    }

    /// Responds if the program closed the connection or does not speak HTTP.
    pub(super) fn broken(&self, problem: &str) -> Response<Body> {
        self.write(
            StatusCode::BAD_GATEWAY,
            &Text {
                code: "broken_answer",
                title: "The program did not answer as a web server does",
                words: problem,
                ..Text::default()
            },
        )
    }

    pub(super) fn failed(&self, problem: &str) -> Response<Body> {
        self.write(
            StatusCode::SERVICE_UNAVAILABLE,
            &Text {
                code: "unavailable",
                title: "This cannot be opened now",
                words: &sentence(problem),
                link: Some(Link::Session),
                ..Text::default()
            },
        )
    }

    fn write(&self, status: StatusCode, text: &Text<'_>) -> Response<Body> {
        let (kind, body) = if self.is_page {
            ("text/html; charset=utf-8", self.page(text))
        } else {
            (
                "text/plain; charset=utf-8",
                format!("{}: {}\n", text.code, text.title),
            )
        };
        respond(status, text.code, (kind, POLICY), body)
    }

    fn page(&self, text: &Text<'_>) -> String {
        let address = escaped(&self.address);
        let again = text.again.map(|seconds| {
            format!(r#"<meta http-equiv="refresh" content="{seconds};url={address}">"#)
        });
        let link = text.link.map(|link| match link {
            Link::Continue => format!(r#"<p><a href="{address}">Continue</a></p>"#),
            Link::Wake => format!(r#"<p><a href="{address}">Wake the desktop</a></p>"#),
            Link::Session => {
                let url = format!("{}/sessions/{}", self.dashboard, self.host.session);
                let url = escaped(&url);
                format!(
                    r#"<p><a href="{url}" target="_blank" rel="noopener">Open the session</a></p>"#
                )
            }
        });
        format!(
            r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">{}<title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1><p>{}</p>{}</main></body></html>"#,
            again.unwrap_or_default(),
            escaped(text.words),
            link.unwrap_or_default(),
            title = escaped(text.title),
        )
    }
}

/// Returns a response of the gateway itself, with this media type and content security policy.
fn respond(
    status: StatusCode,
    code: &'static str,
    (kind, policy): (&'static str, &'static str),
    body: String,
) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let fields = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("x-deskhand-code"), code),
    ];
    for (name, value) in fields {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// Turns an error message into a sentence, with a capital letter and a full stop.
fn sentence(problem: &str) -> String {
    let mut letters = problem.chars();
    let first = letters.next().map(char::to_uppercase);
    let text: String = first.into_iter().flatten().chain(letters).collect();
    if text.ends_with(['.', '…', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_of_the_page_that_opens_vs_code_allows_its_script() {
        use base64::{Engine, engine::general_purpose::STANDARD};
        use sha2::{Digest, Sha256};
        let hash = STANDARD.encode(Sha256::digest(OPEN_IF_STORED));
        assert!(OPENING_POLICY.contains(&hash), "{hash}");
    }

    #[test]
    fn an_address_cannot_break_out_of_the_page() {
        let notice = Notice {
            host: AppHost {
                service: Service::Code,
                session: deskhand_core::id::SessionId::new(),
            },
            dashboard: "http://localhost:7878".to_owned(),
            address: r#"http://x/"><script>alert('x')</script>"#.to_owned(),
            is_page: true,
            tells_people: true,
        };
        let page = notice.page(&Text {
            again: Some(1),
            link: Some(Link::Continue),
            ..Text::default()
        });
        assert!(!page.contains("<script>"), "{page}");
    }
}
