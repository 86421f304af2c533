//! Arguments of `deskhand eval`.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "SUITE is a file in YAML, or builtin:desktop for 20 tasks that need no network. The table goes to \
                  standard output, progress to standard error. Exits with 0 when every trial has a result, whatever \
                  the results are, 1 when it was stopped or could not begin, 130 on Ctrl-C, which stops it."
)]
pub(crate) struct EvalArgs {
    /// Suite of tasks: a file, or builtin:NAME
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// Model to measure; can be repeated [default: the model of new sessions]
    #[arg(long = "model", value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// Also measure scripted/oracle, which plays the `oracle` of each task: every checker should pass it
    #[arg(long)]
    pub(crate) oracle: bool,
    /// Also measure scripted/fool, which plays the `fool` of each task: every checker should fail it
    #[arg(long)]
    pub(crate) fool: bool,
    /// Task to run; can be repeated [default: all tasks of the suite]
    #[arg(long = "task", value_name = "NAME")]
    pub(crate) tasks: Vec<String>,
    /// Times that each model gets each task
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) runs: u64,
    /// Trials at the same time; fewer run while your limits allow fewer sessions [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<u64>,
    /// US dollars that it may cost; what does not begin because of it is listed as skipped
    #[arg(long, value_name = "USD")]
    pub(crate) budget: Option<f64>,
    /// Only read the suite, and list its tasks or its first mistake
    #[arg(long, conflicts_with_all = ["models", "oracle", "fool", "parallel", "budget", "json"])]
    pub(crate) check: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvalPagesArgs {
    /// Port on 127.0.0.1 to show the pages at
    #[arg(long)]
    pub(crate) port: u16,
    /// Folder of the pages
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// File that forms are added to
    #[arg(long, value_name = "FILE")]
    pub(crate) submissions: PathBuf,
}
