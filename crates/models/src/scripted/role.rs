//! The models that a scenario can play.

use deskhand_core::{
    clock::{Clock, SystemClock},
    model::Price,
};

use crate::{
    anthropic,
    chat::{self, PointUnit},
    gemini, known, openai,
    settings::Coordinates,
    vendors::USUAL_COMPATIBLE,
    view::View,
};

/// A vendor's model without its answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    pub(super) view: View,
    pub(super) price: Option<Price>,
}

/// Vendors whose models are known by name.
const VENDORS: [&str; 5] = [
    anthropic::VENDOR,
    openai::VENDOR,
    gemini::VENDOR,
    "bedrock",
    "vertex",
];

impl Role {
    /// Returns the model called `vendor/name`, or the reason why there is none.
    pub(super) fn named(model: &str) -> Result<Self, String> {
        let Some((vendor, name)) = model.split_once('/').filter(|(_, name)| !name.is_empty())
        else {
            return Err(format!(
                "`plays` names a model as `vendor/name`, not {model:?}"
            ));
        };
        let price = known::price(vendor, name, SystemClock.now());
        let view = match vendor {
            _ if is_compatible(vendor) => chat::view(PointUnit::of(name, Coordinates::ByName)),
            _ if VENDORS.contains(&vendor) && price.is_none() => {
                let names: Vec<String> = known::names_of(vendor).collect();
                return Err(format!(
                    "{vendor} has no model {name:?} that is known here; there is {}",
                    names.join(", ")
                ));
            }
            openai::VENDOR => openai::view(name),
            gemini::VENDOR => gemini::view(),
            _ if VENDORS.contains(&vendor) => anthropic::view(name),
            _ => {
                let others = USUAL_COMPATIBLE.iter().map(|usual| usual.name);
                let names: Vec<&str> = VENDORS.into_iter().chain(others).collect();
                return Err(format!(
                    "there is no vendor {vendor:?} to play; there is {}",
                    names.join(", ")
                ));
            }
        };
        Ok(Self { view, price })
    }
}

/// Returns true if a vendor may have models of any name.
fn is_compatible(vendor: &str) -> bool {
    USUAL_COMPATIBLE.iter().any(|usual| usual.name == vendor)
}
