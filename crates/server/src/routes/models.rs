//! The models that users may choose from.

use axum::{Json, extract::State};
use deskhand_api::models::{CheckModelBody, ModelCheckView, ModelView, ModelsView};
use deskhand_app::Catalog;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::{Administrator, Caller},
    extract::Body,
    problem::Problem,
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(check))
}

/// Lists the models, and why some cannot be used.
#[utoipa::path(
    get,
    path = "/models",
    operation_id = "list_models",
    tag = "sessions",
    responses((status = 200, description = "the models", body = ModelsView)),
)]
pub(crate) async fn list(State(catalog): State<Catalog>, _caller: Caller) -> Json<ModelsView> {
    let choice = catalog.list();
    Json(ModelsView {
        default: choice.default,
        models: choice.models.into_iter().map(ModelView::from).collect(),
        prices_of: choice.prices_of.map(str::to_owned),
    })
}

/// Checks a model with two to four calls of its vendor, which cost money.
///
/// The model is shown a test card and told to click on it. The report says if the vendor accepts the key, the name and
/// the picture, if the model uses the computer and hits, if the next call works and reads from the cache, and if the
/// price is known. One check runs at a time.
#[utoipa::path(
    post,
    path = "/models/check",
    operation_id = "check_model",
    tag = "sessions",
    request_body = CheckModelBody,
    responses(
        (status = 200, description = "the report, or the estimated cost", body = ModelCheckView),
        (status = 400, description = "`unknown_model`"),
        (status = 403, description = "`not_administrator`"),
        (status = 409, description = "`check_running`"),
        (status = 503, description = "`check_timed_out`"),
    ),
)]
pub(crate) async fn check(
    State(catalog): State<Catalog>,
    _: Administrator,
    Body(body): Body<CheckModelBody>,
) -> Result<Json<ModelCheckView>, Problem> {
    let name = body.model.as_deref();
    let checked = if body.estimate {
        catalog.estimate_check(name)?
    } else {
        catalog.check_model(name).await?
    };
    Ok(Json(ModelCheckView {
        model: checked.name,
        estimate_usd: checked.estimate_usd,
        report: checked.report,
    }))
}
