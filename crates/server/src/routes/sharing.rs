//! Who may do what in a session: people, and links that let them in.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_app::{MadeShare, Sessions, ShareSession};
use deskhand_core::{
    id::{SessionId, ShareId, UserId},
    right::Right,
    secret::Secret,
};
use deskhand_store::{Person, Share};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids},
    problem::Problem,
    view::SessionView,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grant {
    right: Right,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewShare {
    right: Right,
    expires_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Join {
    code: Secret,
}

#[derive(Debug, Serialize)]
pub(crate) struct PersonView {
    id: UserId,
    name: String,
    right: Right,
    here: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct PeopleView {
    people: Vec<PersonView>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ShareView {
    id: ShareId,
    right: Right,
    created_at: Timestamp,
    expires_at: Timestamp,
}

#[derive(Debug, Serialize)]
pub(crate) struct MadeShareView {
    #[serde(flatten)]
    about: ShareView,
    code: Secret,
    url: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct SharesView {
    shares: Vec<ShareView>,
}

impl PersonView {
    fn new(sessions: &Sessions, session: SessionId, person: Person) -> Self {
        Self {
            here: sessions.is_here(session, person.user),
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

/// `GET /api/sessions/{id}/people`
pub(crate) async fn people(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<PeopleView>, Problem> {
    let people = sessions.people(caller.viewer(), id).await?;
    let view = |person| PersonView::new(&sessions, id, person);
    let people = people.into_iter().map(view).collect();
    Ok(Json(PeopleView { people }))
}

/// `GET /api/sessions/{id}/people/{user}`
pub(crate) async fn person(
    State(sessions): State<Sessions>,
    caller: Caller,
    Ids(id, who): Ids<SessionId, String>,
) -> Result<Json<PersonView>, Problem> {
    let person = sessions.person(caller.viewer(), id, &who).await?;
    Ok(Json(PersonView::new(&sessions, id, person)))
}

/// `PUT /api/sessions/{id}/people/{user}`
pub(crate) async fn grant(
    State(sessions): State<Sessions>,
    caller: Caller,
    Ids(id, who): Ids<SessionId, String>,
    Body(body): Body<Grant>,
) -> Result<Json<PersonView>, Problem> {
    let viewer = caller.viewer();
    let person = sessions.grant(viewer, id, &who, body.right).await?;
    Ok(Json(PersonView::new(&sessions, id, person)))
}

/// `DELETE /api/sessions/{id}/people/{user}`
pub(crate) async fn remove(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Ids(id, who): Ids<SessionId, String>,
) -> Result<StatusCode, Problem> {
    sessions.remove_person(user, id, &who).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/sessions/{id}/shares`
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
    let sessions = shared.app.sessions();
    let MadeShare { share, code } = sessions.share(caller.viewer(), id, wanted).await?;
    let url = format!("{}/?share={}", shared.settings.public_url, code.expose());
    let about = share.into();
    Ok((
        StatusCode::CREATED,
        Json(MadeShareView { about, code, url }),
    ))
}

/// `GET /api/sessions/{id}/shares`
pub(crate) async fn shares(
    State(sessions): State<Sessions>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<SharesView>, Problem> {
    let shares = sessions.shares(caller.viewer(), id).await?;
    let shares = shares.into_iter().map(ShareView::from).collect();
    Ok(Json(SharesView { shares }))
}

/// `DELETE /api/sessions/{id}/shares/{share}`
pub(crate) async fn end_share(
    State(sessions): State<Sessions>,
    caller: Caller,
    Ids(id, share): Ids<SessionId, ShareId>,
) -> Result<StatusCode, Problem> {
    sessions.end_share(caller.viewer(), id, share).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/shares/join`
pub(crate) async fn join(
    State(sessions): State<Sessions>,
    caller: Caller,
    Body(body): Body<Join>,
) -> Result<Json<SessionView>, Problem> {
    let id = sessions.join(caller.0, &body.code).await?;
    Ok(Json(sessions.find(caller.viewer(), id).await?.into()))
}
