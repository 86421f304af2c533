//! Which model a turn asks, and which one when that cannot be reached.

use deskhand_agent::ChosenModel;
use deskhand_core::model::{ListedModel, UnknownModel};

use crate::sessions::{Sessions, Shared};

/// The longest name of a model. No vendor's comes near it.
const LONGEST_NAME: usize = 200;

/// The models that people may choose from.
#[derive(Debug)]
pub struct ModelChoice {
    /// What a session uses when nobody says otherwise. It is one of `models`.
    pub default: String,
    /// Usable ones first.
    pub models: Vec<ListedModel>,
}

impl Sessions {
    /// What there is to choose from. Other models of a vendor may be usable as well.
    pub fn models(&self) -> ModelChoice {
        let models = &self.shared.models;
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
        }
    }
}

impl Shared {
    /// Whether people may choose the model called `name`.
    pub(crate) fn check_model(&self, name: &str) -> Result<(), UnknownModel> {
        if name.chars().count() > LONGEST_NAME {
            return Err(UnknownModel {
                name: name.chars().take(LONGEST_NAME).collect(),
                reason: format!("a name has at most {LONGEST_NAME} characters"),
            });
        }
        self.models.model(name).map(drop)
    }

    pub(crate) fn chosen(&self, name: &str) -> Result<ChosenModel, UnknownModel> {
        Ok(ChosenModel {
            name: name.to_owned(),
            model: self.models.model(name)?,
        })
    }

    /// Who is asked when the model called `name` cannot be reached.
    pub(crate) fn fallback(&self, name: &str) -> Option<ChosenModel> {
        let other = self.settings.fallback_model.as_ref();
        let other = other.filter(|other| *other != name)?;
        let chosen = self.chosen(other);
        chosen
            .inspect_err(|error| tracing::warn!(%error, "the fallback model cannot be used"))
            .ok()
    }
}
