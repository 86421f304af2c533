//! The settings, and loading them for a process.
//!
//! `config.default.toml` is the list of all settings and their defaults. A file overrides the
//! defaults, the environment overrides the file, and flags override both. All mistakes are reported together.

mod apps;
mod bounds;
mod jamie;
mod layers;
mod mcp_servers;
mod models;
mod network;
mod port;
mod prices;
mod reader;
mod settle;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_agent::PromptTemplate;
use deskhand_core::{
    action::ScreenSize, budget::Budget, limits::Limits, model::Effort, sandbox::SandboxLimits,
    secret::Secret, tool_server::spec::McpServerSpec,
};
use deskhand_models::ModelSettings;
use deskhand_sandbox::providers::DiskQuota;

pub(crate) use apps::AppsConfig;
use bounds::{budget, keep_ended, limits};
pub(crate) use jamie::JamieConfig;
pub(crate) use layers::{Layers, Mistake, Source};
use models::models;
pub(crate) use network::NetworkConfig;
pub(crate) use port::PortConfig;
use reader::Reader;
use settle::{SettleConfig, settle};

/// The current settings.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    /// `None` for the file in the data folder.
    pub(crate) database: Option<Secret>,
    /// Without a slash at the end. `None` if it follows from the address that the server listens on.
    pub(crate) public_url: Option<String>,
    pub(crate) port: PortConfig,
    pub(crate) apps: AppsConfig,
    pub(crate) log: LogConfig,
    pub(crate) screen: ScreenSize,
    /// The size of a page in a sandbox without a screen.
    pub(crate) viewport: ScreenSize,
    pub(crate) settle: SettleConfig,
    pub(crate) sandbox: SandboxConfig,
    pub(crate) turn: TurnConfig,
    pub(crate) limits: Limits,
    /// The time for which sessions are kept after their end. `None` for ever.
    pub(crate) keep_ended: Option<Duration>,
    /// The budget of a session that was not given one.
    pub(crate) session_budget: Budget,
    pub(crate) rate: RateConfig,
    /// True if programs in sandboxes may call models.
    pub(crate) has_gateway: bool,
    pub(crate) network: NetworkConfig,
    /// The MCP servers that every session has.
    pub(crate) mcp_servers: Vec<McpServerSpec>,
    pub(crate) jamie: JamieConfig,
    pub(crate) models: ModelSettings,
    /// The model to use if a session's model cannot be reached.
    pub(crate) fallback_model: Option<String>,
    /// The effort that models put into thinking.
    pub(crate) effort: Option<Effort>,
    /// The instructions that every model gets before the conversation.
    pub(crate) prompt: PromptTemplate,
    /// The file of the key that encrypts stored secrets.
    pub(crate) key_file: PathBuf,
}

#[derive(Debug, Clone)]
pub(crate) struct LogConfig {
    /// A filter that `tracing_subscriber` understands.
    pub(crate) level: String,
    /// True if the level was chosen, false if it is the default.
    pub(crate) level_is_chosen: bool,
    pub(crate) format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone)]
pub(crate) struct SandboxConfig {
    pub(crate) provider: String,
    pub(crate) bubblewrap: PathBuf,
    pub(crate) start_timeout: Duration,
    pub(crate) limits: SandboxLimits,
    pub(crate) disk_quota: DiskQuota,
    pub(crate) reserve_bytes: u64,
    pub(crate) require_limits: LimitsWanted,
    pub(crate) shell_output_bytes: usize,
    pub(crate) browser_scripts: bool,
}

const SCRIPTS: [(&str, bool); 2] = [("refuse", false), ("allow", true)];

/// The servers on which sandboxes must have limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitsWanted {
    /// Those with more than one user or an address beyond loopback.
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnConfig {
    pub(crate) max_steps: u32,
    pub(crate) max_duration: Duration,
    pub(crate) longest_answer: Duration,
    pub(crate) kept_images: usize,
    pub(crate) pruned_images: usize,
    pub(crate) queue_length: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RateConfig {
    pub(crate) requests_per_second: u32,
    pub(crate) sign_ins_per_minute: u32,
    pub(crate) wrong_tokens_per_minute: u32,
}

/// The settings that a command line gives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<String>,
    pub(crate) database: Option<String>,
    pub(crate) listen: Option<String>,
}

