//! Findings of `deskhand doctor`.

/// A single check and its finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorCheck {
    pub name: &'static str,
    pub state: CheckState,
    /// The finding, in a few words.
    pub detail: String,
    /// The way to fix it, if there is one.
    pub remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Ok,
    /// It works, with a drawback that the operator should know.
    Warning,
    /// Deskhand cannot work without it.
    Missing,
}

impl DoctorCheck {
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            state: CheckState::Ok,
            detail: detail.into(),
            remedy: None,
        }
    }

    pub fn warning(
        name: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            name,
            state: CheckState::Warning,
            detail: detail.into(),
            remedy: Some(remedy.into()),
        }
    }

    pub fn missing(
        name: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            state: CheckState::Missing,
            ..Self::warning(name, detail, remedy)
        }
    }
}
