//! Rights in a session: the people who have them, and links that grant them.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use deskhand_api::{
    sessions::SessionView,
    sharing::{
        GrantBody, JoinBody, MadeShareView, OfferView, PeopleView, PersonView, ShareBody,
        SharesView,
    },
};
use deskhand_app::{Grant, MadeShare, Sessions, ShareSession, Sharing};
use deskhand_core::id::{SessionId, ShareId};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id, Ids},
    paths::{PersonPath, SessionPath, SharePath},
    problem::Problem,
    view,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(people))
        .routes(routes!(person, grant, remove))
        .routes(routes!(shares, share))
        .routes(routes!(end_share))
        .routes(routes!(join))
}

/// Lists all people with a right in a session, the owner first.
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
    let offer = sharing.open_offer(caller.viewer(), id).await?;
    let view = |person| view::person(&sharing, id, person);
    Ok(Json(PeopleView {
        people: people.into_iter().map(view).collect(),
        offer: offer.map(OfferView::from),
    }))
}

/// Shows a person's right in a session.
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
    Ok(Json(view::person(&sharing, id, person)))
}

/// Gives a user a right, and replaces the one they have. The right `owner` is offered: they have it once they accept.
#[utoipa::path(
    put,
    path = "/sessions/{id}/people/{user}",
    operation_id = "grant_right",
    tag = "sessions",
    params(PersonPath),
    request_body = GrantBody,
    responses(
        (status = 200, description = "the person", body = PersonView),
        (status = 202, description = "the session is offered to them", body = OfferView),
        (status = 404, description = "`no_user`"),
        (status = 409, description = "`is_owner`, `has_left`"),
        (status = 429, description = "`too_many_people`, `too_many_offers`"),
    ),
)]
pub(crate) async fn grant(
    State(sharing): State<Sharing>,
    pass: Pass,
    Ids(id, who): Ids<SessionId, String>,
    Body(body): Body<GrantBody>,
) -> Result<Response, Problem> {
    let (viewer, by) = (pass.viewer(), pass.requester());
    let granted = sharing.grant(viewer, by, id, &who, body.right).await?;
    Ok(match granted {
        Grant::Given(person) => Json(view::person(&sharing, id, person)).into_response(),
        Grant::Offered(offer) => {
            let offer = Json(OfferView::from(offer));
            (StatusCode::ACCEPTED, offer).into_response()
        }
    })
}

/// Removes a user's right. The owner can remove any user, and every user can leave.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/people/{user}",
    operation_id = "remove_person",
    tag = "sessions",
    params(PersonPath),
    responses(
        (status = 204, description = "the person has no right in the session any more"),
        (status = 404, description = "`no_user`, `no_person`"),
        (status = 409, description = "`is_owner`"),
    ),
)]
pub(crate) async fn remove(
    State(sharing): State<Sharing>,
    pass: Pass,
    Ids(id, who): Ids<SessionId, String>,
) -> Result<StatusCode, Problem> {
    let (user, by) = (pass.identity.user, pass.requester());
    sharing.remove(user, by, id, &who).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Creates a link that lets people into a session.
#[utoipa::path(
    post,
    path = "/sessions/{id}/shares",
    operation_id = "share_session",
    tag = "sessions",
    params(SessionPath),
    request_body = ShareBody,
    responses(
        (status = 201, description = "the link, shown only this once", body = MadeShareView),
        (status = 400, description = "`bad_right`, `over`, `long_life`"),
        (status = 429, description = "`too_many_shares`"),
    ),
)]
pub(crate) async fn share(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Body(body): Body<ShareBody>,
) -> Result<(StatusCode, Json<MadeShareView>), Problem> {
    let wanted = ShareSession {
        right: body.right,
        expires_at: body.expires_at,
        is_single_use: body.single_use,
    };
    let (sharing, by) = (shared.app.sharing(), pass.requester());
    let MadeShare { share, code } = sharing.share(pass.viewer(), by, id, wanted).await?;
    // What stands behind `#` stays in the browser: no proxy logs it.
    let url = format!("{}/#share={}", shared.settings.public_url, code.expose());
    let about = view::share(&share);
    Ok((
        StatusCode::CREATED,
        Json(MadeShareView { about, code, url }),
    ))
}

/// Lists the valid links of a session.
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
    let shares = shares.iter().map(view::share).collect();
    Ok(Json(SharesView { shares }))
}

/// Revokes a link. People who used it keep their right.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/shares/{share}",
    operation_id = "end_share",
    tag = "sessions",
    params(SharePath),
    responses(
        (status = 204, description = "the link has ended"),
        (status = 404, description = "`no_share`"),
    ),
)]
pub(crate) async fn end_share(
    State(sharing): State<Sharing>,
    pass: Pass,
    Ids(id, share): Ids<SessionId, ShareId>,
) -> Result<StatusCode, Problem> {
    let (viewer, by) = (pass.viewer(), pass.requester());
    sharing.end_share(viewer, by, id, share).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Joins a session with a link. If you already have a greater right, or one that the owner chose for you, you keep it.
#[utoipa::path(
    post,
    path = "/shares/join",
    operation_id = "join_session",
    tag = "sessions",
    request_body = JoinBody,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 403, description = "`removed`: the owner removed you"),
        (status = 404, description = "`no_share`"),
        (status = 429, description = "`too_many_people`"),
    ),
)]
pub(crate) async fn join(
    State(sharing): State<Sharing>,
    State(sessions): State<Sessions>,
    pass: Pass,
    Body(body): Body<JoinBody>,
) -> Result<Json<SessionView>, Problem> {
    let (user, by) = (pass.identity.user, pass.requester());
    let id = sharing.join(user, by, &body.code).await?;
    Ok(Json(sessions.find(pass.viewer(), id).await?.into()))
}
