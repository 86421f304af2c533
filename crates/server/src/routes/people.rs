//! Signing in and out.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use deskhand_api::users::{SignInBody, SignInLinkView, UserView};
use deskhand_app::Users;
use deskhand_core::secret::Secret;
use jiff::Timestamp;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{AccountHolder, Caller, cookie},
    extract::Body,
    problem::Problem,
    rate::SignInAttempt,
};

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
        (status = 429, description = "`too_fast`"),
    ),
)]
pub(crate) async fn sign_in(
    State(shared): State<Shared>,
    _: SignInAttempt,
    Body(body): Body<SignInBody>,
) -> Result<impl IntoResponse, Problem> {
    let signed_in = shared.app.users().sign_in(&body.code).await?;
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
    Caller(_): Caller,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    if let Some(cookie) = cookie(&headers, shared.site.cookie()) {
        shared.app.users().sign_out(&cookie).await?;
    }
    let set = set_cookie(&shared, "", 0);
    Ok((
        StatusCode::NO_CONTENT,
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
    AccountHolder(user): AccountHolder,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let (code, expires_at) = shared.app.users().new_sign_in_code(user).await?;
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
    let url = format!("{}/?code={}", shared.settings.public_url, code.expose());
    SignInLinkView { url, expires_at }
}

fn set_cookie(shared: &Shared, value: &str, max_age_secs: u64) -> String {
    let secure = if shared.site.is_encrypted() {
        "; Secure"
    } else {
        ""
    };
    let name = shared.site.cookie();
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_secs}{secure}")
}
