//! Users, for administrators.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::users::{
    ChangeUserBody, CreateUserBody, InviteBody, SignInLinkView, UserView, UsersView,
};
use deskhand_app::{ChangeUser, Users};
use deskhand_core::{id::UserId, user::UserRole};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::people::sign_in_link;
use crate::{
    Shared,
    caller::Administrator,
    extract::{Body, Id, Query, page_size},
    paths::UserPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(change))
        .routes(routes!(new_sign_in_link))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsersQuery {
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    after: Option<UserId>,
}

/// Adds a user.
#[utoipa::path(
    post,
    path = "/users",
    operation_id = "create_user",
    tag = "people",
    request_body = CreateUserBody,
    responses(
        (status = 201, description = "the user", body = UserView),
        (status = 400, description = "`bad_name`"),
        (status = 403, description = "`not_administrator`"),
        (status = 409, description = "`name_taken`"),
    ),
)]
pub(crate) async fn create(
    State(users): State<Users>,
    Administrator(by): Administrator,
    Body(body): Body<CreateUserBody>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let role = body.role.unwrap_or(UserRole::Member);
    let user = users.create(by, &body.name, role).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

/// Lists all users, oldest first.
#[utoipa::path(
    get,
    path = "/users",
    operation_id = "list_users",
    tag = "people",
    params(UsersQuery),
    responses(
        (status = 200, description = "a page of users", body = UsersView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn list(
    State(users): State<Users>,
    _: Administrator,
    Query(page): Query<UsersQuery>,
) -> Result<Json<UsersView>, Problem> {
    let limit = page_size(page.limit, 100, 500)?;
    let page = users.list(page.after, limit).await?;
    Ok(Json(UsersView {
        users: page.users.into_iter().map(UserView::from).collect(),
        next: page.next,
    }))
}

/// Changes a user. A user who is no longer active is signed out everywhere.
#[utoipa::path(
    patch,
    path = "/users/{id}",
    operation_id = "change_user",
    tag = "people",
    params(UserPath),
    request_body = ChangeUserBody,
    responses(
        (status = 200, description = "the user", body = UserView),
        (status = 400, description = "`bad_name`"),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_user`"),
        (status = 409, description = "`name_taken`, `last_administrator`"),
    ),
)]
pub(crate) async fn change(
    State(users): State<Users>,
    Administrator(by): Administrator,
    Id(id): Id<UserId>,
    Body(body): Body<ChangeUserBody>,
) -> Result<Json<UserView>, Problem> {
    let change = ChangeUser {
        name: body.name,
        role: body.role,
        active: body.active,
    };
    Ok(Json(users.change(by, id, change).await?.into()))
}

/// Creates a link that signs a new user in, once. With `reset`, it is for a user who has signed in before, and ends all
/// their sign-ins.
#[utoipa::path(
    post,
    path = "/users/{id}/sign-in-links",
    operation_id = "invite_user",
    tag = "people",
    params(UserPath),
    request_body = InviteBody,
    responses(
        (status = 201, description = "the link", body = SignInLinkView),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_user`"),
        (status = 409, description = "`user_disabled`, `has_signed_in`"),
    ),
)]
pub(crate) async fn new_sign_in_link(
    State(shared): State<Shared>,
    Administrator(by): Administrator,
    Id(id): Id<UserId>,
    Body(body): Body<InviteBody>,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let users = shared.app.users();
    let (code, expires_at) = users.invite(by, id, body.reset).await?;
    let link = sign_in_link(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}
