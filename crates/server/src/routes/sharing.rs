//! Who may do what in a session: people, and links that let them in.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{MadeShare, Sessions, ShareSession, Sharing};
use deskhand_core::{
    id::{SessionId, ShareId, UserId},
    right::{Person, Right, Share},
    secret::Secret,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids},
    problem::Problem,
    schema::{self, PersonPath, SessionPath, SharePath},
    view::SessionView,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(people))
        .routes(routes!(person, grant, remove))
        .routes(routes!(shares, share))
        .routes(routes!(end_share))
        .routes(routes!(join))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = GrantRight)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grant {
    /// With `owner` they become the owner and you may drive.
    #[schema(value_type = schema::Right)]
    right: Right,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ShareSession)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewShare {
    #[schema(value_type = schema::GivenRight)]
    right: Right,
    /// In a week unless said.
    expires_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = JoinSession)]
#[serde(deny_unknown_fields)]
pub(crate) struct Join {
    /// From a link into a session: `/?share=…`.
    #[schema(value_type = String, format = Password)]
    code: Secret,
}

/// Somebody who has a right in a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Person)]
pub(crate) struct PersonView {
    #[schema(value_type = Uuid)]
    id: UserId,
    #[schema(max_length = 64)]
    name: String,
    #[schema(value_type = schema::Right)]
    right: Right,
    /// Whether they have a stream open.
    here: bool,
}

/// Everybody who has a right in a session, the owner first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = People)]
pub(crate) struct PeopleView {
    people: Vec<PersonView>,
}

/// A link that lets people into a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Share)]
pub(crate) struct ShareView {
    #[schema(value_type = Uuid)]
    id: ShareId,
    #[schema(value_type = schema::GivenRight)]
    right: Right,
    created_at: Timestamp,
    expires_at: Timestamp,
}

/// A new link.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MadeShare)]
pub(crate) struct MadeShareView {
    #[serde(flatten)]
    about: ShareView,
    /// Shown this once.
    #[schema(value_type = String)]
    code: Secret,
    /// Shown this once.
    #[schema(format = "uri")]
    url: String,
}

/// The links of a session that are still good.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Shares)]
pub(crate) struct SharesView {
    shares: Vec<ShareView>,
}

impl PersonView {
    fn new(sharing: &Sharing, session: SessionId, person: Person) -> Self {
        Self {
            here: sharing.is_here(session, person.user),
            id: person.user,
            name: person.name,
            right: person.right,
        }
    }
}

impl From<Share> for ShareView {
    fn from(share: Share) -> Self {
        Self {
            id: share.id,
            right: share.right,
            created_at: share.created_at,
            expires_at: share.expires_at,
        }
    }
}

/// Lists everybody who has a right in a session, the owner first.
#[utoipa::path(
    get,
    path = "/sessions/{id}/people",
    operation_id = "list_people",
    tag = "sessions",
    params(SessionPath),
    responses((status = 200, description = "the people", body = PeopleView)),
)]
pub(crate) async fn people(
    State(sharing): State<Sharing>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<PeopleView>, Problem> {
    let people = sharing.people(caller.viewer(), id).await?;
    let view = |person| PersonView::new(&sharing, id, person);
    let people = people.into_iter().map(view).collect();
    Ok(Json(PeopleView { people }))
}

/// Shows what somebody may do in a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/people/{user}",
    operation_id = "show_person",
    tag = "sessions",
    params(PersonPath),
    responses(
        (status = 200, description = "the person", body = PersonView),
        (status = 404, description = "`no_person`"),
    ),
)]
pub(crate) async fn person(
    State(sharing): State<Sharing>,
    caller: Caller,
    Ids(id, who): Ids<SessionId, String>,
) -> Result<Json<PersonView>, Problem> {
    let person = sharing.person(caller.viewer(), id, &who).await?;
    Ok(Json(PersonView::new(&sharing, id, person)))
}