/// The process's environment, as a value so that tests can choose it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment(pub(crate) Vec<(String, String)>);

impl Environment {
    /// Returns the environment of this process. Variables that are not UTF-8 are left out; they cannot be ours.
    pub(crate) fn of_this_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// Returns the value of a variable. An empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Reasons why the settings cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadConfigError {
    #[error("cannot read the settings file {path}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} is not a settings file")]
    Syntax {
        path: PathBuf,
        source: toml::de::Error,
    },
    #[error("the built-in settings are broken")]
    Defaults(#[source] toml::de::Error),
    #[error("{}", layers::told_together(.0))]
    Mistakes(Vec<Mistake>),
}

/// The settings, and the origin of each.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) layers: Layers,
}

/// Loads the settings from the defaults, a file, the environment and flags.
pub(crate) fn load(flags: &Flags, environment: &Environment) -> Result<Loaded, LoadConfigError> {
    let mut layers = Layers::defaults().map_err(LoadConfigError::Defaults)?;
    if let Some(path) = &flags.config {
        layers.add_file(path, read_file(path)?);
    }
    layers.add_environment(environment);
    if let Some(listen) = &flags.listen {
        layers.add_flag("listen", "--listen", listen);
    }
    if let Some(data_dir) = &flags.data_dir {
        layers.add_flag("data_dir", "--data-dir", data_dir);
    }
    if let Some(database) = &flags.database {
        layers.add_flag("database", "--database", database);
    }
    let mut reader = Reader::new(layers, environment);
    let config = read(&mut reader);
    let (layers, mistakes) = reader.finish();
    if mistakes.is_empty() {
        Ok(Loaded { config, layers })
    } else {
        Err(LoadConfigError::Mistakes(mistakes))
    }
}

fn read_file(path: &Path) -> Result<toml::Table, LoadConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| LoadConfigError::Read {
        path: path.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|source| LoadConfigError::Syntax {
        path: path.to_owned(),
        source,
    })
}

/// Reads every setting from the layers.
///
/// For a wrong one the reader records a mistake and returns a placeholder, so that the others are checked too.
fn read(reader: &mut Reader<'_>) -> Config {
    let data_dir = reader.data_dir("data_dir");
    let public_url = reader.url("public_url");
    let port = port::port(reader);
    Config {
        listen: reader.address("listen"),
        database: reader.database("database"),
        apps: apps::apps(reader, public_url.as_deref(), &port.allowed_hosts),
        public_url,
        port,
        log: log(reader),
        screen: size(reader, ["screen.width", "screen.height"]),
        viewport: size(reader, ["viewport.width", "viewport.height"]),
        settle: settle(reader),
        sandbox: sandbox(reader),
        turn: turn(reader),
        limits: limits(reader),
        keep_ended: keep_ended(reader),
        session_budget: budget(reader, "session"),
        rate: RateConfig {
            requests_per_second: reader.integer("rate.requests_per_second", 0..=1_000_000),
            sign_ins_per_minute: reader.integer("rate.sign_ins_per_minute", 0..=100_000),
            wrong_tokens_per_minute: reader.integer("rate.wrong_tokens_per_minute", 0..=1_000_000),
        },
        prompt: prompt(reader),
        has_gateway: reader.yes_or_no("gateway.enabled"),
        network: network::network(reader),
        mcp_servers: mcp_servers::mcp_servers(reader),
        jamie: jamie::jamie(reader, &data_dir),
        models: models(reader, &data_dir),
        fallback_model: reader.text_or_nothing("models.fallback"),
        effort: models::effort(reader),
        key_file: reader.path("secrets.key_file", &data_dir.join("secrets.key")),
        data_dir,
    }
}

