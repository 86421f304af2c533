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

use crate::{
    Shared,
    caller::{AccountHolder, COOKIE, Caller, cookie},
    extract::Body,
    problem::Problem,
    routes::users::UserView,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    code: Secret,
}

#[derive(Debug, Serialize)]
pub(crate) struct SignInLinkView {
    url: String,
    expires_at: Timestamp,
}

impl SignInLinkView {
    pub(crate) fn new(shared: &Shared, code: &Secret, expires_at: Timestamp) -> Self {
        let url = format!("{}/?code={}", shared.settings.public_url, code.expose());
        Self { url, expires_at }
    }
}

/// `POST /api/sign-in`
pub(crate) async fn sign_in(
    State(shared): State<Shared>,
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

/// `POST /api/sign-out`
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

/// `POST /api/sign-in-links`
pub(crate) async fn new_sign_in_link(
    State(shared): State<Shared>,
    AccountHolder(user): AccountHolder,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let (code, expires_at) = shared.app.users().new_sign_in_code(user).await?;
    let link = SignInLinkView::new(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}

/// `GET /api/me`
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
