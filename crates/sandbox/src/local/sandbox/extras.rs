//! The parts of a spec that concern only the programs of a sandbox.

use std::collections::BTreeMap;

use deskhand_core::secret::Secret;

use crate::local::{process::CoveredFile, trust};

#[derive(Debug)]
pub(crate) struct LocalExtras {
    /// Environment variables of all programs.
    pub(crate) variables: BTreeMap<String, Secret>,
    /// An authority that programs trust, in DER.
    pub(crate) authority: Option<Vec<u8>>,
}

impl LocalExtras {
    /// Returns the files that replace others in the sandbox.
    pub(super) fn covered_files(&self) -> Vec<CoveredFile> {
        let authority = self.authority.as_deref();
        authority.map(trust::files).unwrap_or_default()
    }

    /// Returns the variables of all programs. Those of the provider take precedence.
    pub(super) fn variables(self) -> BTreeMap<String, Secret> {
        let mut variables = self.variables;
        if self.authority.is_some() {
            variables.extend(trust::variables());
        }
        variables
    }
}