fn size(reader: &mut Reader<'_>, [width, height]: [&str; 2]) -> ScreenSize {
    ScreenSize {
        width: reader.integer(width, 320..=7680),
        height: reader.integer(height, 240..=4320),
    }
}

fn log(reader: &mut Reader<'_>) -> LogConfig {
    LogConfig {
        level: reader.log_level("log.level"),
        level_is_chosen: reader.is_chosen("log.level"),
        format: reader.one_of(
            "log.format",
            &[("text", LogFormat::Text), ("json", LogFormat::Json)],
        ),
    }
}

fn sandbox(reader: &mut Reader<'_>) -> SandboxConfig {
    const MIB: u64 = 1024 * 1024;
    SandboxConfig {
        provider: provider(reader),
        bubblewrap: reader.text("sandbox.bubblewrap").into(),
        start_timeout: Duration::from_millis(
            reader.integer("sandbox.start_timeout_ms", 1_000..=600_000),
        ),
        limits: SandboxLimits {
            memory_bytes: reader.integer("sandbox.memory_mib", 256..=1_048_576) * MIB,
            cpus: cpus(reader),
            processes: reader.integer("sandbox.processes", 64..=1_000_000),
            file_size_bytes: reader.integer("sandbox.file_size_mib", 1..=1_048_576) * MIB,
            disk_bytes: reader.integer("sandbox.disk_mib", 64..=16_777_216) * MIB,
            disk_files: reader.integer("sandbox.disk_files", 1_000..=100_000_000),
        },
        disk_quota: reader.one_of(
            "sandbox.disk_quota",
            &[
                ("auto", DiskQuota::Auto),
                ("image", DiskQuota::Image),
                ("watched", DiskQuota::Watched),
            ],
        ),
        reserve_bytes: reader.integer("sandbox.reserve_mib", 0..=1_048_576) * MIB,
        require_limits: reader.one_of(
            "sandbox.require_limits",
            &[
                ("auto", LimitsWanted::Auto),
                ("always", LimitsWanted::Always),
                ("never", LimitsWanted::Never),
            ],
        ),
        shell_output_bytes: reader.integer::<usize>("sandbox.shell_output_kib", 1..=16_384) * 1024,
        browser_scripts: reader.one_of("sandbox.browser_scripts", &SCRIPTS),
    }
}

fn turn(reader: &mut Reader<'_>) -> TurnConfig {
    TurnConfig {
        max_steps: reader.integer("turn.max_steps", 1..=10_000),
        max_duration: Duration::from_secs(
            60 * reader.integer::<u64>("turn.max_minutes", 1..=1_440),
        ),
        longest_answer: Duration::from_secs(reader.integer("turn.max_answer_seconds", 1..=86_400)),
        kept_images: reader.integer("turn.kept_images", 1..=100),
        pruned_images: reader.integer("turn.pruned_images", 1..=100),
        queue_length: reader.integer("turn.queue_length", 1..=1_000),
    }
}

/// Reads the instructions that every model gets before the conversation.
fn prompt(reader: &mut Reader<'_>) -> PromptTemplate {
    const KEY: &str = "prompt.file";
    let Some(path) = reader.file(KEY) else {
        return PromptTemplate::default();
    };
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot be read: {error}"));
    let template =
        text.and_then(|text| PromptTemplate::parse(&text).map_err(|bad| bad.to_string()));
    template.unwrap_or_else(|problem| {
        reader.mistake(KEY, &format!("{}: {problem}", path.display()));
        PromptTemplate::default()
    })
}

/// Reads the name of the sandbox provider, which must be in the list of providers.
fn provider(reader: &mut Reader<'_>) -> String {
    const KEY: &str = "sandbox.provider";
    let name = reader.text(KEY);
    if let Err(unknown) = deskhand_sandbox::providers::find(&name) {
        reader.mistake(KEY, &unknown.to_string());
    }
    name
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the value is within the bounds"
)]
fn cpus(reader: &mut Reader<'_>) -> f32 {
    reader.number("sandbox.cpus", 0.1..=1024.0) as f32
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
