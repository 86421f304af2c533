//! The browsers in which a user is signed in.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{AppendHeaders, IntoResponse},
};
use deskhand_api::users::SignInsView;
use deskhand_app::Users;
use deskhand_core::id::SignInId;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::people::set_cookie;
use crate::{
    Shared,
    caller::{AccountHolder, Pass},
    extract::Id,
    paths::SignInPath,
    problem::Problem,
    view,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, end_all))
        .routes(routes!(end))
}

/// Lists the browsers in which you are signed in, newest first.
#[utoipa::path(
    get,
    path = "/sign-ins",
    operation_id = "list_sign_ins",
    tag = "people",
    responses((status = 200, description = "your sign-ins", body = SignInsView)),
)]
pub(crate) async fn list(
    State(users): State<Users>,
    AccountHolder(user, _): AccountHolder,
    pass: Pass,
) -> Result<Json<SignInsView>, Problem> {
    let browsers = users.browsers(user, &pass.credential).await?;
    let sign_ins = browsers.into_iter().map(view::sign_in).collect();
    Ok(Json(SignInsView { sign_ins }))
}

/// Signs you out in all browsers. Your unused sign-in links end, your tokens stay.
#[utoipa::path(
    delete,
    path = "/sign-ins",
    operation_id = "sign_out_everywhere",
    tag = "people",
    responses((status = 204, description = "signed out everywhere")),
)]
pub(crate) async fn end_all(
    State(shared): State<Shared>,
    AccountHolder(user, by): AccountHolder,
) -> Result<impl IntoResponse, Problem> {
    shared.app.users().sign_out_everywhere(by, user).await?;
    let set = set_cookie(&shared, "", 0);
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, set)]),
    ))
}

/// Signs you out in one browser.
#[utoipa::path(
    delete,
    path = "/sign-ins/{id}",
    operation_id = "end_sign_in",
    tag = "people",
    params(SignInPath),
    responses(
        (status = 204, description = "the browser is signed out"),
        (status = 404, description = "`no_sign_in`"),
    ),
)]
pub(crate) async fn end(
    State(users): State<Users>,
    AccountHolder(user, by): AccountHolder,
    Id(id): Id<SignInId>,
) -> Result<StatusCode, Problem> {
    users.end_sign_in(by, user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
