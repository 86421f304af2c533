//! Offers of sessions: the other user accepts or declines, the owner withdraws.

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::{
    sessions::SessionView,
    sharing::{AcceptOfferBody, OfferView, OffersView},
};
use deskhand_app::Sharing;
use deskhand_core::{id::SessionId, right::Right};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id},
    paths::{OfferPath, SessionPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(accept))
        .routes(routes!(decline))
        .routes(routes!(withdraw))
}

/// Lists the sessions that are offered to you.
#[utoipa::path(
    get,
    path = "/me/offers",
    operation_id = "list_offers",
    tag = "sessions",
    responses((status = 200, description = "the open offers, oldest first", body = OffersView)),
)]
pub(crate) async fn list(
    State(sharing): State<Sharing>,
    Caller(user): Caller,
) -> Result<Json<OffersView>, Problem> {
    let offers = sharing.offers(user).await?;
    let offers = offers.into_iter().map(OfferView::from).collect();
    Ok(Json(OffersView { offers }))
}

/// Accepts a session. You become its owner: it uses your secrets and your budget, and has the approvals, the budget and
/// the network of a new session. Its desktop is stopped, links and shared ports end, and other people can only view it.
#[utoipa::path(
    post,
    path = "/me/offers/{session}/accept",
    operation_id = "accept_offer",
    tag = "sessions",
    params(OfferPath),
    request_body = AcceptOfferBody,
    responses(
        (status = 200, description = "the session", body = SessionView),
        (status = 400, description = "`bad_right`"),
        (status = 404, description = "`no_offer`"),
    ),
)]
pub(crate) async fn accept(
    State(sharing): State<Sharing>,
    pass: Pass,
    Id(session): Id<SessionId>,
    Body(body): Body<AcceptOfferBody>,
) -> Result<Json<SessionView>, Problem> {
    let (user, by) = (pass.identity.user, pass.requester());
    let keeps = body.giver_keeps.unwrap_or(Right::View);
    let session = sharing.accept(user, by, session, keeps).await?;
    Ok(Json(session.into()))
}

/// Declines a session.
#[utoipa::path(
    delete,
    path = "/me/offers/{session}",
    operation_id = "decline_offer",
    tag = "sessions",
    params(OfferPath),
    responses(
        (status = 204, description = "the offer is declined"),
        (status = 404, description = "`no_offer`"),
    ),
)]
pub(crate) async fn decline(
    State(sharing): State<Sharing>,
    pass: Pass,
    Id(session): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    let (user, by) = (pass.identity.user, pass.requester());
    sharing.decline(user, by, session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Withdraws the offer of a session.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/offer",
    operation_id = "withdraw_offer",
    tag = "sessions",
    params(SessionPath),
    responses(
        (status = 204, description = "the offer is withdrawn"),
        (status = 404, description = "`no_offer`"),
    ),
)]
pub(crate) async fn withdraw(
    State(sharing): State<Sharing>,
    pass: Pass,
    Id(id): Id<SessionId>,
) -> Result<StatusCode, Problem> {
    sharing
        .withdraw(pass.viewer(), pass.requester(), id)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
