//! The models that people may choose from.

use axum::{Json, extract::State};
use deskhand_app::Catalog;
use deskhand_core::model::{ListedModel, Price};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Shared, caller::Caller};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list))
}

/// What there is to choose from, usable ones first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Models)]
pub(crate) struct ModelsView {
    /// What a session uses when nobody says otherwise. It is one of `models`.
    default: String,
    /// Those that are known by name. Other models of a vendor may be usable as well.
    models: Vec<ModelView>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Model)]
pub(crate) struct ModelView {
    /// `vendor/name`.
    name: String,
    usable: bool,
    /// Why it cannot be used, and the way out.
    #[schema(required)]
    problem: Option<String>,
    /// Null when it is not known.
    #[schema(required)]
    price: Option<PriceView>,
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Price)]
pub(crate) struct PriceView {
    /// Read, and neither from the vendor's cache nor into it.
    input: f64,
    cache_write: f64,
    cache_read: f64,
    output: f64,
}

impl From<Price> for PriceView {
    fn from(price: Price) -> Self {
        Self {
            input: price.input,
            cache_write: price.cache_write,
            cache_read: price.cache_read,
            output: price.output,
        }
    }
}

impl From<ListedModel> for ModelView {
    fn from(model: ListedModel) -> Self {
        Self {
            name: model.name,
            usable: model.problem.is_none(),
            problem: model.problem,
            price: model.price.map(PriceView::from),
        }
    }
}

/// Lists the models there are, and why some cannot be used.
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
    })
}
