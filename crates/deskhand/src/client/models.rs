//! Calls about models.

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{CallError, Client};

/// The models there are, as the server lists them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) default: String,
    pub(crate) models: Vec<ListedModel>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ListedModel {
    pub(crate) name: String,
    pub(crate) usable: bool,
    pub(crate) problem: Option<String>,
    pub(crate) price: Option<Price>,
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Price {
    pub(crate) input: f64,
    pub(crate) cache_write: f64,
    pub(crate) cache_read: f64,
    pub(crate) output: f64,
}

impl Client {
    pub(crate) async fn models(&self) -> Result<Listed, CallError> {
        self.call(Method::GET, "/api/models", None).await
    }
}
