//! The command line: the commands and options, and their help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use deskhand_core::{id::DecisionId, user::Scope};

use crate::{config::Flags, people::parse_scope};

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
    /// Print what the agents ask you
    Decisions(ServerArgs),
    /// Answer what an agent asks
    Answer(AnswerArgs),
    /// Print the models there are, what they cost and what is missing for them
    Models(ModelsArgs),
    /// Print what a model is told before the conversation
    Prompt(PromptArgs),
    /// Add, list, limit and disable users
    User(UserArgs),
    /// Make, list and revoke tokens for your programs
    Token(TokenArgs),
    /// Store, list and remove what agents may type and never see
    Secret(SecretArgs),
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
        hide_env_values = true,
        global = true
    )]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "A text answers a question, or names what is chosen.")]
#[group(id = "given", required = true, multiple = false)]
pub(crate) struct AnswerArgs {
    /// Which, as `deskhand decisions` prints it
    #[arg(value_name = "ID")]
    pub(crate) id: DecisionId,
    /// The answer; several when several may be chosen
    #[arg(value_name = "TEXT", group = "given", num_args = 1..)]
    pub(crate) texts: Vec<String>,
    /// Say yes
    #[arg(long, group = "given")]
    pub(crate) yes: bool,
    /// Say no
    #[arg(long, group = "given")]
    pub(crate) no: bool,
    /// Give a file of at most 700 KiB
    #[arg(long, value_name = "FILE", group = "given")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
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
    /// Make a user and print a link that signs them in once
    Add {
        #[arg(value_name = "NAME")]
        name: String,
        /// Let them manage users too
        #[arg(long)]
        admin: bool,
    },
    /// Print everybody with their role
    List,
    /// Sign somebody out everywhere and keep them out
    Disable {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Let somebody in again who was disabled
    Enable {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Decide how much somebody may use; what is not given is left to the settings
    Limit {
        #[arg(value_name = "NAME")]
        name: String,
        /// Sessions that may be awake at a time
        #[arg(long, value_name = "N")]
        awake: Option<u32>,
        /// Sessions that may be made in 24 hours
        #[arg(long, value_name = "N")]
        per_day: Option<u32>,
        /// Seconds that a session stays awake when nobody needs it
        #[arg(long, value_name = "SECONDS")]
        idle: Option<u32>,
        /// Seconds that one desktop may live
        #[arg(long, value_name = "SECONDS")]
        life: Option<u32>,
        /// US dollars that all their sessions may cost in a day; 0 is as much as it takes
        #[arg(long, value_name = "USD")]
        day_usd: Option<f64>,
        /// Tokens that all their sessions may use in a day; 0 is as many as it takes
        #[arg(long, value_name = "N")]
        day_tokens: Option<u64>,
    },
    /// Print a new link that signs somebody in once
    Link {
        #[arg(value_name = "NAME")]
        name: String,
    },
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
    /// Make a token and print it
    New {
        /// What it is for
        #[arg(value_name = "NAME")]
        name: String,
        /// read, write (sessions too), admin (tokens and users too) or metrics (nothing else)
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        #[arg(value_parser = parse_scope)]
        scope: Scope,
        /// Days until it ends [default: never]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
    },
    /// Print what is known of your tokens
    List,
    /// End a token at once
    Revoke {
        /// Its name or how it begins
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
    /// Store a secret; its value is asked for, or read from standard input
    Set {
        #[arg(value_name = "NAME")]
        name: String,
        #[arg(long = "origin", value_name = "ORIGIN", required = true)]
        #[arg(
            help = "Where it may be typed, such as https://example.com; may be given several times"
        )]
        origins: Vec<String>,
    },
    /// Print your secrets without their values
    List,
    /// Remove a secret
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
    },
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
    /// Model to use, such as scripted/demo; `deskhand models` lists them
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// US dollars it may cost before it asks for more; 0 is as much as it takes
    #[arg(long, value_name = "USD")]
    pub(crate) budget_usd: Option<f64>,
    /// Tokens it may use before it asks for more; 0 is as many as it takes
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
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
pub(crate) struct ModelsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Model that is told it [default: the one of new sessions]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What a session adds
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
