//! Which model a turn asks, and which one when that cannot be reached.

use deskhand_agent::ChosenModel;
use deskhand_core::model::UnknownModel;

use crate::sessions::Shared;

impl Shared {
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
