//! The models that the agent asks what to do next.
//!
//! Each vendor is a module of its own that translates [`ModelRequest`](deskhand_core::model::ModelRequest)s into the
//! vendor's API and the answers back. Only [`ConfiguredModels`] knows all vendors. `scripted` needs no key and no
//! network: it plays a scenario from a file.

mod accepted;
mod anthropic;
mod aws;
mod browser_input;
mod call_ids;
mod chat;
mod chords;
mod computer_function;
#[cfg(test)]
mod conversations;
mod declared;
mod exchange;
mod gateway;
mod gemini;
mod google;
mod http;
mod images;
mod input;
mod known;
mod openai;
mod price_table;
mod prices;
mod redact;
mod retell;
mod scripted;
mod settings;
mod show;
mod space;
mod sse;
mod surface;
mod talk;
#[cfg(test)]
mod testing;
mod tool_input;
#[cfg(test)]
mod tool_input_tests;
mod vendors;
mod view;
mod windows;
mod wire;

use std::sync::Arc;

use deskhand_core::model::{ListedModel, Model, Models, UnknownModel};

pub use crate::{
    gateway::VendorGateway,
    scripted::CheckCall,
    settings::{
        AccountSettings, BedrockSettings, BrowserTool, Coordinates, ModelSettings, VertexSettings,
    },
    vendors::BadModelSettings,
};
use crate::{
    prices::Prices,
    scripted::{DEMO, ScriptedModels},
    vendors::Vendor,
};

/// All models that this server is set up for, by `vendor/name`.
#[derive(Debug)]
pub struct ConfiguredModels {
    scripted: ScriptedModels,
    vendors: Vec<Vendor>,
    prices: Prices,
    default_model: Option<String>,
}

impl ConfiguredModels {
    pub fn new(settings: ModelSettings) -> Result<Self, BadModelSettings> {
        Ok(Self {
            vendors: vendors::all(&settings)?,
            prices: Prices::new(settings.prices),
            scripted: ScriptedModels::new(settings.scenario_dir),
            default_model: settings.default_model,
        })
    }

    /// Checks the calls of scenarios when they are read instead of when they are played.
    #[must_use]
    pub fn checking_calls(mut self, check: CheckCall) -> Self {
        self.scripted.check_call = Some(check);
        self
    }

    fn find(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        let Some((vendor, name)) = name.split_once('/') else {
            return Err(format!(
                "models are named `vendor/name`; {}",
                self.what_there_is()
            ));
        };
        if vendor == scripted::VENDOR {
            return self.scripted.model(name);
        }
        let known = self.vendors.iter().find(|known| known.name == vendor);
        match known.map(|known| &known.account) {
            Some(Ok(_)) if name.is_empty() || name.contains(char::is_control) => {
                Err(format!("the name of the model is missing after {vendor}/"))
            }
            Some(Ok(account)) => {
                let price = self.prices.of(vendor, name);
                Ok(Arc::clone(account).model(name, price))
            }
            Some(Err(missing)) => Err(format!("{vendor} is not set up: {missing}")),
            None => Err(format!(
                "no vendor {vendor:?} is set up; {}",
                self.what_there_is()
            )),
        }
    }

    /// Lists the available vendors and scenarios, as the end of an error message.
    fn what_there_is(&self) -> String {
        let vendors = self.vendors.iter();
        let usable = vendors.filter(|vendor| vendor.account.is_ok());
        let names: Vec<&str> = usable.map(|vendor| vendor.name.as_str()).collect();
        format!(
            "vendors that are set up: {}; {}",
            names.join(", "),
            self.scripted.what_there_is()
        )
    }
}

impl Models for ConfiguredModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, UnknownModel> {
        self.find(name).map_err(|reason| UnknownModel {
            name: name.to_owned(),
            reason,
        })
    }

    fn default_model(&self) -> String {
        if let Some(name) = &self.default_model {
            return name.clone();
        }
        let usable = self
            .vendors
            .iter()
            .filter(|vendor| vendor.account.is_ok() && vendor.is_meant);
        let mut best = usable.filter_map(|vendor| {
            let name = known::names_of(&vendor.name).next()?;
            Some(format!("{}/{name}", vendor.name))
        });
        best.next()
            .unwrap_or_else(|| format!("{}/{DEMO}", scripted::VENDOR))
    }

    fn list(&self) -> Vec<ListedModel> {
        let scenarios = self.scripted.names().into_iter();
        let scenarios = scenarios.map(|name| ListedModel {
            name: format!("{}/{name}", scripted::VENDOR),
            problem: None,
            price: None,
        });
        let of_vendors = self.vendors.iter().flat_map(|vendor| {
            let set = self.prices.set_for(&vendor.name).map(str::to_owned);
            let names = known::names_of(&vendor.name).chain(set);
            names.map(|name| ListedModel {
                problem: vendor.account.as_ref().err().cloned(),
                price: self.prices.of(&vendor.name, &name),
                name: format!("{}/{name}", vendor.name),
            })
        });
        let mut listed: Vec<ListedModel> = of_vendors.chain(scenarios).collect();
        listed.sort_by_key(|model| model.problem.is_some());
        listed
    }

    fn prices_of(&self) -> Option<&'static str> {
        Some(&price_table::PRICE_TABLE.day)
    }
}
