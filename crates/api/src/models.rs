//! Models that people can choose from.

use deskhand_core::{
    model::{ListedModel, LongPrompts, Price, PriceSource},
    model_check::ModelReport,
};
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
    /// The day of the listed prices, as `2026-11-16`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = Date)]
    pub prices_of: Option<String>,
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

/// A check of a model.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = CheckModel)]
#[serde(deny_unknown_fields)]
pub struct CheckModelBody {
    /// `vendor/name`. The default model without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub model: Option<String>,
    /// Only estimates the cost, and calls nobody.
    #[serde(default)]
    pub estimate: bool,
}

/// The outcome of a check of a model.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ModelCheck)]
pub struct ModelCheckView {
    /// `vendor/name`.
    pub model: String,
    /// The approximate cost of a check in US dollars. Null if the model has no known price.
    #[schema(required)]
    pub estimate_usd: Option<f64>,
    /// Null if only the cost was asked for.
    #[schema(required)]
    pub report: Option<ModelReport>,
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
    /// The surcharge for long prompts, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub long: Option<LongPromptsView>,
    #[serde(default)]
    pub source: PriceSourceView,
    /// With the source `guessed`: the model whose price it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub like: Option<String>,
}

/// The surcharge for requests whose prompt is long. It holds for the whole request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = LongPrompts)]
pub struct LongPromptsView {
    /// Longer prompts than this cost more.
    pub over_tokens: u64,
    /// The factor for everything that is read.
    pub input_factor: f64,
    pub output_factor: f64,
}

/// The origin of a price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PriceSource)]
pub enum PriceSourceView {
    /// The server's table of published prices.
    #[default]
    Listed,
    /// The settings of the server.
    Set,
    /// The price of the dearest known model of its family.
    Guessed,
}

impl From<Price> for PriceView {
    fn from(price: Price) -> Self {
        let (source, like) = match price.source {
            PriceSource::Listed => (PriceSourceView::Listed, None),
            PriceSource::Set => (PriceSourceView::Set, None),
            PriceSource::Guessed { like } => (PriceSourceView::Guessed, Some(like.to_owned())),
        };
        Self {
            input: price.input,
            cache_write: price.cache_write,
            cache_read: price.cache_read,
            output: price.output,
            long: price.long.map(LongPromptsView::from),
            source,
            like,
        }
    }
}

impl From<LongPrompts> for LongPromptsView {
    fn from(long: LongPrompts) -> Self {
        Self {
            over_tokens: long.over_tokens,
            input_factor: long.input_factor,
            output_factor: long.output_factor,
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
