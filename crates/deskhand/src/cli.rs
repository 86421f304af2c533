//! The command line: what can be asked for, in the words that `--help` shows.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Flags;

/// Gives an AI agent a computer of its own, and lets you watch it work.
#[derive(Debug, Parser)]
#[command(
    name = "deskhand",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "`deskhand serve` starts the server and prints where to look. \
                  `deskhand doctor` says what is missing on this machine."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Settings file in TOML; `deskhand config` shows all settings
    #[arg(long, value_name = "FILE", env = "DESKHAND_CONFIG", global = true)]
    #[arg(hide_env_values = true, help_heading = "Settings")]
    config: Option<PathBuf>,
    #[arg(long, value_name = "DIR", global = true, help_heading = "Settings")]
    #[arg(help = "Folder for everything that is kept [env: DESKHAND_DATA_DIR] \
                  [default: ~/.local/share/deskhand]")]
    data_dir: Option<String>,
}

impl SettingsArgs {
    pub(crate) fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            ..Flags::default()
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server and print where to look
    Serve(ServeArgs),
    /// Give the agent a task, watch it work, and print its answer
    Run(RunArgs),
    /// Print a new link for signing in to the running server
    Login(ServerArgs),
    /// Check this machine part by part and say how to mend what is missing
    Doctor(DoctorArgs),
    /// Print the settings in force and where each comes from
    Config,
    /// Print the OpenAPI document of the server in this program
    #[command(hide = true)]
    Openapi,
    /// The program inside a sandbox; reads its instructions from standard input
    #[command(hide = true)]
    Runner,
    /// The little shop of the built-in demo
    #[command(hide = true)]
    DemoShop(DemoShopArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[arg(long, value_name = "ADDRESS")]
    #[arg(help = "Address and port to listen on [env: DESKHAND_LISTEN] \
                  [default: 127.0.0.1:7878]")]
    pub(crate) listen: Option<String>,
    #[arg(long, value_name = "URL")]
    #[arg(help = "Database, such as postgres://USER:PASSWORD@HOST/NAME \
                  [env: DESKHAND_DATABASE] [default: a file in the data folder]")]
    pub(crate) database: Option<String>,
}

/// Which server to talk to.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[arg(help = "Server to talk to, with its token in DESKHAND_TOKEN \
                  [default: the one that uses the data folder]")]
    #[arg(
        long,
        value_name = "URL",
        env = "DESKHAND_SERVER",
        hide_env_values = true
    )]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The answer goes to standard output, the steps to standard error. \
                        Exits with 0 when the agent is done, 1 when it failed, 130 on Ctrl-C."
)]
pub(crate) struct RunArgs {
    /// What the agent should do
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Model to use, such as scripted/demo
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Keep the session afterwards and print where to look at it
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print every event as one line of JSON instead of steps and answer
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoShopArgs {
    /// Port on 127.0.0.1 to open the shop at
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
    /// File that orders are added to [default: ~/shop/orders.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) orders: Option<PathBuf>,
}
