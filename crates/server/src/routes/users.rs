//! Users, for administrators.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{ChangeUser, Users};
use deskhand_core::{
    id::UserId,
    user::{User, UserRole},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::people::SignInLinkView;
use crate::{
    Shared,
    caller::Administrator,
    extract::{Body, Id, Query, page_size},
    problem::Problem,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    name: String,
    role: Option<UserRole>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    name: Option<String>,
    role: Option<UserRole>,
    active: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    limit: Option<u32>,
    after: Option<UserId>,
}

#[derive(Debug, Serialize)]
pub(crate) struct UserView {
    id: UserId,
    name: String,
    role: UserRole,
    active: bool,
    created_at: Timestamp,
}

#[derive(Debug, Serialize)]
pub(crate) struct UsersView {
    users: Vec<UserView>,
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

/// `POST /api/users`
pub(crate) async fn create(
    State(users): State<Users>,
    _: Administrator,
    Body(body): Body<Create>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let role = body.role.unwrap_or(UserRole::Member);
    let user = users.create(&body.name, role).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

/// `GET /api/users`
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

/// `PATCH /api/users/{id}`
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

/// `POST /api/users/{id}/sign-in-links`
pub(crate) async fn new_sign_in_link(
    State(shared): State<Shared>,
    _: Administrator,
    Id(id): Id<UserId>,
) -> Result<(StatusCode, Json<SignInLinkView>), Problem> {
    let (code, expires_at) = shared.app.users().invite(id).await?;
    let link = SignInLinkView::new(&shared, &code, expires_at);
    Ok((StatusCode::CREATED, Json(link)))
}
