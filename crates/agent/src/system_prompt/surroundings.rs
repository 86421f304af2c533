//! The part of the system prompt about facts that differ from session to session: its network, and the secrets that the
//! agent can fill in.

use deskhand_core::{network::policy::NetworkMode, vault::SecretName};

const HEADING: &str = "# Facts about this computer\n\n";

/// The facts about a session's computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    pub network: NetworkMode,
    /// The secrets that the agent can fill in, by name.
    pub secrets: Vec<SecretName>,
}

impl Surroundings {
    /// Returns the facts, a line for each.
    pub(crate) fn lines(&self) -> String {
        let network = match self.network {
            NetworkMode::Closed => {
                "There is no internet: only pages and services on this computer can be reached. If the task needs the \
                 internet, say so at once."
            }
            NetworkMode::Allow => {
                "Some hosts of the internet can be reached. People are asked about others when you use them, so let the \
                 program wait."
            }
            NetworkMode::Open => "The internet can be reached.",
        };
        let names: Vec<_> = self
            .secrets
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let secrets = if names.is_empty() {
            "No secrets are stored for `fill_secret`.".to_owned()
        } else {
            format!("Secrets stored for `fill_secret`: {}.", names.join(", "))
        };
        format!("- {network}\n- {secrets}")
    }

    /// Returns the section of the system prompt.
    pub(super) fn section(&self) -> String {
        format!("{HEADING}{}\n", self.lines())
    }

    /// Returns the note about facts that have changed.
    pub(crate) fn note(&self) -> String {
        format!(
            "[Facts about this computer have changed. They are now:]\n\n{}",
            self.lines()
        )
    }
}
