//! The file format of a suite.

use std::collections::BTreeMap;

use deskhand_core::computer::ComputerKind;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::SuiteNetwork;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteFile {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) description: String,
    /// The values of tasks that have none of their own.
    #[serde(default)]
    pub(super) defaults: DefaultsFile,
    pub(super) tasks: Spanned<Vec<Spanned<TaskFile>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DefaultsFile {
    pub(super) computer: ComputerKind,
    pub(super) network: SuiteNetwork,
    pub(super) instructions: String,
    pub(super) limits: Option<Spanned<LimitsFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskFile {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) tags: Vec<Spanned<String>>,
    pub(super) task: Spanned<String>,
    pub(super) instructions: Option<String>,
    pub(super) computer: Option<ComputerKind>,
    pub(super) network: Option<SuiteNetwork>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) pages: BTreeMap<String, Spanned<String>>,
    pub(super) open: Option<Spanned<String>>,
    pub(super) setup: Option<Spanned<String>>,
    pub(super) check: Spanned<String>,
    pub(super) limits: Option<Spanned<LimitsFile>>,
    pub(super) oracle: Option<Spanned<Value>>,
    pub(super) fool: Option<Spanned<Value>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsFile {
    pub(super) steps: Option<u32>,
    pub(super) seconds: Option<u32>,
    pub(super) usd: Option<f64>,
}
