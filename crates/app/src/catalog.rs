//! The catalog of models: those that people may choose, and those that a turn uses.

mod check;

use std::sync::Arc;

use deskhand_agent::ChosenModel;
use deskhand_core::model::{ListedModel, Models, UnknownModel};
use tokio::sync::Mutex;

pub use self::check::{CheckModelError, CheckedModel};

/// The longest name of a model. No vendor's names come near it.
const LONGEST_NAME: usize = 200;

/// All models. Clones share them.
#[derive(Debug, Clone)]
pub struct Catalog {
    models: Arc<dyn Models>,
    /// The model to use if another is unavailable.
    fallback: Option<Arc<str>>,
    /// Held while a model is checked.
    checking: Arc<Mutex<()>>,
}

/// The models that people may choose from.
#[derive(Debug)]
pub struct ModelChoice {
    /// The model of a session for which no other was chosen. It is one of `models`.
    pub default: String,
    /// Usable ones first.
    pub models: Vec<ListedModel>,
    /// The day of the listed prices.
    pub prices_of: Option<&'static str>,
}

impl Catalog {
    pub(crate) fn new(models: Arc<dyn Models>, fallback: Option<&str>) -> Self {
        Self {
            models,
            fallback: fallback.map(Arc::from),
            checking: Arc::default(),
        }
    }

    /// Lists the models to choose from. Other models of a vendor may be usable as well.
    pub fn list(&self) -> ModelChoice {
        let models = &self.models;
        let default = models.default_model();
        let mut listed = models.list();
        if !listed.iter().any(|model| model.name == default) {
            let found = models.model(&default);
            listed.push(ListedModel {
                name: default.clone(),
                price: found.as_ref().ok().and_then(|model| model.price()),
                problem: found.err().map(|error| error.reason),
            });
            listed.sort_by_key(|model| model.problem.is_some());
        }
        ModelChoice {
            default,
            models: listed,
            prices_of: models.prices_of(),
        }
    }

    /// Returns the model of a session for which no other was chosen.
    pub(crate) fn default_model(&self) -> String {
        self.models.default_model()
    }

    /// Checks that people may choose the model called `name`.
    pub fn check(&self, name: &str) -> Result<(), UnknownModel> {
        if name.chars().count() > LONGEST_NAME {
            return Err(UnknownModel {
                name: name.chars().take(LONGEST_NAME).collect(),
                reason: format!("the name of a model has at most {LONGEST_NAME} characters"),
            });
        }
        self.models.model(name).map(drop)
    }

    /// Returns the model called `name`, for use in a turn.
    pub(crate) fn chosen(&self, name: &str) -> Result<ChosenModel, UnknownModel> {
        Ok(ChosenModel {
            name: name.to_owned(),
            model: self.models.model(name)?,
        })
    }

    /// Returns the model to use if the one called `name` is unavailable.
    pub(crate) fn fallback(&self, name: &str) -> Option<ChosenModel> {
        let other = self.fallback.as_deref().filter(|other| *other != name)?;
        let chosen = self.chosen(other);
        chosen
            .inspect_err(|error| tracing::warn!(%error, "the fallback model cannot be used"))
            .ok()
    }
}
