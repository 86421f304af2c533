//! Checks of models against their vendors.

use std::time::Duration;

use deskhand_agent::model_check;
use deskhand_core::{model::UnknownModel, model_check::ModelReport};

use super::Catalog;
use crate::refusal::refusals;

/// The timeout of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(150);

/// A model that was checked, or may be.
#[derive(Debug)]
pub struct CheckedModel {
    pub name: String,
    /// The approximate cost of a check in US dollars. `None` if the model has no known price.
    pub estimate_usd: Option<f64>,
    /// `None` if only the cost was asked for.
    pub report: Option<ModelReport>,
}

/// The reason why a model is not checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckModelError {
    #[error(transparent)]
    Unknown(#[from] UnknownModel),
    #[error("another model is being checked; wait until that is done")]
    Busy,
    #[error("the vendor of {0} did not answer in time; try again later, or choose another model")]
    TimedOut(String),
}

refusals! {
    CheckModelError passes on Unknown;
    Self::Busy => Conflict("check_running"),
    Self::TimedOut(_) => Unavailable("check_timed_out"),
}

impl Catalog {
    /// Returns the approximate cost of checking a model, the default one without a name.
    pub fn estimate_check(&self, name: Option<&str>) -> Result<CheckedModel, CheckModelError> {
        let name = name.map_or_else(|| self.default_model(), str::to_owned);
        self.check(&name)?;
        let model = self.models.model(&name)?;
        Ok(CheckedModel {
            estimate_usd: model_check::estimate(&*model),
            name,
            report: None,
        })
    }

    /// Calls a model a few times and reports what works. One check runs at a time.
    pub async fn check_model(&self, name: Option<&str>) -> Result<CheckedModel, CheckModelError> {
        let estimate = self.estimate_check(name)?;
        let Ok(_running) = self.checking.try_lock() else {
            return Err(CheckModelError::Busy);
        };
        let model = self.models.model(&estimate.name)?;
        let check = model_check::check(&estimate.name, &*model);
        let Ok(report) = tokio::time::timeout(CHECK_TIMEOUT, check).await else {
            return Err(CheckModelError::TimedOut(estimate.name));
        };
        Ok(CheckedModel {
            report: Some(report),
            ..estimate
        })
    }
}
