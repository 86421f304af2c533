//! Models: what answers when the agent asks what to do next.
//!
//! Each vendor is a module of its own that turns [`ModelRequest`](deskhand_core::model::ModelRequest)s
//! into its wire and back; [`ConfiguredModels`] alone knows them all. So far there is one,
//! `scripted`, which needs no key and no network: it plays a scenario from a file.

mod anthropic;
mod call_ids;
mod chat;
mod chords;
mod functions;
mod gemini;
mod http;
mod images;
mod input;
mod openai;
mod retell;
mod scripted;
mod space;
mod sse;
mod talk;
mod tool_input;

use std::{path::PathBuf, sync::Arc};

use deskhand_core::model::{Model, Models, UnknownModel};

use crate::scripted::{DEMO, ScriptedModels};

/// All models this server is set up for, by `vendor/name`.
#[derive(Debug)]
pub struct ConfiguredModels {
    scripted: ScriptedModels,
}

impl ConfiguredModels {
    /// The built-in scenario, and those in `scenario_dir` as `NAME.yaml`.
    pub fn new(scenario_dir: Option<PathBuf>) -> Self {
        Self {
            scripted: ScriptedModels::new(scenario_dir),
        }
    }

    fn find(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        match name.split_once('/') {
            Some((scripted::VENDOR, scenario)) => self.scripted.model(scenario),
            Some((vendor, _)) => Err(format!(
                "no vendor {vendor:?} is set up; {}",
                self.scripted.what_there_is()
            )),
            None => Err(format!(
                "models are named `vendor/name`; {}",
                self.scripted.what_there_is()
            )),
        }
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
        format!("{}/{DEMO}", scripted::VENDOR)
    }
}
