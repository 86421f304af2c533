//! Services of sandboxes: the listening ports, and tokens that open services.

use std::{collections::BTreeMap, num::NonZeroU16};

use axum::{Json, extract::State, http::StatusCode};
use deskhand_api::apps::{PortsView, SandboxTokenView};
use deskhand_app::Apps;
use deskhand_core::{id::SessionId, service::Service, user::Scope};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    apps::{AppHost, AppSite},
    caller::{Caller, Pass},
    extract::{Id, Ids, Query},
    paths::{PortPath, SessionPath},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(ports))
        .routes(routes!(share_port, unshare_port))
        .routes(routes!(sandbox_token))
}

/// The service to open.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TokenQuery {
    /// `vscode` or `port-N`. The default is `vscode`, even if it is not installed. Then only the addresses are useful.
    #[param(example = "port-3000", pattern = "^(vscode|port-[1-9][0-9]{0,4})$")]
    service: Option<String>,
}

/// Lists the ports on which programs listen in the sandbox.
///
/// A sandbox that is not running has none. Deskhand's own ports are left out.
#[utoipa::path(
    get,
    path = "/sessions/{id}/ports",
    tag = "computer",
    params(SessionPath),
    responses((status = 200, description = "the ports", body = PortsView)),
)]
pub(crate) async fn ports(
    State(apps): State<Apps>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<PortsView>, Problem> {
    let ports = apps.ports(caller.viewer(), id).await?;
    Ok(Json(PortsView {
        ports: ports.listening,
        shared: ports.shared,
        vscode: apps.has_code(),
    }))
}

/// Lets everybody in the session use a port.
///
/// Without this, only people with the right `drive` can use it. Only the owner may share a port, because a person who uses
/// a program can change everything that the program can.
#[utoipa::path(
    put,
    path = "/sessions/{id}/shared-ports/{port}",
    tag = "computer",
    params(PortPath),
    responses((status = 204, description = "the port is shared")),
)]
pub(crate) async fn share_port(
    State(apps): State<Apps>,
    pass: Pass,
    Ids(id, port): Ids<SessionId, NonZeroU16>,
) -> Result<StatusCode, Problem> {
    apps.share_port(pass.requester(), pass.viewer(), id, port, true)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stops sharing a port, and closes the connections of people without the right `drive`.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/shared-ports/{port}",
    tag = "computer",
    params(PortPath),
    responses((status = 204, description = "the port is not shared")),
)]
pub(crate) async fn unshare_port(
    State(apps): State<Apps>,
    pass: Pass,
    Ids(id, port): Ids<SessionId, NonZeroU16>,
) -> Result<StatusCode, Problem> {
    apps.share_port(pass.requester(), pass.viewer(), id, port, false)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Issues a token that opens one service of the sandbox in a browser.
///
/// Needs the scope `write`, because a person who uses a service can change the contents of the sandbox, and the right
/// `drive` or a shared port. The token is valid for an hour. Added to the service's address as `?token=…`, it is exchanged
/// for a cookie, which expires twelve hours after the token was issued.
#[utoipa::path(
    get,
    path = "/sessions/{id}/sandbox-token",
    tag = "computer",
    params(SessionPath, TokenQuery),
    responses(
        (status = 200, description = "the token and the addresses", body = SandboxTokenView),
        (status = 400, description = "`malformed`"),
        (status = 403, description = "`not_allowed`"),
        (status = 410, description = "`sandbox_gone`"),
        (status = 503, description = "`no_apps_domain`, `no_code_server`, `secrets_locked`"),
    ),
)]
pub(crate) async fn sandbox_token(
    State(shared): State<Shared>,
    pass: Pass,
    Id(id): Id<SessionId>,
    Query(query): Query<TokenQuery>,
) -> Result<Json<SandboxTokenView>, Problem> {
    pass.require(Scope::Write)?;
    let named = query.service.as_deref().map(str::parse::<Service>);
    let named = named.transpose().map_err(Problem::malformed)?;
    let apps = shared.app.apps();
    let (viewer, user) = (pass.viewer(), pass.identity.user);
    let issued = apps.issue(user, pass.credential, id, named).await?;
    let Some(site) = &shared.apps else {
        let message = "services of sandboxes need a domain of their own; an administrator can set `apps.domain`";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Problem::refuse(status, "no_apps_domain", message));
    };
    let listening = apps.ports(viewer, id).await?.listening;
    let listening = listening
        .iter()
        .filter_map(|listening| format!("port-{}", listening.port).parse().ok());
    let services = listening
        .chain(named)
        .chain(apps.has_code().then_some(Service::Code));
    Ok(Json(SandboxTokenView {
        token: issued.token.expose().to_owned(),
        service: issued.service.to_string(),
        expires_at: issued.expires_at,
        urls: urls(site, &shared.settings.public_url, id, services),
    }))
}

/// Returns the addresses of services by name, and of the panels that replace `vnc` and `ttyd`.
fn urls(
    site: &AppSite,
    dashboard: &str,
    session: SessionId,
    services: impl Iterator<Item = Service>,
) -> BTreeMap<String, String> {
    let mut urls: BTreeMap<String, String> = services
        .map(|service| (service.to_string(), site.url(AppHost { service, session })))
        .collect();
    for (name, panel) in [("vnc", "screen"), ("ttyd", "terminal")] {
        let url = format!("{dashboard}/sessions/{session}?panel={panel}");
        urls.insert(name.to_owned(), url);
    }
    urls
}
