//! The network of a session: its policy, and the hosts that its programs contacted; and the list of each user.

use axum::{Json, extract::State};
use deskhand_api::network::{DestinationView, NetworkView, OwnNetworkView};
use deskhand_app::{NetworkAccess, NetworkOverview};
use deskhand_core::id::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Caller, Pass},
    extract::{Body, Id, Query, page_size},
    paths::SessionPath,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(mine, set_mine))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DestinationsQuery {
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(minimum = 0, default = 0)]
    skip: Option<u32>,
}

/// Shows the network of a session: its policy, and the hosts that its programs contacted or tried to.
#[utoipa::path(
    get,
    path = "/sessions/{id}/network",
    operation_id = "show_network",
    tag = "sessions",
    params(SessionPath, DestinationsQuery),
    responses((status = 200, description = "the network", body = NetworkView)),
)]
pub(crate) async fn show(
    State(network): State<NetworkAccess>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(page): Query<DestinationsQuery>,
) -> Result<Json<NetworkView>, Problem> {
    let limit = page_size(page.limit, 50, 200)?;
    let skip = page.skip.unwrap_or_default();
    let overview = network.overview(caller.viewer(), id, skip, limit).await?;
    Ok(Json(view(overview)))
}

/// Shows the hosts that all your sessions may contact, in addition to those that each session allows.
#[utoipa::path(
    get,
    path = "/me/network",
    operation_id = "my_network",
    tag = "people",
    responses((status = 200, description = "your list", body = OwnNetworkView)),
)]
pub(crate) async fn mine(
    State(network): State<NetworkAccess>,
    Caller(user): Caller,
) -> Result<Json<OwnNetworkView>, Problem> {
    let allow = network.list_of(user).await?;
    Ok(Json(OwnNetworkView { allow }))
}

/// Replaces the hosts that all your sessions may contact. Connections that are no longer allowed are closed.
#[utoipa::path(
    put,
    path = "/me/network",
    operation_id = "set_my_network",
    tag = "people",
    request_body = OwnNetworkView,
    responses(
        (status = 200, description = "your list", body = OwnNetworkView),
        (status = 400, description = "`bad_network`"),
    ),
)]
pub(crate) async fn set_mine(
    State(network): State<NetworkAccess>,
    pass: Pass,
    Body(body): Body<OwnNetworkView>,
) -> Result<Json<OwnNetworkView>, Problem> {
    let (by, user) = (pass.requester(), pass.identity.user);
    network.set_list_of(by, user, &body.allow).await?;
    Ok(Json(body))
}

fn view(overview: NetworkOverview) -> NetworkView {
    let destinations = overview.page.destinations.into_iter();
    NetworkView {
        policy: overview.policy,
        in_force: overview.in_force,
        ceiling: overview.ceiling,
        open_connections: u64::try_from(overview.n_open).unwrap_or(u64::MAX),
        transferred_bytes: overview.transferred_bytes,
        most_bytes: overview.most_bytes,
        destinations: destinations.map(DestinationView::from).collect(),
        next: overview.page.next,
    }
}
