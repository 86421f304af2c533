//! Signing in and out.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use deskhand_app::Users;
use deskhand_core::secret::Secret;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{AccountHolder, COOKIE, Caller, cookie},
    extract::Body,
    problem::Problem,
    rate::SignInAttempt,
    routes::users::UserView,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(sign_in))
        .routes(routes!(sign_out))
        .routes(routes!(new_sign_in_link))
        .routes(routes!(me))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    /// From a sign-in link: `/?code=…`, good once, for ten minutes.
    #[schema(value_type = String, format = Password)]
    code: Secret,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignInLink)]
pub(crate) struct SignInLinkView {
    #[schema(format = "uri")]
    url: String,
    expires_at: Timestamp,
}

impl SignInLinkView {
    pub(crate) fn new(shared: &Shared, code: &Secret, expires_at: Timestamp) -> Self {
        let url = format!("{}/?code={}", shared.settings.public_url, code.expose());
        Self { url, expires_at }
    }
}

/// Signs in with the code of a sign-in link.
#[utoipa::path(
    post,
    path = "/sign-in",
    tag = "people",
    security(()),
    request_body = SignIn,
    responses(
        (status = 204, description = "signed in", headers(("set-cookie" = String, description = "the cookie `deskhand`"))),
        (status = 401, description = "`bad_code`"),
        (status = 429, description = "`too_fast`"),
    ),
)]
pub(crate) async fn sign_in(
    State(shared): State<Shared>,
    _: SignInAttempt,
    Body(body): Body<SignIn>,
) -> Result<impl IntoResponse, Problem> {
    let signed_in = shared.app.users().sign_in(&body.code).await?;
    let life = signed_in.life.as_secs();
    let set = set_cookie(&shared, signed_in.cookie.expose(), life);
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, set)]),
    ))
}

/// Signs out: the cookie is worth nothing any more.
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
    if let Some(cookie) = cookie(&headers) {
        shared.app.users().sign_out(&cookie).await?;
    }
    let set = set_cookie(&shared, "", 0);
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, set)]),
    ))
}

/// Makes a link that signs you in elsewhere, once.
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
    let link = SignInLinkView::new(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}

/// Tells who you are.
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

fn set_cookie(shared: &Shared, value: &str, max_age_secs: u64) -> String {
    let secure = if shared.settings.public_url.starts_with("https:") {
        "; Secure"
    } else {
        ""
    };
    format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_secs}{secure}")
}
