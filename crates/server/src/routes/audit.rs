//! The audit log: of all users for administrators, and of everybody's own account.

use axum::{Json, extract::State};
use deskhand_api::audit::{AuditEntryView, AuditView};
use deskhand_app::Users;
use deskhand_core::{
    audit::{AuditFilter, AuditPage},
    id::{AuditId, UserId},
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{AccountHolder, Administrator},
    extract::{Query, page_size},
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(mine))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    before: Option<AuditId>,
    /// Only changes by this user, or about them.
    #[param(value_type = Option<Uuid>)]
    user: Option<UserId>,
    /// Only this action, such as `token.created`, or all of one subject, such as `token`.
    #[param(max_length = 64)]
    action: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryQuery {
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    #[param(value_type = Option<Uuid>)]
    before: Option<AuditId>,
}

/// Lists the changes to accounts, rights, tokens, secrets, policies and limits, newest first.
#[utoipa::path(
    get,
    path = "/audit",
    operation_id = "list_audit",
    tag = "people",
    params(AuditQuery),
    responses(
        (status = 200, description = "a page of the audit log", body = AuditView),
        (status = 403, description = "`not_administrator`"),
    ),
)]
pub(crate) async fn list(
    State(users): State<Users>,
    _: Administrator,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditView>, Problem> {
    let filter = AuditFilter {
        user: query.user,
        action: query.action,
        before: query.before,
        limit: page_size(query.limit, 50, 500)?,
    };
    Ok(Json(view(users.audit(&filter).await?)))
}

/// Lists the changes that you made, and those that others made to your account and rights, newest first.
#[utoipa::path(
    get,
    path = "/me/audit",
    operation_id = "my_audit",
    tag = "people",
    params(HistoryQuery),
    responses((status = 200, description = "a page of your history", body = AuditView)),
)]
pub(crate) async fn mine(
    State(users): State<Users>,
    AccountHolder(user, _): AccountHolder,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<AuditView>, Problem> {
    let filter = AuditFilter {
        before: query.before,
        limit: page_size(query.limit, 50, 500)?,
        ..AuditFilter::default()
    };
    Ok(Json(view(users.history(user, filter).await?)))
}

fn view(page: AuditPage) -> AuditView {
    AuditView {
        entries: page.entries.into_iter().map(AuditEntryView::from).collect(),
        next: page.next,
    }
}
