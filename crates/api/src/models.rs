//! Models that people can choose from.

use deskhand_core::model::{ListedModel, Price};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The models to choose from, usable ones first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Models)]
pub struct ModelsView {
    /// The model of a session for which none was chosen. It is one of `models`.
    pub default: String,
    /// The models that are known by name. A vendor may have other usable models.
    pub models: Vec<ModelView>,
}

/// A model.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Model)]
pub struct ModelView {
    /// `vendor/name`.
    pub name: String,
    pub usable: bool,
    /// The reason why it cannot be used, and the way out.
    #[schema(required)]
    pub problem: Option<String>,
    /// Null if it is unknown.
    #[schema(required)]
    pub price: Option<PriceView>,
}

/// The price of a million tokens, in US dollars.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Price)]
pub struct PriceView {
    /// The price of tokens read, without those read from or written to the vendor's cache.
    pub input: f64,
    pub cache_write: f64,
    pub cache_read: f64,
    pub output: f64,
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
