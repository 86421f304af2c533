//! The options for starting a world.

use std::{sync::Arc, time::Duration};

use deskhand_agent::{PromptTemplate, TurnLimits};
use deskhand_app::{FileLimits, NetworkSettings, RequireLimits, Settings};
use deskhand_core::{
    action::ScreenSize,
    budget::Budget,
    computer::USUAL_VIEWPORT,
    limits::Limits,
    network::policy::{NetworkBounds, NetworkMode},
};
use deskhand_jamie::ActivityDoor;
use deskhand_models::ModelSettings;
use deskhand_server::ConnectionLimits;
use deskhand_streams::StreamSettings;

/// The kind of database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Database {
    #[default]
    Sqlite,
    /// A new database on the server that `scripts/with-postgres` started.
    Postgres,
}

/// The options for starting a world.
#[derive(Debug, Clone)]
pub struct WorldOptions {
    pub database: Database,
    /// Scenarios for `scripted/NAME`, as name and YAML.
    pub scenarios: Vec<(String, String)>,
    /// The vendors. By default none is set up.
    pub models: ModelSettings,
    /// The settings of the app. By default those of `config.default.toml`, but with limits that no test reaches by
    /// accident.
    pub settings: Settings,
    /// The limit for one token or user. 0 means no limit.
    pub requests_per_second: u32,
    /// The limit for one address. 0 means no limit.
    pub sign_ins_per_minute: u32,
    /// The limit for one address. 0 means no limit.
    pub wrong_tokens_per_minute: u32,
    pub connections: ConnectionLimits,
    /// The address for users, if it is not the one that the server listens on.
    pub public_url: Option<String>,
    /// Names under which the server may be reached.
    pub allowed_hosts: Vec<String>,
    /// The domain of services of sandboxes.
    pub apps_domain: Option<String>,
    /// Runs streams with these settings.
    pub streams: Option<StreamSettings>,
    /// Lets people in Discord watch streams.
    pub activity: Option<Arc<ActivityDoor>>,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            database: Database::Sqlite,
            scenarios: Vec::new(),
            models: ModelSettings::default(),
            settings: Settings {
                screen: ScreenSize {
                    width: 1024,
                    height: 768,
                },
                viewport: USUAL_VIEWPORT,
                turn: TurnLimits::default(),
                limits: Limits {
                    awake_sessions: 1000,
                    sessions_per_day: 100_000,
                    idle: Duration::from_mins(15),
                    life: Duration::from_hours(24),
                    day: Budget {
                        usd: Some(50.0),
                        tokens: None,
                    },
                },
                session_budget: Budget {
                    usd: Some(5.0),
                    tokens: None,
                },
                fallback_model: None,
                effort: None,
                prompt: PromptTemplate::default(),
                keep_ended: None,
                queue_length: 20,
                require_limits: RequireLimits::default(),
                network: network(),
                files: FileLimits::up_to(4 * 1024 * 1024 * 1024),
                has_code: true,
                browser_scripts: false,
                mcp_servers: Vec::new(),
            },
            requests_per_second: 0,
            sign_ins_per_minute: 0,
            wrong_tokens_per_minute: 0,
            connections: ConnectionLimits::NONE,
            public_url: None,
            allowed_hosts: Vec::new(),
            apps_domain: None,
            streams: None,
            activity: None,
        }
    }
}

/// Returns network settings under which sessions may contact everything.
fn network() -> NetworkSettings {
    NetworkSettings {
        default: NetworkMode::Open,
        bounds: NetworkBounds {
            ceiling: NetworkMode::Open,
            ..NetworkBounds::default()
        },
        connections: 512,
        owner_connections: 2048,
        session_bytes: None,
        while_idle: false,
        ask_timeout: Duration::from_secs(120),
    }
}

impl WorldOptions {
    /// Adds scenarios, as name and YAML.
    #[must_use]
    pub fn knowing(mut self, scenarios: &[(&str, &str)]) -> Self {
        let owned = |(name, yaml): &(&str, &str)| ((*name).to_owned(), (*yaml).to_owned());
        self.scenarios.extend(scenarios.iter().map(owned));
        self
    }

    /// Changes the limits of users.
    #[must_use]
    pub fn limited(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.settings.limits);
        self
    }
}
