//! The list of sandbox providers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use deskhand_core::{
    gateway::Entrance,
    network::NetworkEntrance,
    sandbox::{Lifecycle, SandboxLimits},
    tasks::Tasks,
};

use crate::local;

/// All providers. `sandbox.provider` in the settings selects one by name.
const PROVIDERS: &[Provider] = &[local::PROVIDER];

/// A kind of sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    pub name: &'static str,
    /// Builds the provider. Starts nothing and writes nothing yet.
    pub build: fn(ProviderSettings, Tasks) -> Arc<dyn Lifecycle>,
}

/// The error for the name of a provider that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no sandbox provider {name:?}; choose one of: {}", names().join(", "))]
pub struct UnknownProvider {
    pub name: String,
}

/// Returns the provider with this name.
pub fn find(name: &str) -> Result<Provider, UnknownProvider> {
    let mut providers = PROVIDERS.iter().copied();
    providers
        .find(|provider| provider.name == name)
        .ok_or_else(|| UnknownProvider {
            name: name.to_owned(),
        })
}

/// Returns the names of all providers.
pub fn names() -> Vec<&'static str> {
    PROVIDERS.iter().map(|provider| provider.name).collect()
}

/// The settings of a deployment. Every provider uses those that concern it.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The folder for the files of all sandboxes. No other server may use it.
    pub dir: PathBuf,
    /// The program that is started in a sandbox, with the single argument `runner`.
    pub runner: PathBuf,
    /// Bubblewrap, for the provider `local`: a path, or a name to look up.
    pub bubblewrap: PathBuf,
    /// The time without a change after which the screen counts as settled.
    pub settle_quiet: Duration,
    /// The time after which the screen counts as settled in any case.
    pub settle_max: Duration,
    /// The most output that the reply to a shell command contains.
    pub shell_output_bytes: usize,
    /// True if the agent may run scripts in the pages of the browser.
    pub browser_scripts: bool,
    /// The limits of a sandbox whose spec has none.
    pub limits: SandboxLimits,
    /// The way to enforce disk limits, for the provider `local`.
    pub disk_quota: DiskQuota,
    /// The space on the disk that no sandbox may take.
    pub reserve_bytes: u64,
    /// The timeout for the start of a desktop.
    pub start_timeout: Duration,
    /// The model gateway for programs in a sandbox, if they may use it.
    pub gateway: Option<Entrance>,
    /// The server's end of the network, if sandboxes can be connected to it.
    pub network: Option<NetworkEntrance>,
    /// The most connections to other hosts that the server allows one sandbox at the same time.
    pub network_connections: usize,
    /// The folder of VS Code, if it is installed.
    pub code_server: Option<PathBuf>,
}

/// The way to enforce disk limits for new homes. Existing homes stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskQuota {
    /// Images where the machine can mount them, a watcher elsewhere.
    Auto,
    /// An image for each home, whose file system enforces the limit. No sandbox starts without one.
    Image,
    /// A folder for each home, and a watcher that stops a sandbox beyond its limit.
    Watched,
}

impl ProviderSettings {
    /// Returns the default settings.
    pub fn new(dir: PathBuf, runner: PathBuf) -> Self {
        Self {
            dir,
            runner,
            bubblewrap: PathBuf::from("bwrap"),
            settle_quiet: Duration::from_millis(60),
            settle_max: Duration::from_secs(2),
            shell_output_bytes: 20 * 1024,
            browser_scripts: false,
            limits: SandboxLimits::default(),
            disk_quota: DiskQuota::Auto,
            reserve_bytes: 1024 * 1024 * 1024,
            start_timeout: Duration::from_secs(20),
            gateway: None,
            network: None,
            network_connections: 512,
            code_server: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_provider_is_refused_with_the_list() {
        assert_eq!(find("local").unwrap().name, "local");
        assert_eq!(
            find("moon").unwrap_err().to_string(),
            "there is no sandbox provider \"moon\"; choose one of: local"
        );
    }
}
