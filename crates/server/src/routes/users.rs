//! Users, for administrators.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{ChangeUser, Users};
use deskhand_core::{
    id::UserId,
    user::{User, UserRole},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::people::SignInLinkView;
use crate::{
    Shared,
    caller::Administrator,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
    schema::{self, UserPath},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(change))
        .routes(routes!(new_sign_in_link))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateUser)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    /// No two users' names differ only in case.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// `member` unless said.
    #[schema(value_type = Option<schema::UserRole>)]
    role: Option<UserRole>,
}

/// What to change of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeUser)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    #[schema(min_length = 1, max_length = 64)]
    name: Option<String>,
    #[schema(value_type = Option<schema::UserRole>)]
    role: Option<UserRole>,
    active: Option<bool>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[param(value_type = Option<Uuid>)]
    after: Option<UserId>,
}

/// Somebody who may sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub(crate) struct UserView {
    #[schema(value_type = Uuid)]
    id: UserId,
    #[schema(max_length = 64)]
    name: String,
    #[schema(value_type = schema::UserRole)]
    role: UserRole,
    /// Whoever is not active is signed out everywhere and cannot sign in.
    active: bool,
    created_at: Timestamp,
}

/// A page of users, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsersPage)]
pub(crate) struct UsersView {
    users: Vec<UserView>,
    /// The `after` of the next page, when there is one.
    #[schema(required, value_type = Option<Uuid>)]
    next: Option<UserId>,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            role: user.role,
            active: user.active,
            created_at: user.created_at,
        }
    }
}

/// Adds somebody who may sign in.
#[utoipa::path(
    post,
    path = "/users",
    operation_id = "create_user",
    tag = "people",
    request_body = Create,
    responses(
        (status = 201, description = "the user", body = UserView),
        (status = 400, description = "`bad_name`"),
        (status = 403, description = "`not_administrator`"),
        (status = 409, description = "`name_taken`"),
    ),
)]
pub(crate) async fn create(
    State(users): State<Users>,
    _: Administrator,
    Body(body): Body<Create>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let role = body.role.unwrap_or(UserRole::Member);
    let user = users.create(&body.name, role).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

/// Lists everybody, oldest first.
#[utoipa::path(
    get,
    path = "/users",
    operation_id = "list_users",
    tag = "people",
    params(Page),
    responses(
        (status = 200, description = "a page of users", body = UsersView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn list(
    State(users): State<Users>,
    _: Administrator,
    Query(page): Query<Page>,
) -> Result<Json<UsersView>, Problem> {
    let limit = page_size(page.limit, 100, 500)?;
    let page = users.list(page.after, limit).await?;
    Ok(Json(UsersView {
        users: page.users.into_iter().map(UserView::from).collect(),
        next: page.next,
    }))
}

/// Changes a user. Who is not active any more is signed out everywhere.
#[utoipa::path(
    patch,
    path = "/users/{id}",
    operation_id = "change_user",
    tag = "people",
    params(UserPath),
    request_body = Change,
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
    _: Administrator,
    Id(id): Id<UserId>,
    Body(body): Body<Change>,
) -> Result<Json<UserView>, Problem> {
    let change = ChangeUser {
        name: body.name,
        role: body.role,
        active: body.active,
    };
    Ok(Json(users.change(id, change).await?.into()))
}

/// Makes a link that signs somebody in, once.
#[utoipa::path(
    post,
    path = "/users/{id}/sign-in-links",
    operation_id = "invite_user",
    tag = "people",
    params(UserPath),
    responses(
        (status = 201, description = "the link", body = SignInLinkView),
        (status = 403, description = "`not_administrator`"),
        (status = 404, description = "`no_user`"),
        (status = 409, description = "`user_disabled`"),
    ),
)]
pub(crate) async fn new_sign_in_link(
    State(shared): State<Shared>,
    _: Administrator,
    Id(id): Id<UserId>,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let (code, expires_at) = shared.app.users().invite(id).await?;
    let link = SignInLinkView::new(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}
