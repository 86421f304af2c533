//! Arguments of `deskhand run`.

use std::path::PathBuf;

use clap::Args;
use deskhand_core::{
    computer::ComputerKind, model::Effort, network::policy::NetworkPolicy,
    tool_server::spec::McpServerSpec,
};

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "The answer goes to standard output, the steps to standard error. \
                        Exits with 0 when the agent is done, 1 when it failed, 130 on Ctrl-C."
)]
pub(crate) struct RunArgs {
    /// Task for the agent
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Model to use, such as scripted/demo; `deskhand models` lists them
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Effort that the model puts into thinking: low, medium or high
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<Effort>,
    /// Kind of computer: desktop, or browser for one without a screen, which is lighter
    #[arg(long, value_name = "KIND", default_value = "desktop")]
    pub(crate) computer: ComputerKind,
    /// US dollars it may cost before the agent asks for more; 0 means no limit
    #[arg(long, value_name = "USD")]
    pub(crate) budget_usd: Option<f64>,
    /// Tokens it may use before the agent asks for more; 0 means no limit
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// Say yes by itself, up to N times, when the agent asks to go on beyond a budget, its steps or its time, or in circles
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) yes_to_budgets: u32,
    /// Hosts that programs may contact: open, closed, or allow=HOST,HOST such as allow=pypi.org,*.example.com:443
    #[arg(long, value_name = "NETWORK", value_parser = crate::network::parse_policy)]
    pub(crate) network: Option<NetworkPolicy>,
    /// File to attach to the task; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// MCP server whose tools the agent may use: NAME=URL or NAME=COMMAND, can be repeated
    #[arg(long, value_name = "NAME=SERVER", value_parser = crate::run::parse_mcp_server)]
    pub(crate) mcp: Vec<McpServerSpec>,
    /// Keep the session afterwards and print its address
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print every event as one line of JSON instead of steps and answer
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
