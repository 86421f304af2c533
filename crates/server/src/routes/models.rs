//! The models that users may choose from.

use axum::{Json, extract::State};
use deskhand_api::models::{ModelView, ModelsView};
use deskhand_app::Catalog;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Caller};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list))
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
