//! Signing in and out.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use deskhand_api::users::{SignInBody, SignInLinkView, UserView};
use deskhand_app::{SignInRequest, Users};
use deskhand_core::secret::Secret;
use jiff::Timestamp;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{AccountHolder, Caller, OwnPage, Pass, cookie},
    extract::Body,
    origin_address::Stranger,
    problem::Problem,
    rate::SignInAttempt,
};

/// The header that makes a browser forget what it stored of this site.
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(sign_in))
        .routes(routes!(sign_out))
        .routes(routes!(new_sign_in_link))
        .routes(routes!(me))
}

/// Signs in with the code of a sign-in link.
#[utoipa::path(
    post,
    path = "/sign-in",
    tag = "people",
    security(()),
    request_body = SignInBody,
    responses(
        (status = 204, description = "signed in", headers(("set-cookie" = String, description = "the cookie `deskhand`"))),
        (status = 401, description = "`bad_code`"),
        (status = 403, description = "`wrong_origin`"),
        (status = 409, description = "`other_user`: the browser is signed in as somebody else"),
        (status = 429, description = "`too_fast`"),
    ),
)]
pub(crate) async fn sign_in(
    State(shared): State<Shared>,
    _: OwnPage,
    _: SignInAttempt,
    Stranger(by): Stranger,
    headers: HeaderMap,
    Body(body): Body<SignInBody>,
) -> Result<impl IntoResponse, Problem> {
    let browser = headers.get(header::USER_AGENT);
    let earlier = cookie(&headers, shared.site.cookie());
    let request = SignInRequest {
        code: &body.code,
        cookie: earlier.as_ref(),
        replaces_user: body.replace,
        browser: browser.and_then(|name| name.to_str().ok()),
        by,
    };
    let signed_in = shared.app.users().sign_in(request).await?;
    let life = signed_in.life.as_secs();
    let set = set_cookie(&shared, signed_in.cookie.expose(), life);
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, set)]),
    ))
}

/// Signs out and revokes the cookie.
#[utoipa::path(
    post,
    path = "/sign-out",
    tag = "people",
    responses((status = 204, description = "signed out")),
)]
pub(crate) async fn sign_out(
    State(shared): State<Shared>,
    pass: Pass,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    if let Some(cookie) = cookie(&headers, shared.site.cookie()) {
        let by = pass.requester();
        shared.app.users().sign_out(by, &cookie).await?;
    }
    let set = set_cookie(&shared, "", 0);
    Ok((
        StatusCode::NO_CONTENT,
        // Pictures of sessions must not stay in the browser.
        [(CLEAR_SITE_DATA, "\"cache\"")],
        AppendHeaders([(header::SET_COOKIE, set)]),
    ))
}

/// Creates a link that signs you in elsewhere, once.
#[utoipa::path(
    post,
    path = "/sign-in-links",
    tag = "people",
    responses((status = 201, description = "the link", body = SignInLinkView)),
)]
pub(crate) async fn new_sign_in_link(
    State(shared): State<Shared>,
    AccountHolder(user, by): AccountHolder,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let (code, expires_at) = shared.app.users().new_sign_in_code(by, user).await?;
    let link = sign_in_link(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}

/// Shows your own user.
#[utoipa::path(
    get,
    path = "/me",
    tag = "people",
    responses((status = 200, description = "you", body = UserView)),
)]
pub(crate) async fn me(
    State(users): State<Users>,
    Caller(user): Caller,
) -> Result<Json<UserView>, Problem> {
    let user = users.user(user).await?.ok_or_else(Problem::not_signed_in)?;
    Ok(Json(user.into()))
}

/// Builds the link for a code.
pub(crate) fn sign_in_link(
    shared: &Shared,
    code: &Secret,
    expires_at: Timestamp,
) -> SignInLinkView {
    // What stands behind `#` stays in the browser: no proxy logs it.
    let url = format!("{}/#code={}", shared.settings.public_url, code.expose());
    SignInLinkView { url, expires_at }
}

pub(super) fn set_cookie(shared: &Shared, value: &str, max_age_secs: u64) -> String {
    let secure = if shared.site.is_encrypted() {
        "; Secure"
    } else {
        ""
    };
    let name = shared.site.cookie();
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_secs}{secure}")
}
