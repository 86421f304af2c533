//! The command line: the commands and options, and their help texts.

mod answer;
mod computer;
mod evals;
mod jamie;
mod mcp;
mod run;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use deskhand_core::{computer::ComputerKind, user::Scope};

pub(crate) use self::{
    answer::AnswerArgs,
    computer::{AttachArgs, CpArgs, NetworkArgs},
    evals::{EvalArgs, EvalPagesArgs},
    jamie::JamieArgs,
    mcp::McpArgs,
    run::RunArgs,
};
use crate::{config::Flags, people::parse_scope};

/// Gives an AI agent a computer of its own, and lets you watch it work.
#[derive(Debug, Parser)]
#[command(
    name = "deskhand",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "`deskhand serve` starts the server and prints a link to it. `deskhand doctor` checks what is \
                  missing on this machine."
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
    #[arg(
        help = "Folder for all stored data [env: DESKHAND_DATA_DIR] [default: ~/.local/share/deskhand]"
    )]
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
    /// Start the server and print a link to it
    Serve(ServeArgs),
    /// Give the agent a task, watch it work, and print its answer
    Run(RunArgs),
    /// Open a terminal of a session's desktop in this terminal
    Attach(AttachArgs),
    /// Offer agents to another program as MCP tools, over standard input and output
    Mcp(McpArgs),
    /// Run the Discord bot, which streams web pages to voice channels, apart from the server
    Jamie(JamieArgs),
    /// Print a new link for signing in to the running server
    Login(ServerArgs),
    /// List the questions that agents ask you
    Decisions(ServerArgs),
    /// Answer a question of an agent
    Answer(AnswerArgs),
    /// Copy files and folders to and from the desktop of a session
    Cp(CpArgs),
    /// Measure models on a suite of tasks, side by side
    Eval(EvalArgs),
    /// List the models, their prices and what is missing to use them
    Models(ModelsArgs),
    /// Print the instructions that a model gets before the conversation
    Prompt(PromptArgs),
    /// Add, list, limit and disable users
    User(UserArgs),
    /// Create, list and revoke tokens for your programs
    Token(TokenArgs),
    /// Store, list and remove secrets, which agents use and never see
    Secret(SecretArgs),
    /// List who changed accounts, rights, tokens, secrets and limits
    Audit(AuditArgs),
    /// List the hosts that programs in a session contacted or tried to, or change its network
    Network(NetworkArgs),
    /// Check this machine and print how to fix what is missing
    Doctor(DoctorArgs),
    /// Print the current settings and the source of each
    Config,
    /// Print the OpenAPI document of the server in this program
    #[command(hide = true)]
    Openapi,
    /// The program inside a sandbox; reads its instructions from standard input
    #[command(hide = true)]
    Runner,
    /// Create the network interface of a sandbox and pass it on over standard input
    #[command(hide = true)]
    Interface {
        /// A process in the sandbox
        pid: u32,
    },
    /// The small shop of the built-in demo
    #[command(hide = true)]
    DemoShop(DemoShopArgs),
    /// The pages of a task of an eval
    #[command(hide = true)]
    EvalPages(EvalPagesArgs),
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

/// The server to talk to.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[arg(help = "Server to talk to, with its token in DESKHAND_TOKEN \
                  [default: the one that uses the data folder]")]
    #[arg(
        long,
        value_name = "URL",
        env = "DESKHAND_SERVER",
        hide_env_values = true,
        global = true
    )]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UserArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(subcommand)]
    pub(crate) command: UserCommand,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum UserCommand {
    /// Create a user and print a link that signs them in once
    Add {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
        /// Make them an administrator
        #[arg(long)]
        admin: bool,
    },
    /// List all users with their roles
    List,
    /// Sign a user out everywhere and keep them out
    Disable {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Let a disabled user sign in again
    Enable {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Set the limits of a user; the settings decide those that are not given
    Limit {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
        /// Sessions that may be awake at the same time
        #[arg(long, value_name = "N")]
        awake: Option<u32>,
        /// Sessions that may be created in 24 hours
        #[arg(long, value_name = "N")]
        per_day: Option<u32>,
        /// Seconds that an idle session stays awake
        #[arg(long, value_name = "SECONDS")]
        idle: Option<u32>,
        /// Seconds that one desktop may run
        #[arg(long, value_name = "SECONDS")]
        life: Option<u32>,
        /// US dollars that all their sessions may cost in a day; 0 means no limit
        #[arg(long, value_name = "USD")]
        day_usd: Option<f64>,
        /// Tokens that all their sessions may use in a day; 0 means no limit
        #[arg(long, value_name = "N")]
        day_tokens: Option<u64>,
    },
    /// Print a new link that signs a user in once
    Link {
        /// Name of the user
        #[arg(value_name = "NAME")]
        name: String,
        /// For a user who has signed in before: end all their sign-ins first
        #[arg(long)]
        reset: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only changes by this user, or about them
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Only this action, such as token.created, or one subject, such as token
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Number of changes, the newest ones
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum TokenCommand {
    /// Create a token and print it
    New {
        /// Purpose of the token
        #[arg(value_name = "NAME")]
        name: String,
        /// read, write (also use sessions), admin (also manage tokens and users) or metrics (only metrics)
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        #[arg(value_parser = parse_scope)]
        scope: Scope,
        /// Days until it expires [default: never]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
    },
    /// List your tokens
    List,
    /// Revoke a token at once
    Revoke {
        /// Name or beginning of the token
        #[arg(value_name = "TOKEN")]
        which: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SecretArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(subcommand)]
    pub(crate) command: SecretCommand,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum SecretCommand {
    /// Store a secret; asks for its value, or reads it from standard input
    Set {
        /// Name of the secret
        #[arg(value_name = "NAME")]
        name: String,
        #[arg(long = "origin", value_name = "ORIGIN", required = true)]
        #[arg(help = "Site where it may be used, such as https://example.com; can be repeated")]
        origins: Vec<String>,
        #[arg(long = "header", value_name = "HEADER", requires = "env")]
        #[arg(
            help = "For HTTP APIs: request header that may contain it, such as authorization; can be repeated"
        )]
        headers: Vec<String>,
        #[arg(long, value_name = "VARIABLE", requires = "headers")]
        #[arg(
            help = "For HTTP APIs: environment variable in which programs find a stand-in, such as GITHUB_TOKEN"
        )]
        env: Option<String>,
    },
    /// List your secrets without their values
    List,
    /// Remove a secret
    Remove {
        /// Name of the secret
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Add a new key to this machine's key file; a running server seals all secrets with it within a minute
    RotateKey,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Check models with a few cheap calls of their vendors, and say what to do about what fails
    Check(CheckModelsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CheckModelsArgs {
    /// Models to check, as `vendor/name` [default: the model of new sessions]
    #[arg(value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// Only print what the check would cost
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Model to print them for [default: the model of new sessions]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Kind of computer to print them for: desktop or browser
    #[arg(long, value_name = "KIND", default_value = "desktop")]
    pub(crate) computer: ComputerKind,
    /// Instructions of a session to add
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
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