/// Gives somebody a right, instead of the one they have. The owner can make somebody else the owner.
#[utoipa::path(
    put,
    path = "/sessions/{id}/people/{user}",
    operation_id = "grant_right",
    tag = "sessions",
    params(PersonPath),
    request_body = Grant,
    responses(
        (status = 200, description = "the person", body = PersonView),
        (status = 404, description = "`no_user`"),
        (status = 409, description = "`is_owner`"),
        (status = 429, description = "`too_many_people`"),
    ),
)]
pub(crate) async fn grant(
    State(sharing): State<Sharing>,
    caller: Caller,
    Ids(id, who): Ids<SessionId, String>,
    Body(body): Body<Grant>,
) -> Result<Json<PersonView>, Problem> {
    let viewer = caller.viewer();
    let person = sharing.grant(viewer, id, &who, body.right).await?;
    Ok(Json(PersonView::new(&sharing, id, person)))
}

/// Takes somebody's right away. The owner removes anybody, everybody may leave.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/people/{user}",
    operation_id = "remove_person",
    tag = "sessions",
    params(PersonPath),
    responses(
        (status = 204, description = "they have no right any more"),
        (status = 404, description = "`no_user`, `no_person`"),
        (status = 409, description = "`is_owner`"),
    ),
)]
pub(crate) async fn remove(
    State(sharing): State<Sharing>,
    Caller(user): Caller,
    Ids(id, who): Ids<SessionId, String>,
) -> Result<StatusCode, Problem> {
    sharing.remove(user, id, &who).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a link that lets people into a session.
#[utoipa::path(
    post,
    path = "/sessions/{id}/shares",
    operation_id = "share_session",
    tag = "sessions",
    params(SessionPath),
    request_body = NewShare,
    responses(
        (status = 201, description = "the link, shown this once", body = MadeShareView),
        (status = 400, description = "`bad_right`, `over`"),
        (status = 429, description = "`too_many_shares`"),
    ),
)]
pub(crate) async fn share(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<NewShare>,
) -> Result<(StatusCode, Json<MadeShareView>), Problem> {
    let wanted = ShareSession {
        right: body.right,
        expires_at: body.expires_at,
    };
    let sharing = shared.app.sharing();
    let MadeShare { share, code } = sharing.share(caller.viewer(), id, wanted).await?;
    let url = format!("{}/?share={}", shared.settings.public_url, code.expose());
    let about = share.into();
    Ok((
        StatusCode::CREATED,
        Json(MadeShareView { about, code, url }),
    ))
}

/// Lists the links of a session that are still good.
#[utoipa::path(
    get,
    path = "/sessions/{id}/shares",
    operation_id = "list_shares",
    tag = "sessions",
    params(SessionPath),
    responses(
        (status = 200, description = "the links", body = SharesView),
        (status = 403, description = "`not_allowed`"),
    ),
)]
pub(crate) async fn shares(
    State(sharing): State<Sharing>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<SharesView>, Problem> {
    let shares = sharing.shares(caller.viewer(), id).await?;
    let shares = shares.into_iter().map(ShareView::from).collect();
    Ok(Json(SharesView { shares }))
}

/// Ends a link. Who came in by it stays.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/shares/{share}",
    operation_id = "end_share",
    tag = "sessions",
    params(SharePath),
    responses(
        (status = 204, description = "it lets nobody in any more"),
        (status = 404, description = "`no_share`"),
    ),
)]
pub(crate) async fn end_share(
    State(sharing): State<Sharing>,
    caller: Caller,
    Ids(id, share): Ids<SessionId, ShareId>,
) -> Result<StatusCode, Problem> {
    sharing.end_share(caller.viewer(), id, share).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Follows a link into a session. A greater right that you have stays.
#[utoipa::path(
    post,
    path = "/shares/join",
    operation_id = "join_session",
    tag = "sessions",
    request_body = Join,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 404, description = "`no_share`"),
        (status = 429, description = "`too_many_people`"),
    ),
)]
pub(crate) async fn join(
    State(sharing): State<Sharing>,
    State(sessions): State<Sessions>,
    caller: Caller,
    Body(body): Body<Join>,
) -> Result<Json<SessionView>, Problem> {
    let id = sharing.join(caller.0, &body.code).await?;
    Ok(Json(sessions.find(caller.viewer(), id).await?.into()))
}
